package tool_test

import (
	"testing"

	"chela/internal/tool"
)

func TestShown(t *testing.T) {
	t.Parallel()
	none, yes := "", true
	got := tool.Shown(struct {
		Name  string   `json:"name"`
		Text  string   `json:"text,omitempty"`
		List  []string `json:"list,omitempty"`
		N     int      `json:"n,omitempty"`
		Empty string   `json:"empty,omitempty"`
		Model *string  `json:"model,omitempty"`
		On    *bool    `json:"on,omitempty"`
		Off   *bool    `json:"off,omitempty"`
	}{Name: "x", Text: "two\nlines", List: []string{"a", "b"}, N: 3, Model: &none, On: &yes}, "name")
	if want := "\ntext: two\n  lines\nlist: \n1. a\n2. b\nn: 3\nmodel: \"\"\non: true"; got != want {
		t.Errorf("shown as %q, want %q", got, want)
	}
}
