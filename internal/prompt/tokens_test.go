package prompt_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"chela"
	"chela/internal/prompt"
)

// The numbers of texts are those of the reference implementation.
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
		{strings.Repeat("a", 400), 50},
		{"漢字", 2},
	} {
		if got := prompt.Count(c.text); got != c.want {
			t.Errorf("%.20q has %d tokens, want %d", c.text, got, c.want)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		body chela.Body
		want int
	}{
		{"empty", chela.Body{}, 6},
		{"text", chela.Body{Text: "hello world"}, 8},
		{"a picture", chela.Body{Attachments: make([]chela.Attachment, 1)}, 806},
		{"thinking", chela.Body{Thinking: []chela.Thinking{{Text: "hello world"}}}, 8},
		{"a call", chela.Body{Calls: []chela.CallSpec{{Tool: "look", Args: []byte(`{"a":12}`)}}}, 6 + 10 + 1 + 5},
		{"a call that is not JSON", chela.Body{Calls: []chela.CallSpec{{Tool: "look", Raw: "hello world"}}}, 6 + 10 + 1 + 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := prompt.Tokens(c.body); got != c.want {
				t.Errorf("%d tokens, want %d", got, c.want)
			}
		})
	}
}

// A token is a byte at least.
func TestTokensAreBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		if n := prompt.Count(text); n > len(text) {
			t.Errorf("%q has %d tokens", text, n)
		}
	})
}

func BenchmarkCount(b *testing.B) {
	for name, text := range map[string]string{
		"question": "what time is it in Tokyo?",
		"page":     strings.Repeat("The quick brown fox jumps over the lazy dog. ", 1000),
		"one word": strings.Repeat("a", 50_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				prompt.Count(text)
			}
		})
	}
}
