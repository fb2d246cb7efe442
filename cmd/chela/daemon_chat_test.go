package main_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"chela/internal/api"
)

// chatted is what came of a request for a chat completion.
type chatted struct {
	status     int
	text       string
	retryAfter string
	err        error // of the connection
}

// chat asks in the main session as clients of OpenAI do.
func (d *daemon) chat(text, id string) chatted {
	return d.chatIn(context.Background(), string(mainKey), text, id)
}

// chatIn asks in a session.
func (d *daemon) chatIn(ctx context.Context, key, text, id string) chatted {
	r := d.request(ctx, http.MethodPost, "/v1/chat/completions", map[string]any{
		"model": "chela", "messages": []any{map[string]any{"role": "user", "content": text}},
	})
	r.Header.Set(api.SessionHeader, key)
	r.Header.Set(api.MessageIDHeader, id)
	res, err := d.client.Do(r)
	if err != nil {
		return chatted{err: err}
	}
	defer res.Body.Close()
	out := chatted{status: res.StatusCode, retryAfter: res.Header.Get("Retry-After")}
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		out.err = err
		return out
	}
	var body struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if out.err = json.Unmarshal(raw, &body); out.err == nil && len(body.Choices) == 1 {
		out.text = body.Choices[0].Message.Content
	}
	return out
}
