package tooltest

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// A generator makes values that fit a schema of the kind that tool.New makes.
type generator struct {
	rand *rand.Rand
}

// strange are the texts a tool must bear; most are no path, URL or number.
var strange = []string{
	"", "a", "a.txt", "dir/b.txt", "/workspace/a.txt", "..", "../../etc/passwd", "/etc/passwd", "/", ".", "//", "./a", "a/../b",
	"\x00", "a\x00b", "ünïcödé", "\u202ecba", "\U0001F600", "%2e%2e/", "~", "C:\\x", "con", "[", "**/*", "(", "*a", "\n", "a\nb", " ",
	"{}", "[1]", "null", "1/0", "http://", "://", "http://[::1", "http://localhost:1/", "file:///etc/passwd", "--- a\n+++ b\n@@\n-a\n+b\n",
	strings.Repeat("x", 300), strings.Repeat("a/", 300), "-", "0",
}

func (g generator) object(schema map[string]any) map[string]any {
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	made := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !slices.Contains(required, any(name)) && g.rand.IntN(2) == 0 {
			continue
		}
		property, _ := properties[name].(map[string]any)
		made[name] = g.value(property)
	}
	return made
}

func (g generator) value(schema map[string]any) any {
	if enum, ok := schema["enum"].([]any); ok {
		return enum[g.rand.IntN(len(enum))]
	}
	switch schema["type"] {
	case "string":
		return g.text()
	case "boolean":
		return g.rand.IntN(2) == 0
	case "integer", "number":
		return g.number(schema)
	case "array":
		items, _ := schema["items"].(map[string]any)
		list := []any{}
		for range g.rand.IntN(4) {
			list = append(list, g.value(items))
		}
		return list
	case "object":
		made := g.object(schema)
		if others, ok := schema["additionalProperties"].(map[string]any); ok {
			made[g.text()] = g.value(others)
		}
		return made
	default:
		return g.anything()
	}
}

func (g generator) text() string { return strange[g.rand.IntN(len(strange))] }

// number returns a bound of the schema or something small between.
func (g generator) number(schema map[string]any) float64 {
	low, _ := schema["minimum"].(float64)
	high, ok := schema["maximum"].(float64)
	if !ok {
		high = 1e6
	}
	switch g.rand.IntN(3) {
	case 0:
		return low
	case 1:
		return high
	default:
		return min(max(float64(g.rand.IntN(20)), low), high)
	}
}

func (g generator) anything() any {
	choices := []any{
		nil,
		true,
		1.5,
		g.text(),
		[]any{1.0, "x"},
		map[string]any{"a": map[string]any{"b": []any{g.text()}}, "type": "object"},
	}
	return choices[g.rand.IntN(len(choices))]
}
