package anthropic_test

import (
	"testing"

	"chela/internal/model/provider/providertest"
)

// BenchmarkStream decodes an answer of 1,000 pieces of text.
func BenchmarkStream(b *testing.B) {
	deltas := make([]string, 1000)
	for i := range deltas {
		deltas[i] = `{"type":"text_delta","text":" word"}`
	}
	p := reach(b, events(append(append([]string{begin}, block("0", `{"type":"text","text":""}`, deltas...)...), end, over)...))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := providertest.Ask(b, p, hello()); err != nil {
			b.Fatal(err)
		}
	}
}
