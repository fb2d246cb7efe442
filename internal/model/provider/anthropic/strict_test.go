package anthropic_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"chela"
	"chela/internal/model/provider/providertest"
)

// TestStrict offers tools that a model can be held to, and others, to models
// that can be held and to others.
func TestStrict(t *testing.T) {
	t.Parallel()
	object := func(property string) string {
		return `{"type":"object","properties":{"a":` + property + `},"required":["a"],"additionalProperties":false}`
	}
	schemas := []string{object(`{"type":"string"}`), `{"type":"object","properties":{"a":{"type":"string"}}}`, object(`{"type": ["string","null"]}`), object(`{"anyOf":[{"type":"string"}]}`)}
	for model, want := range map[string]int{
		"claude-opus-4-1": 0, "claude-3-7-sonnet-latest": 0, "claude-sonnet-4-20250514": 0, "glm-5": 0,
		"claude-sonnet-4-5": 1, "claude-haiku-4-5-20251001": 1, "claude-opus-5-5": 1, "claude-fable-5": 1,
	} {
		req := hello()
		req.Model = model
		for i, schema := range schemas {
			req.Tools = append(req.Tools, chela.ToolSpec{Name: fmt.Sprint("t", i), Input: json.RawMessage(schema)})
		}
		c := events(begin, end, over)
		if _, err := providertest.Ask(t, reach(t, c), req); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(c.Sent, `"strict":true`); got != want {
			t.Errorf("%s: %d strict tools, want %d in %s", model, got, want, c.Sent)
		}
	}
}

// TestManyStrictTools offers more tools than the server takes as strict.
func TestManyStrictTools(t *testing.T) {
	t.Parallel()
	c := providertest.NewCase("many tools", providertest.Answer{Text: []string{"ok"}})
	req := hello()
	for i := range 30 {
		req.Tools = append(req.Tools, chela.ToolSpec{Name: fmt.Sprint("t", i), Input: json.RawMessage(`{"type":"object","additionalProperties":false}`)})
	}
	if _, err := providertest.Ask(t, serve(t, c), req); err != nil {
		t.Fatal(err)
	}
}
