package openai_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"chela"
	"chela/internal/model/provider/providertest"
)

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
