package gateway_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"chela/internal/api"
	"chela/internal/surface/gateway"
)

// TestOpenAI checks what the gateway adds to the protocol, which has tests of its
// own: who asks, and that refusals have the form that its clients read.
func TestOpenAI(t *testing.T) {
	t.Parallel()
	d := run(t, func(c *gateway.Config) { c.MessagesPerMinute = 1 })
	chat := `{"model":"chela","messages":[{"role":"user","content":"hi"}]}`
	if a := d.do(t, call{path: "/v1/models", secret: readSecret}); a.status != http.StatusOK || !strings.Contains(a.body, "offline/offline") {
		t.Errorf("models: %d %s", a.status, a.body)
	}
	if a := d.do(t, call{path: "/v1/models/offline/offline", secret: readSecret}); a.status != http.StatusOK {
		t.Errorf("model: %d %s", a.status, a.body)
	}
	if a := d.do(t, call{path: "/v1/chat/completions", secret: chatSecret, body: chat}); a.status != http.StatusOK || !strings.Contains(a.body, "you said hi") {
		t.Errorf("chat: %d %s", a.status, a.body)
	}
	if in := d.inbound[0]; in.Origin.Account != "tok_chat" || !in.Origin.Owner || in.Origin.Channel != api.Channel {
		t.Errorf("origin is %+v", in.Origin)
	}
	for name, tt := range map[string]struct {
		c      call
		status int
	}{
		"too many":    {call{path: "/v1/chat/completions", secret: chatSecret, body: chat}, http.StatusTooManyRequests},
		"no token":    {call{path: "/v1/chat/completions", body: chat}, http.StatusUnauthorized},
		"wrong token": {call{path: "/v1/responses", secret: "wrong", body: chat}, http.StatusUnauthorized},
		"narrow":      {call{path: "/v1/chat/completions", secret: readSecret, body: chat}, http.StatusForbidden},
		"too large":   {call{path: "/v1/embeddings", secret: adminSecret, body: strings.Repeat("a", api.MaxEmbedding+1)}, http.StatusRequestEntityTooLarge},
		"embeddings":  {call{path: "/v1/embeddings", secret: talkSecret, body: `{"model":"chela","input":"hi"}`}, http.StatusNotImplemented},
		"no model":    {call{path: "/v1/models/nobody", secret: chatSecret}, http.StatusNotFound},
	} {
		a := d.do(t, tt.c)
		var body struct {
			Error struct{ Message, Type, Code string }
		}
		if err := json.Unmarshal([]byte(a.body), &body); err != nil || a.status != tt.status || body.Error.Message == "" || body.Error.Type == "" {
			t.Errorf("%s: %d %s (%v)", name, a.status, a.body, err)
		}
		if retry := a.header.Get("Retry-After"); (retry != "") != (tt.status == http.StatusTooManyRequests) {
			t.Errorf("%s: Retry-After is %q", name, retry)
		}
	}
}
