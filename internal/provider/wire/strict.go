package wire

import "strings"

// The largest schemas that are strict. Servers allow more, but each of them
// something else.
const (
	maxStrictDepth = 5
	maxStrictNames = 100
)

// Strict reports whether a server that offers to hold a model to a schema takes
// this one: an object whose members are all required and which allows no
// others, all the way down, and that says of values only of what type they are
// or which there are. Every known server takes these schemas; see
// https://platform.openai.com/docs/guides/structured-outputs and
// https://platform.claude.com/docs/en/build-with-claude/structured-outputs.
func Strict(schema []byte) bool {
	v, ok := Object(schema)
	if !ok {
		return false
	}
	s := strictness{names: maxStrictNames}
	return typeOf(v) == "object" && s.fits(v, maxStrictDepth)
}

// strictness is how much a schema may still have.
type strictness struct{ names int }

// typeOf returns the type that a schema names; of several, as they are written.
func typeOf(schema Value) string {
	for name, v := range schema.Members() {
		if name == "type" {
			return v.Text()
		}
	}
	return ""
}

// fits reports whether a schema is strict and at most so many levels deep.
func (s *strictness) fits(schema Value, levels int) bool {
	if levels == 0 || !schema.IsObject() {
		return false
	}
	var properties, required, items Value
	told, closed := false, false
	for name, v := range schema.Members() {
		switch name {
		case "description", "title":
		case "type", "enum", "const":
			told = true
		case "additionalProperties":
			closed = string(v) == "false"
		case "properties":
			properties = v
		case "required":
			required = v
		case "items":
			items = v
		case "anyOf":
			told = true
			for choice := range v.Items() {
				if !s.fits(choice, levels-1) {
					return false
				}
			}
		default:
			return false
		}
	}
	switch kind := typeOf(schema); {
	case kind == "object":
		return closed && items == nil && s.membersFit(properties, required, levels)
	case kind == "array":
		return properties == nil && s.fits(items, levels-1)
	case strings.Contains(kind, "object"), strings.Contains(kind, "array"):
		return false // one of several types
	default:
		return told && properties == nil && items == nil
	}
}

// membersFit reports whether all members of an object are strict and required.
func (s *strictness) membersFit(properties, required Value, levels int) bool {
	missing := map[string]bool{}
	for name, v := range properties.Members() {
		s.names--
		if s.names < 0 || strings.ContainsRune(name, '\\') || !s.fits(v, levels-1) {
			return false
		}
		missing[name] = true
	}
	for name := range required.Items() {
		if !missing[name.Text()] {
			return false
		}
		delete(missing, name.Text())
	}
	return len(missing) == 0
}
