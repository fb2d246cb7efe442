package tool

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Shown formats the input of a call for the person who is asked to approve it:
// a line for each parameter that is given, except the named ones, in the order
// of the fields. In is a struct with the tags of a [Def].
func Shown(in any, besides ...string) string {
	var b strings.Builder
	v := reflect.ValueOf(in)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if f := v.Field(i); !f.IsZero() && !slices.Contains(besides, name) {
			fmt.Fprintf(&b, "\n%s: %s", name, shown(f))
		}
	}
	return b.String()
}

// shown formats one value: text as it is, everything else as JSON.
func shown(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() == reflect.String && v.Len() > 0 {
		return strings.ReplaceAll(v.String(), "\n", "\n  ") // escaped, so that no line of it looks like another parameter
	}
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String {
		var lines strings.Builder
		for i := range v.Len() {
			fmt.Fprintf(&lines, "\n%d. %s", i+1, strings.ReplaceAll(v.Index(i).String(), "\n", "\n  "))
		}
		return lines.String()
	}
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return fmt.Sprint(v.Interface())
	}
	return string(text)
}
