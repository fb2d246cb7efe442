package schema_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"chela"
	"chela/internal/platform/schema"
)

// TestLimits tries values at the bounds of parameters, and those of each side of a
// pattern.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		check        string
		good, refuse []string
	}{
		{"max=100000", []string{"", strings.Repeat("x", 100_000), strings.Repeat("ä", 100_000), strings.Repeat("😀", 100_000)}, []string{strings.Repeat("x", 100_001), strings.Repeat("ä", 100_001), "a\x00"}},
		{"is=said max=300", []string{"x", " x ", strings.Repeat("x", 300)}, []string{"", " ", "\u2003", strings.Repeat("x", 301)}},
		{"is=session max=512", []string{"agent:main:main", "agent:main:dm:" + strings.Repeat("a", 498), "cron:daily", "agent:a:dm:%C3%A4"}, []string{"agent:main:dm:" + strings.Repeat("a", 499), "agent:main", "agent:a:dm:ä", ""}},
		{"is=document max=200", []string{"a.md", "a b/c.txt", strings.Repeat("a", 197) + ".md"}, []string{strings.Repeat("a", 198) + ".md", "a", ".md", "../a.md", "a/.b.md", "a\u200b/b.md"}},
		{"is=folder max=200", []string{"", "a", "a/b/", strings.Repeat("a", 200)}, []string{"/a", "a//b", ".a", strings.Repeat("a", 201)}},
		{"is=line min=1 max=1024", []string{"x", strings.Repeat("x", 1024)}, []string{"", "a\nb", strings.Repeat("x", 1025)}},
		{"is=printable max=252", []string{"x", "a b", strings.Repeat("x", 252)}, []string{"", " x", "x ", "ä", strings.Repeat("x", 253)}},
		{"is=lastseen", []string{"", "0.1.0"}, []string{"0.1", "a", " "}},
		{
			"is=since",
			[]string{"0d", "30d", "36500d", "2026-03-31", "2026-04-30", "2027-02-28", "2028-02-29", "2000-02-29", "1904-02-29"},
			[]string{"36501d", "99999d", "d", "-1d", "2026-04-31", "2026-13-01", "2026-00-01", "2027-02-29", "1900-02-29", "2100-02-29", "2026-02-30", "0999-01-01"},
		},
	} {
		s, err := schema.Parameter(schema.String, tt.check)
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range tt.good {
			if err := s.Text("it", value); err != nil {
				t.Errorf("%s refuses %.60q of %d bytes: %v", tt.check, value, len(value), err)
			}
		}
		for _, value := range tt.refuse {
			if err := s.Text("it", value); chela.KindOf(err) != chela.Invalid {
				t.Errorf("%s takes %.60q of %d bytes: %v", tt.check, value, len(value), err)
			}
		}
	}
}

// TestFieldsDependOnEachOther tries objects whose fields come together or exclude
// each other.
func TestFieldsDependOnEachOther(t *testing.T) {
	t.Parallel()
	type hours struct {
		Start string  `json:"start,omitempty" check:"is=clock with=end"`
		End   string  `json:"end,omitempty" check:"is=end"`
		Text  string  `json:"text,omitempty"`
		Files []int64 `json:"files,omitempty" check:"min=1 else=text"`
	}
	s, err := schema.NewSet(schema.Rules{}).Of(hours{})
	if err != nil {
		t.Fatal(err)
	}
	for body, fits := range map[string]bool{
		`{"text":""}`: true, `{"files":[1]}`: true, `{"files":[1],"text":""}`: true, `{}`: false, `{"files":[]}`: false,
		`{"text":"","start":"08:00","end":"24:00"}`: true, `{"text":"","start":"08:00"}`: false, `{"text":"","end":"24:00"}`: false,
		`{"files":[9007199254740992]}`: true, `{"files":[9007199254740993]}`: false, `{"files":[-9007199254740993]}`: false,
		`{"files":[99999999999999999999]}`: false, `{"files":[1.5]}`: false,
	} {
		if err := s.Check([]byte(body)); (err == nil) != fits {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// TestSessionKeys compares the pattern of session keys with the function that reads
// them: each escape of a byte, and of characters of each length.
func TestSessionKeys(t *testing.T) {
	t.Parallel()
	s, err := schema.Parameter(schema.String, "is=session max=512")
	if err != nil {
		t.Fatal(err)
	}
	compare := func(part string) {
		key := "cron:" + part
		_, err := chela.ParseSessionKey(chela.SessionKey(key))
		if fits := s.Text("it", key) == nil; fits != (err == nil) {
			t.Errorf("%q: the pattern says %v, the reader %v", key, fits, err)
		}
	}
	for b := range 256 {
		compare(string(rune(b)))
		compare(fmt.Sprintf("%%%02X", b))
		compare(fmt.Sprintf("%%%02x", b))
		compare(fmt.Sprintf("%%E0%%%02X%%80", b))
		compare(fmt.Sprintf("%%ED%%%02X%%80", b))
		compare(fmt.Sprintf("%%F0%%%02X%%80%%80", b))
		compare(fmt.Sprintf("%%F4%%%02X%%80%%80", b))
	}
	for r := rune(0x80); r <= utf8.MaxRune; r += 1 + r/200 {
		compare(url.PathEscape(string(r)))
	}
}
