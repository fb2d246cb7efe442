package api

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"chela"
)

// An Argument is a value of an input as a command line gives it: a positional
// argument or a flag.
//
// The wildcards of the path are positional. So is a field with the tag arg:"NAME",
// where arg:"[NAME]" may be missing and arg:"NAME..." takes all remaining words. A field
// of the query is a flag of its name, and a field of the body with the tag flag:"" or
// flag:"NAME" is one; the cursor and the limit of a page are flags only if they have that
// tag, and flag:"-" is none. The tag help describes either, and default has the value
// without it.
type Argument struct {
	Name       string // in capitals if it is positional
	Help       string
	Positional bool
	Optional   bool // a positional argument that may be missing
	Rest       bool // it takes all remaining words

	field field // its limits
	free  bool  // a text has none: it goes nowhere as it is, or is checked elsewhere
	list  bool  // commas separate the values of a slice
	value reflect.Value
}

// ArgumentsOf returns the arguments of the input that in points to, the positional ones
// in their order. They set its fields, which get their defaults at once.
func ArgumentsOf(in any) []Argument {
	return argumentsOf(reflect.ValueOf(in).Elem(), nil)
}

// argumentsOf appends the arguments that set the fields of a struct.
func argumentsOf(in reflect.Value, all []Argument) []Argument {
	for f, value := range in.Fields() {
		a := Argument{Help: f.Tag.Get("help"), field: field{check: f.Tag.Get("check"), typ: f.Type}, value: value}
		if _, each, ok := strings.Cut(a.field.check, "each "); ok {
			a.field.check = each
		}
		path, inPath := f.Tag.Lookup("path")
		query, inQuery := f.Tag.Lookup("query")
		position, positional := f.Tag.Lookup("arg")
		flag, flagged := f.Tag.Lookup("flag")
		body, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		query, _, _ = strings.Cut(query, ",")
		switch {
		case positional:
			a.position(position)
		case inPath:
			a.position(strings.ToUpper(path))
			a.free = f.Type == reflect.TypeFor[chela.SessionKey]() // [Request.Check] looks at it
		case flag == "-", inQuery && !flagged && (query == "after" || query == "limit" || query == waitName):
			continue
		case inQuery:
			a.Name, a.list = query, true
		case flagged:
			a.Name = strings.ReplaceAll(strings.TrimSuffix(body, "_ms"), "_", "-")
		default:
			if f.Type.Kind() == reflect.Struct && f.Type.NumField() > 0 && (f.Anonymous || f.Type.Field(0).IsExported()) {
				all = argumentsOf(value, all)
			}
			continue
		}
		if flag != "" {
			a.Name = flag
		}
		if !inPath && !inQuery && body == "" && a.field.check == "" { // of the command alone
			a.free = true
		}
		if a.field.name = query; query == "after" {
			a.Help = "only rows behind this one: " + a.Help
		}
		if given, ok := f.Tag.Lookup("default"); ok {
			parse(value, given)
		}
		all = append(all, a)
	}
	return all
}

// position makes a positional argument of the notation of a tag.
func (a *Argument) position(notation string) {
	a.Positional = true
	a.Name, a.Rest = strings.CutSuffix(notation, "...")
	if name, ok := strings.CutPrefix(a.Name, "["); ok {
		a.Name, a.Optional = strings.TrimSuffix(name, "]"), true
	}
}

// Usage returns how a positional argument stands in the usage of a command.
func (a Argument) Usage() string {
	if a.Optional || a.Rest {
		return "[" + a.Name + "]"
	}
	return a.Name
}

// String returns the value, and nothing for the zero value.
func (a Argument) String() string {
	if !a.value.IsValid() || a.value.IsZero() {
		return ""
	}
	return text(a.value)
}

// Switch reports whether the argument is set by its name alone.
func (a Argument) Switch() bool { return a.value.Kind() == reflect.Bool }

// Many reports whether the value is a list.
func (a Argument) Many() bool { return a.value.Kind() == reflect.Slice }

// Type returns what the value is, for help: string, int, bool, duration or strings.
func (a Argument) Type() string {
	t := a.value.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[chela.Span]():
		return "duration"
	case isNumber(t):
		return "int"
	case t.Kind() == reflect.Bool:
		return "bool"
	case t.Kind() == reflect.Slice:
		return "strings"
	}
	return "string"
}

// Set parses a value, and refuses one beyond the limits of the input. A slice grows by
// it.
func (a Argument) Set(given string) error {
	if a.Type() == "duration" {
		span, err := time.ParseDuration(given)
		if err != nil {
			return chela.E(chela.Invalid, fmt.Sprintf("%s is %.40q, not a duration", a.called(), given)).WithHint("write one such as 90s or 2h")
		}
		a.value.SetInt(int64(span))
		return nil
	}
	if err := a.check(given); err != nil {
		return err
	}
	if a.value.Kind() == reflect.Slice && !a.list {
		a.value.Set(reflect.Append(a.value, reflect.ValueOf(given).Convert(a.value.Type().Elem())))
		return nil
	}
	parse(a.value, given)
	return nil
}

// check refuses a value beyond the limits of the input.
func (a Argument) check(given string) error {
	if a.free && strings.HasPrefix(a.Type(), "string") {
		return nil
	}
	limits, err := a.field.parameter().Schema()
	if err != nil {
		return err
	}
	if limits.List && !a.list {
		limits = limits.Items
	}
	return limits.Text(a.called(), given)
}

// called is the argument in an error.
func (a Argument) called() string {
	if a.Positional {
		return a.Name
	}
	return "--" + a.Name
}
