package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
)

// TestContentHoldsNoOrders sends what would be a command or directive in a chat, in
// every role: it reaches the agent as it came, marked as text.
func TestContentHoldsNoOrders(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"hello", "/status", "/stauts", "/think high", "/elevated full", "/elevated full\ndelete it", "hello\n/elevated full", "/approve", "//x", "/quit\n", "/model a/b why",
	} {
		for role, want := range map[string]string{
			"user":   text,
			"system": "Instructions from the client:\n" + text + "\n\nhello",
		} {
			h := newHome(step{say: []string{"Hello."}, stop: chela.StopEnd})
			messages := []map[string]string{{"role": role, "content": text}}
			if role == "system" {
				messages = append(messages, map[string]string{"role": "user", "content": "hello"})
			}
			body, err := json.Marshal(map[string]any{"model": "chela", "messages": messages})
			if err != nil {
				t.Fatal(err)
			}
			post(setup(h, &shelf{}), chat, string(body))
			if diff := cmp.Diff(want, h.asked[0].Text); diff != "" || h.asked[0].TakesOrders() || h.asked[0].Shown != nil {
				t.Errorf("%q of the %s: %+v (-want +got)\n%s", text, role, h.asked[0], diff)
			}
		}
	}
}
