package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"chela"
	"chela/internal/model/provider/openai"
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
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader("data: [DONE]\n\n")),
	}, nil
}

// talk returns a conversation of n messages as sessions have them: in every
// eight, three questions and answers, and a call with its result.
func talk(n int) []chela.Message {
	text := strings.Repeat("It said \"so\" — and went on.\n", 8)
	var messages []chela.Message
	for i := 0; len(messages) < n; i++ {
		id := chela.CallID(fmt.Sprintf("call_%d", i))
		messages = append(messages,
			chela.Message{Role: chela.RoleUser, Text: text},
			chela.Message{Role: chela.RoleAssistant, Text: text},
			chela.Message{Role: chela.RoleUser, Text: text},
			chela.Message{Role: chela.RoleAssistant, Text: text},
			chela.Message{Role: chela.RoleUser, Text: text},
			chela.Message{Role: chela.RoleAssistant, Calls: []chela.CallSpec{
				{ID: id, Ref: string(id), Tool: "file_read", Args: json.RawMessage(`{"path":"notes/today.md","from":1,"to":200}`)},
			}},
			chela.Message{Role: chela.RoleTool, Call: id, Ref: string(id), Tool: "file_read", Text: text},
			chela.Message{Role: chela.RoleAssistant, Text: text},
		)
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
			p, err := openai.New(openai.Config{BaseURL: local, HTTPClient: &http.Client{Transport: s}})
			if err != nil {
				b.Fatal(err)
			}
			req := &chela.Request{Model: "m", System: "You are terse.", Messages: talk(n), Tools: tools(20), Session: "agent:main:main"}
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

const word = `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"m","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}`

// BenchmarkStream decodes an answer of 1,000 pieces of text.
func BenchmarkStream(b *testing.B) {
	data := make([]string, 1000, 1001)
	for i := range data {
		data[i] = word
	}
	p := reach(b, providertest.Stream(append(data, `[DONE]`)...), local)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := providertest.Ask(b, p, hello()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAnswer asks a server on this machine that answers in three pieces.
func BenchmarkAnswer(b *testing.B) {
	answer := providertest.Stream(word, word,
		`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}`,
		`[DONE]`).Body
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		if err != nil {
			b.Error(err)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for event := range strings.SplitAfterSeq(answer, "\n\n") {
			_, err = io.WriteString(w, event)
			if err == nil {
				err = http.NewResponseController(w).Flush()
			}
			if err != nil {
				b.Error(err)
			}
		}
	}))
	b.Cleanup(srv.Close)
	p, err := openai.New(openai.Config{BaseURL: srv.URL + "/v1", HTTPClient: srv.Client()})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := providertest.Ask(b, p, hello()); err != nil {
			b.Fatal(err)
		}
	}
}
