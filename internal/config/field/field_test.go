package field_test

import (
	"testing"
	"time"

	"chela"
	"chela/internal/config/field"
)

func TestFields(t *testing.T) {
	t.Parallel()
	var (
		n     int
		d     time.Duration
		word  string
		text  string
		words []string
		on    bool
	)
	number := field.Number(&n, 1, 9)
	span := field.Span(&d, time.Second, time.Hour)
	choice := field.Choice(&word, []string{"a", "b"}, "later")
	line := field.Text(&text, "a line", field.OneLine)
	list := field.List(&words, "a list", field.AnyText)
	lever := field.Switch(&on)
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
