// Package field defines the kinds of values that a setting may have: how each
// is parsed, validated and shown, and the messages for invalid ones.
package field

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"chela"
	"chela/internal/config/tomlfile"
	"chela/internal/platform/excerpt"
)

// A Field is a setting's storage with its parser and validation.
type Field struct {
	Want   string                // the expected form, for messages
	Secret bool                  // the given value is not repeated in messages
	Put    func(v any) error     // stores a decoded TOML value; ErrUnwanted for an invalid one
	Read   func(text string) any // converts a word of the environment to its TOML value; nil means a string
	Show   func() string         // the value in the notation of config.toml
}

// ErrUnwanted means that a value does not have the type the field expects.
var ErrUnwanted = errors.New("unwanted")

// Value converts a word of the environment, a flag or a command to its TOML
// value.
func (f Field) Value(text string) any {
	if f.Read == nil {
		return text
	}
	return f.Read(text)
}

// Refusal explains why Put refused the value at a place: it is Invalid, or of
// the kind of err if that is a *chela.Error.
func (f Field) Refusal(place string, given any, err error) error {
	if known, ok := errors.AsType[*chela.Error](err); ok {
		return chela.E(known.Kind, place+": "+known.Msg).WithHint(known.Hint)
	}
	shown := "that"
	switch v := given.(type) {
	case string:
		shown = tomlfile.Quote(Cut(v))
	case int64, bool, tomlfile.Decimal:
		shown = fmt.Sprint(v)
	}
	if f.Secret {
		shown = "what was given"
	}
	return chela.E(chela.Invalid, place+" cannot be "+shown).WithHint("write " + f.Want)
}

// Number is a field for an integer from low to high.
func Number(at *int, low, high int) Field {
	return Field{
		Want: fmt.Sprintf("a whole number from %d to %d", low, high),
		Put: func(v any) error {
			n, ok := v.(int64)
			if !ok || n < int64(low) || n > int64(high) {
				return ErrUnwanted
			}
			*at = int(n)
			return nil
		},
		Read: Integer,
		Show: func() string { return strconv.Itoa(*at) },
	}
}

// Integer is a Read that converts whole numbers.
func Integer(text string) any { return parsed(parseInt)(text) }

func parseInt(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }

// parsed returns a Read that parses a word, if it can.
func parsed[T any](parse func(string) (T, error)) func(string) any {
	return func(s string) any {
		if v, err := parse(s); err == nil {
			return v
		}
		return s
	}
}

// dollars is a field for an amount in dollars up to a maximum, such as 10 or
// 0.075. It is read exactly, without a float in between.
func dollars(at *chela.MicroUSD, high chela.MicroUSD) Field {
	return Field{
		Want: fmt.Sprintf("an amount in dollars from 0 to %s, with at most six digits behind the point", plain(high)),
		Put: func(v any) error {
			switch v.(type) {
			case int64, tomlfile.Decimal:
			default:
				return ErrUnwanted
			}
			m, err := chela.ParseUSD(fmt.Sprint(v))
			if err != nil || m > high {
				return ErrUnwanted
			}
			*at = m
			return nil
		},
		Read: func(s string) any {
			if n, err := parseInt(s); err == nil {
				return n
			}
			if _, err := chela.ParseUSD(s); err == nil {
				return tomlfile.Decimal(s)
			}
			return s
		},
		Show: func() string { return plain(*at) },
	}
}

// price is dollars for an amount that is nil while it is not set.
func price(at **chela.MicroUSD, high chela.MicroUSD) Field {
	var m chela.MicroUSD
	f := dollars(&m, high).Then(func() { *at = &m })
	f.Show = func() string {
		if *at == nil {
			return ""
		}
		return plain(**at)
	}
	return f
}

// Then returns the field with a step after each value that it has stored.
func (f Field) Then(step func()) Field {
	put := f.Put
	f.Put = func(v any) error {
		err := put(v)
		if err == nil {
			step()
		}
		return err
	}
	return f
}

// plain formats an amount without sign and trailing zeros: 10, 0.075.
func plain(m chela.MicroUSD) string {
	return strings.TrimSuffix(strings.TrimPrefix(m.String(), "$"), ".00")
}

// Switch is a field for true or false.
func Switch(at *bool) Field {
	return Field{
		Want: "true or false",
		Put: func(v any) error {
			on, ok := v.(bool)
			if !ok {
				return ErrUnwanted
			}
			*at = on
			return nil
		},
		Read: parsed(strconv.ParseBool),
		Show: func() string { return strconv.FormatBool(*at) },
	}
}

// span is a field for a duration from low to high.
func span(at *time.Duration, low, high time.Duration) Field {
	return Field{
		Want: fmt.Sprintf("a time such as %q, from %s to %s", "90s", short(low), short(high)),
		Put: func(v any) error {
			s, _ := v.(string)
			d, err := time.ParseDuration(s)
			if err != nil || d < low || d > high {
				return ErrUnwanted
			}
			*at = d
			return nil
		},
		Show: func() string { return short(*at) },
	}
}

// short formats a duration without its zero parts: 30m instead of 30m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Choice is a field for a fixed set of words.
func Choice[S ~string](at *S, words []S) Field {
	return choice(reflect.ValueOf(at).Elem(), Texts(words), nil)
}

// Texts converts words to plain strings.
func Texts[S ~string](words []S) []string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = string(w)
	}
	return texts
}

// choice is Choice for any type of words. The words of later are recognized, but
// unsupported by this version.
func choice(at reflect.Value, words, later []string) Field {
	list := strings.Join(words, ", ")
	return Field{
		Want: "one of " + list,
		Put: func(v any) error {
			s, ok := v.(string)
			switch {
			case ok && slices.Contains(words, s):
				at.SetString(s)
				return nil
			case ok && slices.Contains(later, s):
				return chela.Ef(chela.Unsupported, "%q is not supported by this version", s).
					WithHint("use one of " + list)
			default:
				return ErrUnwanted
			}
		},
		Show: at.String,
	}
}

// Text is a field for text that valid accepts.
func Text(at *string, want string, valid func(string) bool) Field {
	return Field{
		Want: want,
		Put: func(v any) error {
			s, ok := v.(string)
			if !ok || !printable(s) || !valid(s) {
				return ErrUnwanted
			}
			*at = s
			return nil
		},
		Show: func() string { return *at },
	}
}

// printable reports whether s is short, valid UTF-8 and free of control
// characters except line breaks and tabs.
func printable(s string) bool {
	return len(s) <= 10_000 && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t'
	})
}

// Model is a field for a model as provider/model.
func Model(at *string) Field { return Text(at, ModelForm.Want, ModelForm.Valid) }

// ModelForm is the form of a model.
var ModelForm = Form{Want: `provider/model, such as "openai/gpt-5"`, Valid: isModel}

func isModel(s string) bool {
	provider, name, ok := strings.Cut(s, "/")
	return ok && chela.ValidName(provider) && OneLine(name)
}

// AnyText accepts everything.
func AnyText(string) bool { return true }

// OneLine reports whether s is not empty and has one line.
func OneLine(s string) bool {
	return strings.TrimSpace(s) != "" && !strings.ContainsAny(s, "\n\t")
}

// List is a field for a list of words that valid accepts.
func List(at *[]string, want string, valid func(string) bool) Field {
	return Field{
		Want: want,
		Put: func(v any) error {
			items, ok := v.([]any)
			if !ok {
				return ErrUnwanted
			}
			words := make([]string, len(items))
			for i, item := range items {
				s, ok := item.(string)
				if !ok || !OneLine(s) || !printable(s) || !valid(s) {
					return ErrUnwanted
				}
				words[i] = s
			}
			*at = words
			return nil
		},
		Read: readList,
		Show: func() string {
			items := make([]any, len(*at))
			for i, s := range *at {
				items[i] = s
			}
			return tomlfile.Literal(items)
		},
	}
}

// readList reads a list in TOML notation, or words separated by commas.
func readList(s string) any {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "[") {
		f, err := tomlfile.Parse("", []byte("v = "+s))
		if err != nil || len(f.Nodes) == 0 {
			return s
		}
		return f.Nodes[0].Value
	}
	items := []any{}
	for word := range strings.SplitSeq(s, ",") {
		if word = strings.TrimSpace(word); word != "" {
			items = append(items, word)
		}
	}
	return items
}

// Cut shortens user input to fit into a message.
func Cut(s string) string { return excerpt.Runes(s, 40) }
