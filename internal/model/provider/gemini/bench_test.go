package gemini_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"chela"
	"chela/internal/model/provider/gemini"
	"chela/internal/model/provider/providertest"
)

// A sink answers every request at once with an answer without words.
type sink struct{ sent int64 }

func (s *sink) RoundTrip(r *http.Request) (*http.Response, error) {
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		return nil, err
	}
	s.sent = n
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader("data: " + over + "\n\n")),
	}, nil
}

// talk returns a conversation of n messages as sessions have them: in every
// eight, three questions and answers, and a call with its result.
func talk(n int) []chela.Message {
	text := strings.Repeat("It said \"so\" — and went on.\n", 8)
	var messages []chela.Message
	for i := 0; len(messages) < n; i++ {
		id := chela.CallID(fmt.Sprintf("call_%d", i))
		for range 3 {
			messages = append(messages, chela.Message{Role: chela.RoleUser, Text: text}, chela.Message{Role: chela.RoleAssistant, Text: text})
		}
		messages[len(messages)-1] = chela.Message{
			Role:     chela.RoleAssistant,
			Thinking: []chela.Thinking{{Signature: "gemini-3.8-flash 0 " + strings.Repeat("s", 200), Provider: "gemini"}},
			Calls:    []chela.CallSpec{{ID: id, Ref: string(id), Tool: "file_read", Args: json.RawMessage(`{"path":"notes/today.md","from":1,"to":200}`)}},
		}
		messages = append(messages,
			chela.Message{Role: chela.RoleTool, Call: id, Ref: string(id), Tool: "file_read", Text: text},
			chela.Message{Role: chela.RoleAssistant, Text: text})
	}
	return messages[:n]
}

func tools(n int) []chela.ToolSpec {
	list := make([]chela.ToolSpec, n)
	for i := range list {
		list[i] = chela.ToolSpec{
			Name:        fmt.Sprintf("tool_%d", i),
			Description: strings.Repeat("Says what the tool does. ", 12),
			Input:       json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"which file"},"from":{"type":"integer","minimum":1}},"required":["path"],"additionalProperties":false}`),
		}
	}
	return list
}

// BenchmarkRequest sends a conversation with 20 tools to a transport that only
// reads it.
func BenchmarkRequest(b *testing.B) {
	for _, n := range []int{2, 50, 1400} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := &sink{}
			p, err := gemini.New(gemini.Config{BaseURL: "http://127.0.0.1:1", HTTPClient: &http.Client{Transport: s}})
			if err != nil {
				b.Fatal(err)
			}
			req := &chela.Request{Model: "gemini-3.8-flash", System: "You are terse.", Messages: talk(n), Tools: tools(20), Session: "agent:main:main"}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := providertest.Ask(b, p, req); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(s.sent), "bytes/request")
		})
	}
}

// BenchmarkStream decodes an answer of 1,000 pieces of text.
func BenchmarkStream(b *testing.B) {
	data := make([]string, 1000, 1001)
	for i := range data {
		data[i] = word
	}
	p := reach(b, providertest.Stream(append(data, over)...))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := providertest.Ask(b, p, hello()); err != nil {
			b.Fatal(err)
		}
	}
}
