package gemini

import (
	"bytes"

	"chela/internal/model/provider/wire"
)

// The server supports a part of JSON Schema, and rejects or ignores the rest;
// see responseJsonSchema in
// https://ai.google.dev/api/generate-content#GenerationConfig. Unsupported
// keywords are dropped or weakened, which is safe because the arguments of
// every call are validated against the complete schema before it runs.

// A rule describes how to write a keyword.
type rule struct {
	as    string // keyword to write instead, unless the schema has it already
	value func(b []byte, v wire.Value) ([]byte, bool)
}

// rules returns the rule of a supported keyword.
func rules(keyword string) (rule, bool) {
	switch keyword {
	case "type", "format", "title", "description", "required", "propertyOrdering", "$id", "$anchor", "minItems", "maxItems", "minimum", "maximum":
		return rule{keyword, appendAsIs}, true
	case "exclusiveMinimum":
		return rule{"minimum", appendNumber}, true
	case "exclusiveMaximum":
		return rule{"maximum", appendNumber}, true
	case "enum":
		return rule{"enum", appendChoices}, true
	case "const":
		return rule{"enum", appendChoice}, true
	case "properties", "$defs":
		return rule{keyword, appendSchemas}, true
	case "definitions":
		return rule{"$defs", appendSchemas}, true
	case "prefixItems", "anyOf", "oneOf":
		return rule{keyword, appendList}, true
	case "allOf": // equivalent with one schema, weaker with several
		return rule{"anyOf", appendList}, true
	case "items":
		return rule{"items", appendItems}, true
	case "additionalProperties":
		return rule{keyword, appendOthers}, true
	case "$ref":
		return rule{keyword, appendRef}, true
	default:
		return rule{}, false
	}
}

// appendParameters appends the schema of a tool's arguments, always an object.
func appendParameters(b []byte, v wire.Value) []byte {
	if _, typed := member(v, "type"); typed {
		return appendSchema(b, v)
	}
	at := len(b)
	b = appendSchema(b, v)
	if len(b) > at+len("{}") {
		return append(append(b[:at:at], `{"type":"object",`...), b[at+1:]...)
	}
	return append(b[:at], `{"type":"object"}`...)
}

// appendSchema appends a schema. A schema that is not an object allows
// anything; beside a reference only keywords that begin with "$" are allowed.
func appendSchema(b []byte, v wire.Value) []byte {
	_, isRef := member(v, "$ref")
	b = append(b, '{')
	begin := len(b)
	for keyword, value := range v.Members() {
		r, ok := rules(keyword)
		if !ok || isRef && r.as[0] != '$' {
			continue
		}
		if _, twice := member(v, r.as); twice && r.as != keyword {
			continue
		}
		before := len(b)
		if before > begin {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), r.as...), `":`...)
		if b, ok = r.value(b, value); !ok {
			b = b[:before]
		}
	}
	return append(b, '}')
}

// member returns a member of an object.
func member(v wire.Value, name string) (wire.Value, bool) {
	for key, value := range v.Members() {
		if key == name {
			return value, true
		}
	}
	return nil, false
}

func appendAsIs(b []byte, v wire.Value) ([]byte, bool) { return append(b, v...), true }

func isNumber(v wire.Value) bool { return v[0] == '-' || v[0] >= '0' && v[0] <= '9' }

// appendNumber leaves out the boolean form of older drafts.
func appendNumber(b []byte, v wire.Value) ([]byte, bool) { return append(b, v...), isNumber(v) }

// appendChoices appends the choices that are strings or numbers, if any.
func appendChoices(b []byte, v wire.Value) ([]byte, bool) {
	b = append(b, '[')
	n := 0
	for choice := range v.Items() {
		if !choice.IsString() && !isNumber(choice) {
			continue
		}
		if n++; n > 1 {
			b = append(b, ',')
		}
		b = append(b, choice...)
	}
	return append(b, ']'), n > 0
}

func appendChoice(b []byte, v wire.Value) ([]byte, bool) {
	return append(append(append(b, '['), v...), ']'), v.IsString() || isNumber(v)
}

func appendSchemas(b []byte, v wire.Value) ([]byte, bool) {
	b = append(b, '{')
	n := 0
	for name, schema := range v.Members() {
		if n++; n > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), name...), `":`...)
		b = appendSchema(b, schema)
	}
	return append(b, '}'), v.IsObject()
}

func appendList(b []byte, v wire.Value) ([]byte, bool) {
	b = append(b, '[')
	n := 0
	for schema := range v.Items() {
		if n++; n > 1 {
			b = append(b, ',')
		}
		b = appendSchema(b, schema)
	}
	return append(b, ']'), n > 0
}

// appendItems leaves out the tuple form of older drafts.
func appendItems(b []byte, v wire.Value) ([]byte, bool) {
	return appendSchema(b, v), v.IsObject()
}

func appendOthers(b []byte, v wire.Value) ([]byte, bool) {
	if v.IsObject() {
		return appendSchema(b, v), true
	}
	return append(b, v...), true
}

// appendRef appends a reference. Older drafts keep definitions under another
// keyword.
func appendRef(b []byte, v wire.Value) ([]byte, bool) {
	return append(b, bytes.Replace(v, []byte("#/definitions/"), []byte("#/$defs/"), 1)...), v.IsString()
}
