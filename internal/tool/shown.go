package tool

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Shown writes what the input of a call sets, for whoever is asked whether it may be
// carried out: a line for each parameter that is given, but for those named in besides,
// in the order of the fields. In is a struct with the tags of a [Def].
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

// shown writes a value that is given: text as it is, everything else as JSON.
func shown(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() == reflect.String && v.Len() > 0 {
		return v.String()
	}
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String {
		var lines strings.Builder
		for i := range v.Len() {
			fmt.Fprintf(&lines, "\n%d. %s", i+1, v.Index(i))
		}
		return lines.String()
	}
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return fmt.Sprint(v.Interface())
	}
	return string(text)
}
