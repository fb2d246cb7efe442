package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A model is a server of Chat Completions that answers what and when the test
// says.
type model struct {
	*httptest.Server
	asked chan question
}

// A question is a request that waits for its answer.
type question struct {
	body   string
	answer chan<- reply
}

// A reply is text, or the call of a tool.
type reply struct{ text, tool, args string }

func newModel(t *testing.T) *model {
	t.Helper()
	m := &model{asked: make(chan question)}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // whoever asked has gone
		}
		answer := make(chan reply, 1)
		select {
		case m.asked <- question{string(body), answer}:
		case <-r.Context().Done():
			return
		}
		select {
		case a := <-answer:
			a.write(t, w)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(m.Close)
	return m
}

// env makes chela use the model.
func (m *model) env() []string {
	return []string{"CHELA_MODEL=openai/any", "OPENAI_BASE_URL=" + m.URL + "/v1", "OPENAI_API_KEY=none"}
}

// next waits for the next question.
func (m *model) next(t *testing.T) question {
	t.Helper()
	select {
	case q := <-m.asked:
		return q
	case <-time.After(patience):
		t.Fatal("nobody asks the model")
		return question{}
	}
}

// write streams the reply.
func (a reply) write(t *testing.T, w http.ResponseWriter) {
	delta, finish := map[string]any{"role": "assistant", "content": a.text}, "stop"
	if a.tool != "" {
		call := map[string]any{"name": a.tool, "arguments": a.args}
		delta = map[string]any{"role": "assistant", "tool_calls": []any{
			map[string]any{"index": 0, "id": "call_1", "type": "function", "function": call},
		}}
		finish = "tool_calls"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, choice := range []map[string]any{
		{"index": 0, "delta": delta, "finish_reason": nil}, {"index": 0, "delta": map[string]any{}, "finish_reason": finish},
	} {
		raw, err := json.Marshal(map[string]any{"object": "chat.completion.chunk", "model": "any", "choices": []any{choice}})
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, "data: %s\n\n", raw)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}
