package wire

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// maxUnknown bounds the list of unknown fields, and of each name.
const (
	maxUnknown     = 32
	maxUnknownName = 64
)

// unknown returns the names of the fields of a body that f has no field for, in
// alphabetical order. The body has been read into f before.
func unknown(body []byte, f any) []string {
	var members map[string]skipped
	if json.Unmarshal(body, &members) != nil { // which f has told already
		return nil
	}
	known := namesOf(reflect.TypeOf(f).Elem())
	maps.DeleteFunc(members, func(name string, is skipped) bool {
		return bool(is) || known[strings.ToLower(name)] || len(name) > maxUnknownName
	})
	names := slices.Sorted(maps.Keys(members))
	return names[:min(len(names), maxUnknown)]
}

// skipped is a value that is not read. It is true for null, which is no value.
type skipped bool

// UnmarshalJSON implements json.Unmarshaler.
func (s *skipped) UnmarshalJSON(b []byte) error {
	*s = skipped(isNull(b))
	return nil
}

// knownNames caches namesOf.
var knownNames sync.Map // of map[string]bool by reflect.Type

// namesOf returns the names of the fields of a struct in JSON.
func namesOf(t reflect.Type) map[string]bool {
	if known, ok := knownNames.Load(t); ok {
		return known.(map[string]bool)
	}
	names := map[string]bool{}
	addNames(names, t)
	knownNames.Store(t, names)
	return names
}

// addNames adds the names of the fields of a struct in JSON.
func addNames(names map[string]bool, t reflect.Type) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			addNames(names, f.Type)
		default:
			names[name] = true
		}
	}
}
