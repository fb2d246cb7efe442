package openai_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"chela"
	"chela/internal/provider/openaiapi"
	"chela/internal/provider/providertest"
)

// TestSameAsSDK compares requests with what the official SDK makes of them.
// One provider is asked all the time, as the tools it remembers must not show.
func TestSameAsSDK(t *testing.T) {
	t.Parallel()
	for _, base := range []string{openaiapi.DefaultBaseURL, "https://mine.openai.azure.com/openai/v1", local} {
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			wire := &providertest.Canned{}
			p := reach(t, wire, base)
			rapid.Check(t, func(rt *rapid.T) {
				req := providertest.Requests().Draw(rt, "request")
				wire.Kind, wire.Body = "text/event-stream", "data: [DONE]\n\n"
				if req.Plain {
					wire.Kind, wire.Body = "application/json", `{"choices":[{"message":{"content":"ok"}}]}`
				}
				if _, err := providertest.Ask(t, p, req); err != nil {
					rt.Fatal(err)
				}
				want, got := providertest.Decoded(rt, sdkBody(t, req, base != local)), providertest.Decoded(rt, []byte(wire.Sent))
				if diff := cmp.Diff(want, got); diff != "" {
					rt.Errorf("(-SDK +sent)\n%s", diff)
				}
				if !utf8.ValidString(wire.Sent) {
					rt.Errorf("%q is no UTF-8", wire.Sent)
				}
			})
		})
	}
}

// TestSamePrefix shows that a step sends what the step before sent, and then
// more: prompt caches live on that.
func TestSamePrefix(t *testing.T) {
	t.Parallel()
	wire := providertest.Stream(`[DONE]`)
	p := reach(t, wire, local)
	rapid.Check(t, func(rt *rapid.T) {
		req := providertest.Requests().Draw(rt, "request")
		req.Plain = false
		said := rapid.IntRange(0, len(req.Messages)).Filter(func(n int) bool {
			return n == len(req.Messages) || req.Messages[n].Role == chela.RoleUser
		}).Draw(rt, "said")
		sent := make([]string, 2)
		for i, n := range []int{said, len(req.Messages)} {
			part := *req
			part.Messages = req.Messages[:n]
			if _, err := providertest.Ask(t, p, &part); err != nil {
				rt.Fatal(err)
			}
			sent[i] = strings.TrimSuffix(wire.Sent, "]}")
		}
		if !strings.HasPrefix(sent[1], sent[0]) {
			rt.Errorf("sent %s\nthen %s", sent[0], sent[1])
		}
	})
}
