package bedrock_test

import (
	"testing"

	"chela/internal/model/provider/bedrock"
	"chela/internal/model/provider/providertest"
)

// BenchmarkStream decodes an answer of 1,000 pieces of text.
func BenchmarkStream(b *testing.B) {
	var frames []providertest.Event
	for range 1000 {
		frames = append(frames, event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":" word"},"p":"abcdefghijkl"}`))
	}
	c := &canned{frames: append(frames, end, over)}
	c.freeze()
	p := reach(b, c, bedrock.Config{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := providertest.Ask(b, p, hello()); err != nil {
			b.Fatal(err)
		}
	}
}
