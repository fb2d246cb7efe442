package wire_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"chela"
	"chela/internal/model/provider/wire"
)

// TestToolbox writes tools more than once: what is remembered is written again
// only when something of it changed, and what changed is not mistaken.
func TestToolbox(t *testing.T) {
	t.Parallel()
	var box wire.Toolbox
	wrote := 0
	add := func(tools ...chela.ToolSpec) string {
		t.Helper()
		b, err := box.Append([]byte("["), tools, func(s chela.ToolSpec) ([]byte, error) {
			wrote++
			return fmt.Appendf(nil, "%s:%s:%s", s.Name, s.Description, s.Input), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	input := json.RawMessage(`{}`)
	a, b := chela.ToolSpec{Name: "a", Input: input}, chela.ToolSpec{Name: "b", Description: "d"}
	for range 2 {
		if got := add(a, b); got != "[a::{},b:d:" || wrote != 2 {
			t.Errorf("got %s after %d writes", got, wrote)
		}
	}
	input[0], b.Description = '[', "other"
	if got := add(a, b); got != "[a::[},b:other:" || wrote != 4 {
		t.Errorf("got %s after %d writes", got, wrote)
	}
	for i := range 1000 {
		add(chela.ToolSpec{Name: fmt.Sprint(i)})
	}
	failed := errors.New("no")
	if _, err := box.Append(nil, []chela.ToolSpec{{Name: "new"}}, func(chela.ToolSpec) ([]byte, error) { return nil, failed }); !errors.Is(err, failed) {
		t.Errorf("got %v, want the error of who writes", err)
	}
}
