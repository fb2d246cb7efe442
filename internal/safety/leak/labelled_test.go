package leak_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"chela/internal/safety/leak"
)

// alphabets of the placeholders in positive.tsv, which hold no secret that a
// scanner of repositories would report.
var alphabets = map[string]string{
	"A": alnum, "a": alnum[:52], "h": "0123456789abcdef", "d": "0123456789", "b": "abcdefghijklmnopqrstuvwxyz0123456789",
	"U": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "Z": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}

var placeholders = regexp.MustCompile(`\{([AahdbUZ])(\d+)\}`)

func filled(template string, seed uint64) string {
	text := strings.ReplaceAll(template, `\n`, "\n")
	return placeholders.ReplaceAllStringFunc(text, func(p string) string {
		m := placeholders.FindStringSubmatch(p)
		n, _ := strconv.Atoi(m[2])
		seed++
		return random(seed, n, alphabets[m[1]])
	})
}

func rows(t *testing.T, name string) (all [][2]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		kind, rest, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			t.Fatalf("%s: %q", name, line)
		}
		all = append(all, [2]string{kind, rest})
	}
	return all
}

// TestRecallAndPrecision holds the scanner against secrets of all kinds in
// positive.tsv, ten of each in different surroundings, and against lines of
// files that are full of random text and hold no secret, in negative.tsv: lock
// files, logs of git, code about credentials, minified code, images.
func TestRecallAndPrecision(t *testing.T) {
	t.Parallel()
	s := leak.New()
	surroundings := []string{"%", "value %\n", "`%`", "\"%\"", "key=%", "  %  ", "- %", "(%)", "\t%\r\n", "see: %, and go on"}
	found, all := 0, 0
	for i, row := range rows(t, "positive.tsv") {
		for j, around := range surroundings {
			text := strings.Replace(around, "%", filled(row[1], uint64(1000*i+10*j)), 1)
			all++
			if len(s.Find(text)) > 0 {
				found++
			} else {
				t.Logf("missed %s: %q", row[0], text)
			}
		}
	}
	wrong, none := 0, rows(t, "negative.tsv")
	for _, row := range none {
		if f := s.Find(row[1]); len(f) > 0 {
			wrong++
			t.Logf("wrong %s: %q in %q (%s)", row[0], row[1][f[0].Start:f[0].End], row[1], f[0].Rule)
		}
	}
	t.Logf("recall %d of %d, false positives %d of %d, precision %.4f", found, all, wrong, len(none), float64(found)/float64(found+wrong))
	if found*100 < all*99 || wrong*100 > len(none) || len(none) < 500 {
		t.Errorf("recall %d of %d, false positives %d of %d", found, all, wrong, len(none))
	}
}
