package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"chela/internal/platform/nearest"

	"chela/internal/platform/excerpt"
)

// maxProblems is how many problems of one call are reported.
const maxProblems = 20

// problems validates v and returns the violations, one line each: the location,
// the expected and the actual value.
func (s *schema) problems(v any) []string {
	err := s.compiled.Validate(v)
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return []string{err.Error()}
	}
	found := s.collect(invalid, v)
	slices.Sort(found)
	found = slices.Compact(found)
	if more := len(found) - maxProblems; more > 0 {
		found = append(found[:maxProblems], fmt.Sprintf("and %d more", more))
	}
	return found
}

// collect returns the lines of e and everything under it.
func (s *schema) collect(e *jsonschema.ValidationError, root any) []string {
	var under []string
	for _, cause := range e.Causes {
		under = append(under, s.collect(cause, root)...)
	}
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		where := place(e.InstanceLocation)
		if len(under) == 0 {
			return []string{where + ": fits more than one of the forms allowed"}
		}
		return []string{where + ": fits none of the forms allowed (" + strings.Join(under, "; or ") + ")"}
	}
	if len(e.Causes) > 0 {
		return under
	}
	return s.lines(e, root)
}

// lines describes one violated rule.
func (s *schema) lines(e *jsonschema.ValidationError, root any) []string {
	each := func(names []string, line func(name string) string) (lines []string) {
		for _, name := range names {
			lines = append(lines, place(append(slices.Clone(e.InstanceLocation), name))+line(name))
		}
		return lines
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		return each(k.Missing, func(name string) string { return ": missing, but required" + s.about(e.InstanceLocation, name) })
	case *kind.AdditionalProperties:
		return each(k.Properties, func(name string) string { return ": no such parameter" + s.instead(e.InstanceLocation, name) })
	default:
		return []string{place(e.InstanceLocation) + ": " + expected(e) + ", got " + show(lookUp(root, e.InstanceLocation))}
	}
}

// expected describes the rule of e in words.
func expected(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return "expected " + strings.Join(k.Want, " or ")
	case *kind.Enum:
		want := make([]string, len(k.Want))
		for i, v := range k.Want {
			want[i] = show(v)
		}
		return "expected one of " + strings.Join(want, ", ")
	case *kind.Const:
		return "expected " + show(k.Want)
	case *kind.Minimum:
		return "expected at least " + decimal(k.Want)
	case *kind.Maximum:
		return "expected at most " + decimal(k.Want)
	case *kind.ExclusiveMinimum:
		return "expected more than " + decimal(k.Want)
	case *kind.ExclusiveMaximum:
		return "expected less than " + decimal(k.Want)
	case *kind.MinLength:
		return fmt.Sprintf("expected at least %d characters", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("expected at most %d characters", k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("expected at least %d items", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("expected at most %d items", k.Want)
	case *kind.Pattern:
		return "expected text that matches " + k.Want
	default:
		return "wrong: " + e.ErrorKind.LocalizedString(message.NewPrinter(language.English))
	}
}

// about returns the description of a missing parameter.
func (s *schema) about(location []string, name string) string {
	properties, _ := s.at(location)["properties"].(map[string]any)
	property, _ := properties[name].(map[string]any)
	text, _ := property["description"].(string)
	if text == "" {
		return ""
	}
	return " (" + excerpt.Marked(text, 120) + ")"
}

// instead lists the parameters to use in place of an unknown one.
func (s *schema) instead(location []string, name string) string {
	properties, _ := s.at(location)["properties"].(map[string]any)
	if len(properties) == 0 {
		return "; there are none"
	}
	names := slices.Sorted(maps.Keys(properties))
	var meant string
	if near := nearest.Names(name, names, 1); len(near) > 0 {
		meant = "; did you mean " + near[0] + "?"
	}
	return meant + "; there are " + strings.Join(names, ", ")
}

// at returns the part of the document that describes the value at location.
func (s *schema) at(location []string) map[string]any {
	c := coercer{root: s.doc}
	part := c.resolve(s.doc)
	for _, step := range location {
		properties, _ := part["properties"].(map[string]any)
		next, ok := properties[step].(map[string]any)
		if !ok {
			next, _ = part["items"].(map[string]any)
		}
		part = c.resolve(next)
	}
	return part
}

// place writes a location as a model would: edits[0].line.
func place(location []string) string {
	if len(location) == 0 {
		return "arguments"
	}
	var b strings.Builder
	for i, step := range location {
		if _, err := strconv.Atoi(step); err == nil && i > 0 {
			b.WriteString("[" + step + "]")
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(excerpt.Marked(strings.ToValidUTF8(step, "\uFFFD"), 80))
	}
	return b.String()
}

// lookUp returns the value at location in root.
func lookUp(root any, location []string) any {
	for _, step := range location {
		switch v := root.(type) {
		case map[string]any:
			root = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			root = v[i]
		}
	}
	return root
}

// show writes a value with its type, shortened.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return quote(v)
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	case json.Number:
		return excerpt.Marked(v.String(), 60)
	default:
		return fmt.Sprint(v)
	}
}

// quote writes text in quotes, shortened.
func quote(text string) string { return strconv.Quote(excerpt.Marked(text, 60)) }

// decimal writes a bound, which schemas give as a decimal fraction.
func decimal(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}
