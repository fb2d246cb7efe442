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

// A writer writes the value of a keyword, or reports false to leave it out.
type writer func(j *wire.JSON, v wire.Value) bool

// keywords maps the supported keywords to the keyword to write instead, unless
// the schema has that already, and the form of its value.
func keywords(name string) (as string, write writer) {
	switch name {
	case "type", "format", "title", "description", "required", "propertyOrdering", "$id", "$anchor", "minItems", "maxItems", "minimum", "maximum":
		return name, appendAsIs
	case "exclusiveMinimum":
		return "minimum", appendNumber
	case "exclusiveMaximum":
		return "maximum", appendNumber
	case "enum":
		return name, appendChoices
	case "const":
		return "enum", appendChoice
	case "properties", "$defs":
		return name, appendSchemas
	case "definitions":
		return "$defs", appendSchemas
	case "prefixItems", "anyOf", "oneOf":
		return name, appendList
	case "allOf": // equivalent with one schema, weaker with several
		return "anyOf", appendList
	case "items":
		return name, appendItems
	case "additionalProperties":
		return name, appendOthers
	case "$ref":
		return name, appendRef
	default:
		return "", nil
	}
}

// appendParameters appends the schema of a tool's arguments, always an object.
func appendParameters(j *wire.JSON, v wire.Value) {
	if v.Member("type") != nil {
		appendSchema(j, v)
		return
	}
	var rest wire.JSON
	appendSchema(&rest, v)
	j.Bytes(`{"type":"object",`, rest[1:len(rest)-1]).End("}")
}

// appendSchema appends a schema. A schema that is not an object allows
// anything; beside a reference only keywords that begin with "$" are allowed.
func appendSchema(j *wire.JSON, v wire.Value) {
	isRef := v.Member("$ref") != nil
	j.Raw("{")
	for keyword, value := range v.Members() {
		as, write := keywords(keyword)
		if as == "" || isRef && as[0] != '$' || as != keyword && v.Member(as) != nil {
			continue
		}
		before := len(*j)
		j.String("", as).Raw(":")
		if write(j, value) {
			j.Raw(",")
		} else {
			*j = (*j)[:before]
		}
	}
	j.End("}")
}

func appendAsIs(j *wire.JSON, v wire.Value) bool {
	j.Bytes("", v)
	return true
}

func isNumber(v wire.Value) bool { return v[0] == '-' || v[0] >= '0' && v[0] <= '9' }

// appendNumber leaves out the boolean form of older drafts.
func appendNumber(j *wire.JSON, v wire.Value) bool { return appendAsIs(j, v) && isNumber(v) }

// appendChoices appends the choices that are strings or numbers, if any.
func appendChoices(j *wire.JSON, v wire.Value) (found bool) {
	j.Raw("[")
	for choice := range v.Items() {
		if choice.IsString() || isNumber(choice) {
			j.Bytes("", choice).Raw(",")
			found = true
		}
	}
	j.End("]")
	return found
}

func appendChoice(j *wire.JSON, v wire.Value) bool {
	j.Bytes("[", v).Raw("]")
	return v.IsString() || isNumber(v)
}

func appendSchemas(j *wire.JSON, v wire.Value) bool {
	j.Raw("{")
	for name, schema := range v.Members() {
		j.Raw(`"`).Raw(name).Raw(`":`)
		appendSchema(j, schema)
		j.Raw(",")
	}
	j.End("}")
	return v.IsObject()
}

func appendList(j *wire.JSON, v wire.Value) (found bool) {
	j.Raw("[")
	for schema := range v.Items() {
		appendSchema(j, schema)
		j.Raw(",")
		found = true
	}
	j.End("]")
	return found
}

// appendItems leaves out the tuple form of older drafts.
func appendItems(j *wire.JSON, v wire.Value) bool {
	appendSchema(j, v)
	return v.IsObject()
}

func appendOthers(j *wire.JSON, v wire.Value) bool {
	return v.IsObject() && appendItems(j, v) || appendAsIs(j, v)
}

// appendRef appends a reference. Older drafts keep definitions under another
// keyword.
func appendRef(j *wire.JSON, v wire.Value) bool {
	j.Bytes("", bytes.Replace(v, []byte("#/definitions/"), []byte("#/$defs/"), 1))
	return v.IsString()
}
