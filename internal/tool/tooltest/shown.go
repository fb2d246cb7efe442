package tooltest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"chela"
)

// CheckShown sets every parameter of a tool, including ones added later, and
// fails unless the question to the approver shows all of them.
func CheckShown(t *testing.T, tool chela.Tool) {
	t.Helper()
	var schema object
	if err := json.Unmarshal(tool.Input, &schema); err != nil {
		t.Fatalf("%s: %v", tool.Name, err)
	}
	seen := map[string]string{}
	args := schema.given(seen)
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

// An object is the schema of one.
type object struct {
	Properties map[string]property
}

type property struct {
	object
	Type  any
	Enum  []string
	Items *object // of an array
}

// given returns an object that has all properties, and adds to seen what shows each.
func (o object) given(seen map[string]string) map[string]any {
	args := map[string]any{}
	for name, p := range o.Properties {
		value := "given-" + name + strings.Repeat("-long", 2000)
		if name == "url" {
			value = "https://given-url.example/path"
		}
		if len(p.Enum) > 0 {
			value = p.Enum[0]
		}
		switch kind := fmt.Sprint(p.Type); {
		case strings.Contains(kind, "string"):
			args[name], seen[name] = value, value
		case strings.Contains(kind, "array") && p.Items != nil && len(p.Items.Properties) > 0:
			args[name] = []any{p.Items.given(seen)}
		case strings.Contains(kind, "array"):
			args[name], seen[name] = []string{value}, value
		case strings.Contains(kind, "boolean"):
			args[name], seen[name] = true, name+": true"
		case strings.Contains(kind, "object") && len(p.Properties) > 0:
			args[name] = p.given(seen)
		case strings.Contains(kind, "object"):
			args[name], seen[name] = map[string]string{"Given-Name": value}, "Given-Name: "+value
		default:
			args[name], seen[name] = 7, "7"
		}
	}
	return args
}
