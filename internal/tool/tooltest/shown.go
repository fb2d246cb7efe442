package tooltest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"chela"
)

// CheckShown gives each parameter that a tool takes a value, and fails unless whoever
// is asked whether the call may be carried out sees all of them. A parameter that is
// added later is among them.
func CheckShown(t *testing.T, tool chela.Tool) {
	t.Helper()
	var schema struct {
		Properties map[string]struct {
			Type any
			Enum []string
		}
	}
	if err := json.Unmarshal(tool.Input, &schema); err != nil {
		t.Fatalf("%s: %v", tool.Name, err)
	}
	args, seen := map[string]any{}, map[string]string{}
	for name, p := range schema.Properties {
		value := "given-" + name
		if len(p.Enum) > 0 {
			value = p.Enum[0]
		}
		switch kind := fmt.Sprint(p.Type); {
		case strings.Contains(kind, "string"):
			args[name], seen[name] = value, value
		case strings.Contains(kind, "array"):
			args[name], seen[name] = []string{value}, value
		case strings.Contains(kind, "boolean"):
			args[name], seen[name] = true, name+": true"
		default:
			args[name], seen[name] = 7, name+": 7"
		}
	}
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	preview := tool.Judge(raw).Preview
	for name, value := range seen {
		if !strings.Contains(preview, value) {
			t.Errorf("%s does not show %s, which is %s:\n%s", tool.Name, name, value, preview)
		}
	}
}
