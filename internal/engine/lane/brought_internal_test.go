package lane

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
)

// TestAsStored: tools come in one form, whatever the spaces in their schemas, and
// one without a schema takes no arguments.
func TestAsStored(t *testing.T) {
	t.Parallel()
	schema := func(text string) []chela.ToolSpec {
		return []chela.ToolSpec{{Name: "a", Description: "A tool.", Input: json.RawMessage(text)}}
	}
	for sent, want := range map[string]string{
		"":                            `{"type":"object","properties":{}}`,
		`{}`:                          `{}`,
		"{ \"type\":\n\"object\" }\n": `{"type":"object"}`,
	} {
		if diff := cmp.Diff(schema(want), asStored(schema(sent))); diff != "" {
			t.Errorf("%q (-want +got)\n%s", sent, diff)
		}
	}
	if got := asStored(nil); got != nil {
		t.Errorf("no tools become %v", got)
	}
}

// TestRefusedHistorySaysWhy: the error names the message and what is wrong with it.
func TestRefusedHistorySaysWhy(t *testing.T) {
	t.Parallel()
	for want, wrong := range map[string]chela.Message{
		`message 2 of the history has the role "tool"`: {Role: chela.RoleTool, Text: "a"},
		"message 2 of the history has tool calls":      {Role: chela.RoleAssistant, Text: "a", Calls: []chela.CallSpec{{}}},
		"message 2 of the history is empty":            {Role: chela.RoleUser},
	} {
		in := message("hi")
		in.History = []chela.Message{{Role: chela.RoleUser, Text: "a"}, wrong}
		if err := CheckInbound(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
