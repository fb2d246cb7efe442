package openai_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"chela"
)

// nobody reads an answer.
type nobody struct{ header http.Header }

func (n nobody) Header() http.Header         { return n.header }
func (n nobody) Write(b []byte) (int, error) { return len(b), nil }
func (n nobody) WriteHeader(int)             {}
func (n nobody) Flush()                      {}

func BenchmarkRequests(b *testing.B) {
	pieces := make([]string, 200)
	for i := range pieces {
		pieces[i] = "word "
	}
	for _, c := range []struct {
		name, path, body string
	}{
		{"plain", chat, `{"model":"chela","messages":` + talk + `}`},
		{"response", responses, `{"model":"chela","input":"hi"}`},
		{"streamed in 200 pieces", chat, `{"model":"chela","stream":true,"messages":` + talk + `}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			h := newHome()
			routes := setup(h, &shelf{})
			b.ReportAllocs()
			for b.Loop() {
				h.script = append(h.script[:0], said(pieces...))
				clear(h.turns)
				h.asked = h.asked[:0]
				r := httptest.NewRequest(http.MethodPost, c.path, strings.NewReader(c.body))
				routes.ServeHTTP(nobody{http.Header{}}, r)
			}
		})
	}
}

// BenchmarkManyMessages takes 80,000 messages of one letter apart.
func BenchmarkManyMessages(b *testing.B) {
	items := strings.Repeat(`{"role":"user","content":"x"},`, 80_000) + `{"role":"user","content":"x"}`
	for name, c := range map[string]struct{ path, body string }{
		"chat":     {chat, `{"model":"local/small","messages":[` + items + `]}`},
		"response": {responses, `{"model":"local/small","input":[` + items + `]}`},
	} {
		b.Run(name, func(b *testing.B) {
			routes := setup(newHome(), small(chela.Finish{Text: "ok"}, nil))
			b.ReportAllocs()
			for b.Loop() {
				routes.ServeHTTP(nobody{http.Header{}}, httptest.NewRequest(http.MethodPost, c.path, strings.NewReader(c.body)))
			}
		})
	}
}
