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
	var members map[string]given
	if json.Unmarshal(body, &members) != nil { // which f has told already
		return nil
	}
	known := namesOf(reflect.TypeOf(f).Elem())
	maps.DeleteFunc(members, func(name string, is given) bool {
		return !bool(is) || known[strings.ToLower(name)] || len(name) > maxUnknownName
	})
	names := slices.Sorted(maps.Keys(members))
	return names[:min(len(names), maxUnknown)]
}

// knownNames caches namesOf.
var knownNames sync.Map // of map[string]bool by reflect.Type

// namesOf returns the names of the fields of a struct in JSON.
func namesOf(t reflect.Type) map[string]bool {
	if known, ok := knownNames.Load(t); ok {
		return known.(map[string]bool)
	}
	names := map[string]bool{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names[name] = true
	}
	knownNames.Store(t, names)
	return names
}
