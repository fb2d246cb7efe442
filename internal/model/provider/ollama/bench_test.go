package ollama_test

import (
	"strings"
	"testing"

	"chela/internal/model/provider/ollama"
	"chela/internal/model/provider/providertest"
)

// BenchmarkStream decodes an answer of 1,000 pieces of text.
func BenchmarkStream(b *testing.B) {
	piece := `{"model":"m:1","created_at":"2026-11-01T10:00:00.123456Z","message":{"role":"assistant","content":" word"},"done":false}` + "\n"
	p := reach(b, talking("llama", 8192, all, strings.Repeat(piece, 1000)+over), ollama.Config{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := providertest.Ask(b, p, hello()); err != nil {
			b.Fatal(err)
		}
	}
}
