package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"chela/internal/store/engine"
)

func micros(t time.Time) int64 { return engine.Micros(t) }

// stored is a time to be scanned.
type stored struct{ to *time.Time }

// Scan implements sql.Scanner.
func (s stored) Scan(v any) error {
	us, ok := v.(int64)
	if !ok {
		return fmt.Errorf("scan a time out of %T", v)
	}
	*s.to = time.Time{}
	if us != 0 {
		*s.to = time.UnixMicro(us).UTC()
	}
	return nil
}

// inJSON is a value stored as JSON text; the empty text stands for its zero
// value.
type inJSON struct{ to any }

// Scan implements sql.Scanner.
func (j inJSON) Scan(v any) error {
	var text []byte
	switch v := v.(type) {
	case string:
		text = []byte(v)
	case []byte:
		text = v
	default:
		return fmt.Errorf("scan JSON out of %T", v)
	}
	if len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, j.to)
}

// flag is a boolean stored as 0 or 1.
type flag struct{ to *bool }

// Scan implements sql.Scanner.
func (f flag) Scan(v any) error {
	n, ok := v.(int64)
	if !ok {
		return fmt.Errorf("scan a flag out of %T", v)
	}
	*f.to = n != 0
	return nil
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// asJSON is v as JSON text, with "<", ">" and "&" as they are. The types stored
// this way have no value that cannot be marshalled.
func asJSON(v any) string {
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("marshal %T for the store: %v", v, err))
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// asList is asJSON of a list, with the empty text for an empty one.
func asList[T any](list []T) string {
	if len(list) == 0 {
		return ""
	}
	return asJSON(list)
}

// asSet is asJSON of what may be left out, with the empty text for its zero
// value.
func asSet[T comparable](v T) string {
	var none T
	if v == none {
		return ""
	}
	return asJSON(v)
}
