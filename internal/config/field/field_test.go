package field_test

import (
	"reflect"
	"testing"
	"time"

	"chela"
	"chela/internal/config/field"
)

func TestFields(t *testing.T) {
	t.Parallel()
	var section struct {
		Number int           `key:"number" range:"1..9"`
		Span   time.Duration `key:"span" range:"1s..1h"`
		Choice string        `key:"choice" words:"a b" later:"later"`
		Line   string        `key:"line" is:"line"`
		List   []string      `key:"list" is:"any" want:"a list"`
		Switch bool          `key:"switch"`
	}
	keys := field.Keys(reflect.TypeOf(section), map[string]field.Form{
		"line": {Want: "a line", Valid: field.OneLine}, "any": {Valid: field.AnyText},
	})
	var fields []field.Field
	for _, k := range keys {
		fields = append(fields, k.In(&section))
	}
	number, span, choice, line, list, lever := fields[0], fields[1], fields[2], fields[3], fields[4], fields[5]
	tests := []struct {
		name  string
		f     field.Field
		given string // as in the environment
		want  string // as shown, or what is said of it
	}{
		{"number", number, "7", "7"},
		{"too large", number, "10", "x cannot be 10; write a whole number from 1 to 9"},
		{"no number", number, "many", `x cannot be "many"; write a whole number from 1 to 9`},
		{"time", span, "90s", "1m30s"},
		{"whole minutes", span, "1800s", "30m"},
		{"too long", span, "2h", `x cannot be "2h"; write a time such as "90s", from 1s to 1h`},
		{"word", choice, "b", "b"},
		{"no such word", choice, "c", `x cannot be "c"; write one of a, b`},
		{"word of a later version", choice, "later", `x: "later" is not supported by this version; use one of a, b`},
		{"text", line, "some text", "some text"},
		{"two lines", line, "a\nb", `x cannot be "a\nb"; write a line`},
		{"list", list, "a, b", `["a", "b"]`},
		{"list of TOML", list, `["a,b"]`, `["a,b"]`},
		{"switch", lever, "true", "true"},
		{"no switch", lever, "maybe", `x cannot be "maybe"; write true or false`},
		{"half a list", list, `["a"`, `x cannot be "[\"a\""; write a list`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			given := tt.f.Value(tt.given)
			err := tt.f.Put(given)
			got := tt.f.Show()
			if err != nil {
				got = chela.MessageOf(tt.f.Refusal("x", given, err))
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
