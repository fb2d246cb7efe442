package provider_test

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"

	"chela"
	"chela/internal/model/provider"
	"chela/internal/safety/leak"
)

// A catcher keeps the requests that it gets.
type catcher struct{ requests []*chela.Request }

// Stream implements chela.Provider.
func (c *catcher) Stream(_ context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	c.requests = append(c.requests, req)
	return func(func(chela.Chunk, error) bool) {}
}

// TestRedact sends no secret on, wherever in a request it is, and leaves the caller's
// request as it is.
func TestRedact(t *testing.T) {
	t.Parallel()
	secret := "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
	args := json.RawMessage(`{"a":"x\n` + secret + `"}`)
	req := &chela.Request{
		System: "Use " + secret,
		Messages: []chela.Message{
			{Role: chela.RoleUser, Text: "clean"},
			{Role: chela.RoleUser, Text: secret, Attachments: []chela.Attachment{{Name: "a", MediaType: "text/plain"}, {Name: "b", MediaType: "image/png"}}},
			{
				Role: chela.RoleAssistant, Thinking: []chela.Thinking{{Text: secret, Signature: "s"}, {Text: "kept", Signature: "t"}},
				Calls: []chela.CallSpec{{Tool: "clean", Args: json.RawMessage(`{}`)}, {Tool: "t", Args: args}, {Tool: "u", Raw: secret}},
			},
		},
		Tools: []chela.ToolSpec{{Name: "clean"}, {Name: "t", Description: secret}},
		Load:  func(context.Context, chela.Attachment) ([]byte, error) { return []byte(secret), nil },
	}
	c := &catcher{}
	for chunk, err := range provider.Redact(c, leak.NewRedactor()).Stream(t.Context(), req) {
		t.Errorf("a chunk of nothing: %+v, %v", chunk, err)
	}
	got := c.requests[0]
	sent, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(sent), secret) || strings.Count(string(sent), "[redacted:github-pat]") != 5 {
		t.Errorf("sent %s", sent)
	}
	if th := got.Messages[2].Thinking; len(th) != 1 || th[0].Signature != "t" {
		t.Errorf("thinking %+v", th)
	}
	for i, want := range []string{"[redacted:github-pat]", secret} { // an image is bytes
		if raw, err := got.Load(t.Context(), req.Messages[1].Attachments[i]); err != nil || string(raw) != want {
			t.Errorf("attachment %d is %q, %v", i, raw, err)
		}
	}
	if req.Messages[1].Text != secret || string(req.Messages[2].Calls[1].Args) != string(args) || req.Tools[1].Description != secret {
		t.Errorf("the caller's request was changed: %+v", req)
	}
	if p := chela.Provider(c); provider.Redact(p, nil) != p {
		t.Error("without a redactor there is a wrapper")
	}
}
