package schema

import "regexp"

// A Schema describes a JSON value. The zero Schema allows any.
type Schema struct {
	Name string // of the component of the document; empty for a schema written in place
	Type Type   // empty for any value

	Min, Max *int64   // characters, items, or the value, by the type
	Step     int64    // a number is a multiple of it; 0 for any
	Pattern  string   // of a string
	Format   string   // of a string
	Enum     []string // the values that a string may have
	Nullable bool     // a response may hold null here

	Items      *Schema    // of an array
	Properties []Property // of an object
	Values     *Schema    // schema of the properties without a name here; nil refuses them
	Switch     string     // the property that decides which others exist
	List       bool       // a parameter holds several values, separated by commas; Items describes them

	pattern func() *regexp.Regexp // Pattern, compiled on first use; nil if there is none
}

// Type is a type of JSON.
type Type string

// The types.
const (
	Object  Type = "object"
	Array   Type = "array"
	String  Type = "string"
	Integer Type = "integer"
	Number  Type = "number"
	Boolean Type = "boolean"
)

// A Property is a named member of an object.
type Property struct {
	Name     string
	Schema   *Schema
	Required bool

	For, Need []string // the values of the switch for which it exists, and is required; empty For is all
	Without   []string // the properties that it excludes
	Else      string   // the property that is required without it
	With      string   // the property that must accompany it
}

// Property returns the property of a name.
func (s *Schema) Property(name string) (Property, bool) {
	for _, p := range s.Properties {
		if p.Name == name {
			return p, true
		}
	}
	return Property{}, false
}

// Exists reports whether a property exists beside a value of the switch.
func (p Property) Exists(value string) bool {
	return len(p.For) == 0 && len(p.Need) == 0 || contains(p.For, value) || contains(p.Need, value)
}

func contains(list []string, value string) bool {
	for _, v := range list {
		if v == value {
			return true
		}
	}
	return false
}
