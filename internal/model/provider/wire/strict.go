package wire

import "strings"

// Limits of strict schemas. Servers allow more, but differ in their limits.
const (
	maxStrictDepth = 5
	maxStrictNames = 100
)

// Strict reports whether any server with strict schemas accepts this one: an
// object whose members are all required, without additional members,
// recursively, and whose values have only a type or an enumeration. See
// https://platform.openai.com/docs/guides/structured-outputs and
// https://platform.claude.com/docs/en/build-with-claude/structured-outputs.
func Strict(schema []byte) bool {
	v, ok := Object(schema)
	if !ok {
		return false
	}
	s := strictness{names: maxStrictNames}
	return v.Member("type").Text() == "object" && s.fits(v, maxStrictDepth)
}

// strictness tracks the remaining limits of a schema.
type strictness struct{ names int }

// fits reports whether a schema is strict and at most levels deep.
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
	switch kind := schema.Member("type").Text(); {
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
