package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"chela"
	"chela/internal/platform/lazyregexp"
)

// Rules are the limits of named types, wherever a field has them. Every field
// may be nil.
type Rules struct {
	Tags  map[reflect.Type]string // words of the tag check, before the field's own
	Names map[reflect.Type]string // names of schemas that differ from the names of their types
	Forms map[reflect.Type][]Form // the types that an interface type may hold
}

// A Form is a type that an interface field may hold, and the value of the
// switch that says so.
type Form struct {
	Value string
	Type  reflect.Type
}

// A Set makes schemas of Go types, one for each. It is not safe for concurrent
// use.
type Set struct {
	rules Rules
	known map[reflect.Type]*Schema
	names map[string]reflect.Type
}

// NewSet returns an empty set.
func NewSet(rules Rules) *Set {
	return &Set{rules: rules, known: map[reflect.Type]*Schema{}, names: map[string]reflect.Type{}}
}

// Of returns the schema of a value's type. A type without a schema, a malformed
// tag, and a second type of the same name are Internal errors.
func (s *Set) Of(value any) (*Schema, error) { return s.of(reflect.TypeOf(value)) }

// Parameter returns the schema of a parameter, given its type and the words of
// a tag check.
func Parameter(t Type, check string) (*Schema, error) {
	made := &Schema{Type: t}
	return made, new(Set).narrow(made, check)
}

func broken(t reflect.Type, format string, args ...any) error {
	return chela.E(chela.Internal, fmt.Sprintf("the schema of %v: ", t)+fmt.Sprintf(format, args...))
}

func (s *Set) of(t reflect.Type) (*Schema, error) {
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return &Schema{}, nil
	case reflect.TypeFor[time.Time]():
		return &Schema{Type: String, Format: "date-time"}, nil
	case reflect.TypeFor[[]byte]():
		return &Schema{Type: String, Format: "byte"}, nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.String:
		made := &Schema{Type: String}
		return made, s.narrow(made, s.rules.Tags[t])
	case reflect.Bool:
		return &Schema{Type: Boolean}, nil
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint32:
		made := &Schema{Type: Integer}
		return made, s.narrow(made, s.rules.Tags[t])
	case reflect.Float64:
		return &Schema{Type: Number}, nil
	case reflect.Slice:
		items, err := s.of(t.Elem())
		return &Schema{Type: Array, Items: items}, err
	case reflect.Map:
		values, err := s.of(t.Elem())
		return &Schema{Type: Object, Values: values}, err
	case reflect.Struct:
		return s.object(t)
	}
	return nil, broken(t, "it has no form in JSON")
}

// object returns the schema of a struct.
func (s *Set) object(t reflect.Type) (*Schema, error) {
	if known, ok := s.known[t]; ok {
		return known, nil
	}
	name := s.nameOf(t)
	if other, ok := s.names[name]; ok {
		return nil, broken(t, "%v has the name %s too", other, name)
	}
	made := &Schema{Name: name, Type: Object}
	s.known[t], s.names[name] = made, t
	for _, field := range reflect.VisibleFields(t) {
		if len(field.Index) > 1 && field.Name == "_" {
			continue
		}
		if err := s.add(made, field); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// nameOf returns the name of a type: the name of a page includes the type of
// its items.
func (s *Set) nameOf(t reflect.Type) string {
	if name, ok := s.rules.Names[t]; ok {
		return name
	}
	if strings.HasPrefix(t.Name(), "Page[") {
		items, _ := t.FieldByName("Items")
		return s.nameOf(items.Type.Elem()) + "Page"
	}
	return t.Name()
}

// add adds a field to an object.
func (s *Set) add(object *Schema, field reflect.StructField) error {
	check := field.Tag.Get("check")
	if field.Name == "_" {
		object.Switch = strings.TrimPrefix(check, "switch=")
		return nil
	}
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	if name == "-" || name == "" || !field.IsExported() {
		return nil
	}
	if forms := s.rules.Forms[field.Type]; forms != nil {
		return s.union(object, name, strings.TrimPrefix(check, "switch="), forms)
	}
	made, err := s.of(field.Type)
	if err != nil {
		return err
	}
	p := Property{Name: name, Schema: made, Required: !strings.Contains(options, "omit")}
	if made.Name == "" {
		if made.Type == Array && p.Required && check == "" && object.Name != "" && !strings.HasSuffix(object.Name, "Page") {
			made.Nullable = true // as a nil slice is
		}
		if err := s.narrow(made, check); err != nil {
			return fmt.Errorf("field %s: %w", field.Name, err)
		}
	}
	for word := range strings.FieldsSeq(check) {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "for":
			p.For = strings.Split(value, "|")
		case "need":
			p.Need = strings.Split(value, "|")
		case "without":
			p.Without = strings.Split(value, "|")
		case "else":
			p.Else = value
		case "with":
			p.With = value
		}
	}
	object.Properties = append(object.Properties, p)
	return nil
}

// union adds the switch of an interface field, and a property of its name for
// each type that it may hold.
func (s *Set) union(object *Schema, name, by string, forms []Form) error {
	kind := &Schema{Type: String}
	object.Switch = by
	object.Properties = append(object.Properties, Property{Name: by, Schema: kind, Required: true})
	for _, f := range forms {
		made, err := s.of(f.Type)
		if err != nil {
			return err
		}
		kind.Enum = append(kind.Enum, f.Value)
		object.Properties = append(object.Properties, Property{Name: name, Schema: made, Need: []string{f.Value}})
	}
	return nil
}

// narrow applies the words of a tag to a schema. Words about properties are left
// to the object.
func (s *Set) narrow(made *Schema, tag string) error {
	inner := made
	for word := range strings.FieldsSeq(tag) {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "each": // the words that follow are about the items
			inner = made.Items
		case "min", "max":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return broken(nil, "%s is no number", word)
			}
			if key == "min" {
				inner.Min = &n
			} else {
				inner.Max = &n
			}
		case "step":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n < 1 {
				return broken(nil, "%s is no step", word)
			}
			inner.Step = n
		case "is":
			pattern, ok := Pattern(value)
			if !ok {
				return broken(nil, "there is no pattern %s", value)
			}
			inner.Pattern = pattern
		case "id":
			inner.Pattern = `^` + value + `_[0-9a-z]{1,40}$`
		case "words":
			inner.Enum = strings.Split(value, "|")
		case "keys":
			for name := range strings.SplitSeq(value, "|") {
				inner.Properties = append(inner.Properties, Property{Name: name, Schema: inner.Values})
			}
			inner.Values = nil
		case "format":
			inner.Format = value
		case "object":
			inner.Type, inner.Values = Object, &Schema{}
		case "for", "need", "without", "else", "with":
		default:
			return broken(nil, "there is no word %q", word)
		}
	}
	inner.ready()
	return nil
}

// maxInteger is the default bound of integers: beyond it JSON readers that only
// know floating point numbers round.
const maxInteger = 1 << 53

// ready completes a schema after narrow.
func (s *Schema) ready() {
	if s.Type == Integer {
		least, most := int64(-maxInteger), int64(maxInteger)
		if s.Min == nil {
			s.Min = &least
		}
		if s.Max == nil {
			s.Max = &most
		}
	}
	if s.Type != String {
		return
	}
	if s.Pattern == "" && s.Enum == nil && s.Format == "" {
		s.Pattern = patterns["text"]
	}
	if s.Pattern == "" {
		return
	}
	s.pattern = lazyregexp.New(s.Pattern)
}
