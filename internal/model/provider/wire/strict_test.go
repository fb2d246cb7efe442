package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"chela/internal/model/provider/wire"
)

func TestStrict(t *testing.T) {
	t.Parallel()
	object := func(properties, required string) string {
		return `{"type":"object","properties":{` + properties + `},"required":[` + required + `],"additionalProperties":false}`
	}
	nested := `{"type":"string"}`
	for range 5 {
		nested = object(`"a":`+nested, `"a"`)
	}
	var many, names []string
	for i := range 101 {
		many = append(many, fmt.Sprintf(`"p%d":{"type":"string"}`, i))
		names = append(names, fmt.Sprintf(`"p%d"`, i))
	}
	tests := []struct {
		name   string
		schema string
		want   bool
	}{
		{"all required", object(`"a":{"type":"string","description":"d"},"b":{"type":["integer","null"]}`, `"b","a"`), true},
		{"no members", `{"type":"object","additionalProperties":false}`, true},
		{"blanks", "{ \"type\" : \"object\",\n\"additionalProperties\" : false }", true},
		{"list and choices", object(`"a":{"type":"array","items":{"enum":["x","y"]}},"b":{"anyOf":[{"type":"null"},{"const":1}]}`, `"a","b"`), true},
		{"inside", object(`"a":`+object(`"b":{"type":"boolean"}`, `"b"`), `"a"`), true},
		{"one may be missing", object(`"a":{"type":"string"},"b":{"type":"string"}`, `"a"`), false},
		{"one inside may be missing", object(`"a":`+object(`"b":{"type":"boolean"}`, ``), `"a"`), false},
		{"required and not there", object(``, `"a"`), false},
		{"others are allowed", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, false},
		{"others of a type are allowed", `{"type":"object","additionalProperties":{"type":"string"}}`, false},
		{"a length", object(`"a":{"type":"string","minLength":1}`, `"a"`), false},
		{"anything", object(`"a":{}`, `"a"`), false},
		{"anything in a list", object(`"a":{"type":"array","items":{}}`, `"a"`), false},
		{"a list of anything", object(`"a":{"type":"array"}`, `"a"`), false},
		{"an open object or null", object(`"a":{"type":["object","null"]}`, `"a"`), false},
		{"items of a text", object(`"a":{"type":"string","items":{"type":"string"}}`, `"a"`), false},
		{"a choice of anything", object(`"a":{"anyOf":[true]}`, `"a"`), false},
		{"a reference", object(`"a":{"$ref":"#/$defs/x"}`, `"a"`), false},
		{"members without the type", object(`"a":{"properties":{}}`, `"a"`), false},
		{"escaped name", object(`"\u0061":{"type":"string"}`, `"a"`), false},
		{"too deep", nested, false},
		{"too many", object(strings.Join(many, ","), strings.Join(names, ",")), false},
		{"not quite too many", object(strings.Join(many[1:], ","), strings.Join(names[1:], ",")), true},
		{"list", `{"type":"array","items":{"type":"string"}}`, false},
		{"no type", `{}`, false},
		{"null", `null`, false},
		{"no JSON", `{"type":"object",`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := wire.Strict([]byte(tt.schema)); got != tt.want {
				t.Errorf("got %v, want %v for %s", got, tt.want, tt.schema)
			}
		})
	}
}
