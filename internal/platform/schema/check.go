package schema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"chela"
)

// Check returns an Invalid error that names the place where a JSON text does not
// fit a schema. The text must be well-formed JSON.
func (s *Schema) Check(raw []byte) error {
	c := checker{raw: raw}
	c.space()
	return c.value(s, "")
}

// Text returns an Invalid error if the value of a parameter does not fit a
// schema. What names the parameter.
func (s *Schema) Text(what, value string) error {
	switch {
	case s.List:
		for part := range strings.SplitSeq(value, ",") {
			if err := s.Items.Text(what, part); err != nil {
				return err
			}
		}
		return nil
	case s.Type == Boolean:
		if value != "true" && value != "false" {
			return invalid("%s is %.40q, not true or false", what, value)
		}
		return nil
	case s.Type == Integer:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || strings.HasPrefix(value, "+") {
			return invalid("%s is %.40q, not a number from %d to %d", what, value, deref(s.Min, 0), deref(s.Max, 1<<53))
		}
		return s.bounds(what, n, value)
	default:
		return s.text(what, value)
	}
}

func invalid(format string, args ...any) *chela.Error {
	return chela.Ef(chela.Invalid, format, args...)
}

func deref(n *int64, otherwise int64) int64 {
	if n == nil {
		return otherwise
	}
	return *n
}

// bounds checks a number.
func (s *Schema) bounds(what string, n int64, said string) error {
	if s.Min != nil && n < *s.Min || s.Max != nil && n > *s.Max {
		return invalid("%s is %.40s, not a number from %d to %d", what, said, deref(s.Min, -1<<53), deref(s.Max, 1<<53))
	}
	if s.Step > 1 && n%s.Step != 0 {
		return invalid("%s is %.40s, not a multiple of %d", what, said, s.Step)
	}
	return nil
}

// text checks a string.
func (s *Schema) text(what, value string) error {
	if s.Enum != nil {
		if !slices.Contains(s.Enum, value) {
			return invalid("%s cannot be %.60q", what, value).WithHint("use " + Words(s.Enum))
		}
		return nil
	}
	if s.Max != nil && int64(len(value)) > *s.Max && int64(utf8.RuneCountInString(value)) > *s.Max {
		return invalid("%s has more than %d characters", what, *s.Max)
	}
	if s.Min != nil && int64(utf8.RuneCountInString(value)) < *s.Min {
		if value == "" {
			return chela.E(chela.Invalid, what+" is empty").WithHint("give it a value")
		}
		return invalid("%s has fewer than %d characters", what, *s.Min)
	}
	if s.pattern != nil && !s.pattern().MatchString(value) {
		return invalid("%s cannot be %.60q", what, value).WithHint(hintOf(s.Pattern))
	}
	return nil
}

// Words lists the values of an enum for people.
func Words(enum []string) string {
	said := slices.DeleteFunc(slices.Clone(enum), func(w string) bool { return w == "" })
	if len(said) < 2 {
		return strings.Join(said, "")
	}
	return strings.Join(said[:len(said)-1], ", ") + " or " + said[len(said)-1]
}

// hintOf describes the expected form of a value that does not match a pattern.
func hintOf(pattern string) string {
	for name, hint := range hints {
		if patterns[name] == pattern {
			return hint
		}
	}
	return "see /api/openapi.json for its form"
}

// A checker walks over well-formed JSON.
type checker struct {
	raw []byte
	at  int
}

func (c *checker) space() {
	for c.at < len(c.raw) && (c.raw[c.at] == ' ' || c.raw[c.at] == '\t' || c.raw[c.at] == '\r' || c.raw[c.at] == '\n') {
		c.at++
	}
}

// value checks the next value, and moves past it.
func (c *checker) value(s *Schema, path string) error {
	found := c.typeOf()
	if s.Type != "" && found != s.Type && !(s.Type == Number && found == Integer) {
		if found == "" && s.Nullable {
			c.skip()
			return nil
		}
		return mistyped(path, s.Type, found)
	}
	switch {
	case s.Type == Object:
		return c.object(s, path)
	case s.Type == Array:
		return c.array(s, path)
	case s.Type == String:
		said := c.skip()
		if s.Format != "" && s.Pattern == "" && s.Max == nil && s.Min == nil {
			return nil // decoding reports the error
		}
		var text string
		if err := unquote(said, &text); err != nil {
			return err
		}
		return s.text(field(path), text)
	case s.Type == Integer:
		said := string(c.skip())
		n, err := strconv.ParseInt(said, 10, 64)
		if err != nil {
			return invalid("%s is %.40s, which is too large", field(path), said)
		}
		return s.bounds(field(path), n, said)
	default:
		c.skip()
		return nil
	}
}

// unquote decodes a JSON string.
func unquote(said []byte, into *string) error {
	if bytes.IndexByte(said, '\\') < 0 {
		*into = string(said[1 : len(said)-1])
		return nil
	}
	return json.Unmarshal(said, into)
}

// field names a place for people.
func field(path string) string {
	if path == "" {
		return "the body"
	}
	return "field " + path
}

func mistyped(path string, want, found Type) error {
	article := "a JSON "
	if found == "" {
		article, found = "", "null"
	}
	hint := "send a JSON " + string(want)
	return invalid("%s cannot be %s%s", field(path), article, found).WithHint(hint)
}

// typeOf returns the type of the next value; empty for null. A number with a
// fraction or an exponent is not an integer.
func (c *checker) typeOf() Type {
	switch c.raw[c.at] {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't', 'f':
		return Boolean
	case 'n':
		return ""
	}
	end := c.at
	for end < len(c.raw) && strings.IndexByte("+-.eE0123456789", c.raw[end]) >= 0 {
		end++
	}
	if bytes.ContainsAny(c.raw[c.at:end], ".eE") {
		return Number
	}
	return Integer
}

// skip returns the next value and moves past it.
func (c *checker) skip() []byte {
	begin, depth := c.at, 0
	for c.at < len(c.raw) {
		switch b := c.raw[c.at]; b {
		case '"':
			c.quoted()
		case '{', '[':
			depth++
			c.at++
		case '}', ']':
			depth--
			c.at++
		case ' ', '\t', '\r', '\n', ',', ':':
			c.at++
			continue
		default:
			for c.at < len(c.raw) && strings.IndexByte(" \t\r\n,:]}", c.raw[c.at]) < 0 {
				c.at++
			}
		}
		if depth == 0 {
			break
		}
	}
	end := c.at
	c.space()
	return c.raw[begin:end]
}

// quoted moves past a string.
func (c *checker) quoted() {
	for c.at++; c.at < len(c.raw); {
		next := bytes.IndexAny(c.raw[c.at:], `"\`)
		c.at += next + 1
		if c.raw[c.at-1] == '"' {
			return
		}
		c.at++ // the escaped character
	}
}

func (c *checker) array(s *Schema, path string) error {
	c.at++
	c.space()
	count := int64(0)
	for ; c.raw[c.at] != ']'; count++ {
		if c.raw[c.at] == ',' {
			c.at++
			c.space()
		}
		if s.Max != nil && count >= *s.Max {
			return invalid("%s has more than %d items", field(path), *s.Max)
		}
		if err := c.value(s.Items, path+"["+strconv.FormatInt(count, 10)+"]"); err != nil {
			return err
		}
		c.space()
	}
	c.at++
	c.space()
	if s.Min != nil && count < *s.Min {
		return invalid("%s has fewer than %d items", field(path), *s.Min)
	}
	return nil
}

func (c *checker) object(s *Schema, path string) error {
	c.at++
	c.space()
	seen, chosen := make([]string, 0, 8), ""
	for c.raw[c.at] != '}' {
		if c.raw[c.at] == ',' {
			c.at++
			c.space()
		}
		var name string
		if err := unquote(c.skip(), &name); err != nil {
			return err
		}
		c.at++ // the colon
		c.space()
		below := name
		if path != "" {
			below = path + "." + name
		}
		if slices.Contains(seen, name) {
			return invalid("field %.80s occurs twice", below)
		}
		seen = append(seen, name)
		p, ok := s.Property(name)
		if !ok && s.Values == nil {
			return invalid("the body has an unknown field %.80q", below)
		}
		if !ok {
			p.Schema = s.Values
		}
		begin := c.at
		if err := c.value(p.Schema, below); err != nil {
			return err
		}
		if name == s.Switch && s.Switch != "" {
			if err := unquote(bytes.TrimSpace(c.raw[begin:c.at]), &chosen); err != nil {
				return err
			}
		}
		c.space()
	}
	c.at++
	c.space()
	return s.complete(path, seen, chosen)
}

// complete checks that the required properties are present, for a value of the
// switch.
func (s *Schema) complete(path string, seen []string, chosen string) error {
	if path != "" {
		path += "."
	}
	for _, p := range s.Properties {
		there := slices.Contains(seen, p.Name)
		switch {
		case there && s.Switch != "" && !p.Exists(chosen):
			return invalid("there is no field %s%s where %s%s is %q", path, p.Name, path, s.Switch, chosen).
				WithHint("leave it out, or choose another " + s.Switch)
		case there:
			for _, other := range p.Without {
				if slices.Contains(seen, other) {
					return invalid("the fields %s%s and %s%s exclude each other", path, p.Name, path, other).
						WithHint("leave out one of them")
				}
			}
			if p.With != "" && !slices.Contains(seen, p.With) {
				return invalid("field %s%s is missing", path, p.With)
			}
		case p.With != "" && slices.Contains(seen, p.With):
			return invalid("field %s%s is missing", path, p.Name)
		case p.Required || contains(p.Need, chosen) && s.Switch != "":
			return invalid("field %s%s is missing", path, p.Name)
		case p.Else != "" && !slices.Contains(seen, p.Else):
			return invalid("one of the fields %s%s and %s%s is missing", path, p.Else, path, p.Name)
		}
	}
	return nil
}
