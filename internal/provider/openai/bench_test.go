package openai_test

import "testing"

// BenchmarkStream decodes an answer of 1,000 pieces of text.
func BenchmarkStream(b *testing.B) {
	data := make([]string, 1000, 1001)
	for i := range data {
		data[i] = `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"m","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}`
	}
	p := reach(b, events(append(data, `[DONE]`)...), local)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ask(b, p, hello()); err != nil {
			b.Fatal(err)
		}
	}
}
