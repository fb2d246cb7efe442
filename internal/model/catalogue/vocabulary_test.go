package catalogue_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"
	"pgregory.net/rapid"

	"chela/internal/model/catalogue"
)

func TestCount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want int
	}{
		{"", 0},
		{"hello world", 2},
		{"what time is it in Tokyo?", 7},
		{`{"path": "main.go", "limit": 20}`, 13},
		{"漢字", 2},
		{"\n\n  \n", 1},
		{"\x7f", 1},
		{strings.Repeat("a", 400), 50},
	} {
		if got := catalogue.CountTokens(c.text); got != c.want {
			t.Errorf("%.20q has %d tokens, want %d", c.text, got, c.want)
		}
	}
}

// words are what texts are drawn from: words, signs, other alphabets, marks,
// spaces of all kinds, and what is no text.
var words = []string{
	"hello", "World", "HTTP", "don't", "I'LL", "they've", "'s", "'ſ", "x", "ÄÖ", "ß", "ﬁ", "Ǆ", "ǅ", "ʰ", "a\u0301", "\u0301", "漢", "字かな",
	"한국", "अनु", "🙂", "👩‍👧", "1", "12345", "²", "Ⅷ", ".", "...", "//", "/\n", "->", "{\"", "'", " ", "  ", "\t", "\n", "\r\n", "\n\n  ", "\u00a0",
	"\u3000", "\u0085", "\u200b", "\ufeff", "\x00", "\x1f", "\xff", "\xc3", "\xe6\xbc", "_", "camelCase", "SNAKE_CASE", "#", "@", "€",
}

// unlike are places where the tokenizer that the table was built from is wrong:
// it takes DEL for nothing, and parts what its own expression joins, ends of
// lines with other space between them.
var unlike = regexp.MustCompile(`\x7f|[\r\n][\t\v\f\x{85}\p{Z}]+[\r\n]`)

// Every text has as many tokens as that tokenizer says.
func TestCountIsThatOfTheTokenizer(t *testing.T) {
	t.Parallel()
	reference := codec.NewO200kBase()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.Map(rapid.SliceOfN(rapid.SampledFrom(words), 0, 20), func(parts []string) string { return strings.Join(parts, "") }),
			rapid.String(),
		).Draw(t, "text")
		for unlike.MatchString(text) {
			text = unlike.ReplaceAllString(text, "")
		}
		if n := catalogue.CountTokens(text); n > len(text) {
			t.Errorf("%q of %d bytes has %d tokens", text, len(text), n)
		}
		text = strings.ToValidUTF8(text, "\uFFFD")
		want, err := reference.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := catalogue.CountTokens(text); got != want {
			t.Errorf("%q has %d tokens, want %d", text, got, want)
		}
	})
}

func TestCountOfFiles(t *testing.T) {
	t.Parallel()
	reference := codec.NewO200kBase()
	for _, path := range []string{"../../../ARCHITECTURE.md", "../../../go.sum", "../../../LICENSE", "vocabulary.go", "piece.go"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := reference.Count(string(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := catalogue.CountTokens(string(text)); got != want {
			t.Errorf("%s has %d tokens, want %d", path, got, want)
		}
	}
}

func BenchmarkCount(b *testing.B) {
	for name, text := range map[string]string{
		"question": "what time is it in Tokyo?",
		"page":     strings.Repeat("The quick brown fox jumps over the lazy dog. ", 1000),
		"one word": strings.Repeat("a", 50_000),
		"random":   strings.Repeat("QZXJVKWPQYZ", 5_000),
		"spaces":   strings.Repeat(" ", 50_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				catalogue.CountTokens(text)
			}
		})
	}
}
