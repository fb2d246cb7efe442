package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxExactInt is the largest integer that every JSON reader keeps exactly, 2⁵³.
// It bounds integers without a bound of their own.
const maxExactInt = 1 << 53

// schemaOf returns the JSON Schema of the struct In.
func schemaOf[In any]() (json.RawMessage, error) {
	s, err := jsonschema.For[In](nil)
	if err != nil {
		return nil, fmt.Errorf("infer: %w", err)
	}
	t := reflect.TypeFor[In]()
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("the input is a %s, not a struct", t.Kind())
	}
	if err := annotate(s, t); err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// annotate applies the tags of t to its schema s.
func annotate(s *jsonschema.Schema, t reflect.Type) error {
	notNull(s)
	switch t.Kind() {
	case reflect.Pointer:
		return annotate(s, t.Elem())
	case reflect.Slice, reflect.Array:
		return annotate(s.Items, t.Elem())
	case reflect.Map:
		return annotate(s.AdditionalProperties, t.Elem())
	case reflect.Struct:
		return annotateFields(s, t)
	default:
		if s.Type == "integer" && s.Minimum == nil && s.Maximum == nil {
			s.Minimum, s.Maximum = new(float64(-maxExactInt)), new(float64(maxExactInt))
		}
		return nil
	}
}

func annotateFields(s *jsonschema.Schema, t reflect.Type) error {
	if s.Properties == nil {
		// Without this an empty struct has no "properties", which some
		// providers refuse.
		s.Properties = map[string]*jsonschema.Schema{}
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := s.Properties[name]
		if p == nil {
			return fmt.Errorf("field %s has no property; give it a json tag", f.Name)
		}
		if p.Description == "" {
			return fmt.Errorf("field %s has no jsonschema tag", f.Name)
		}
		if err := annotate(p, f.Type); err != nil {
			return err
		}
		if err := applyTags(p, f.Tag); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	return nil
}

func applyTags(p *jsonschema.Schema, tag reflect.StructTag) error {
	if list, ok := tag.Lookup("enum"); ok {
		for v := range strings.SplitSeq(list, ",") {
			p.Enum = append(p.Enum, v)
		}
	}
	for key, bound := range map[string]**float64{"min": &p.Minimum, "max": &p.Maximum} {
		text, ok := tag.Lookup(key)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil:
			return fmt.Errorf("tag %s: %w", key, err)
		case p.Type != "integer" && p.Type != "number":
			return errors.New("min and max are for numbers")
		}
		*bound = &n
	}
	return nil
}

// notNull removes null from the types of s: an optional parameter is left out
// instead.
func notNull(s *jsonschema.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
}
