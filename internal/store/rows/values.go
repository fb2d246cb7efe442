package rows

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Micros is a time as it is stored: microseconds since 1970 UTC, 0 for none.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Time returns what scans a time into to.
func Time(to *time.Time) any { return stored{to} }

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

// JSON returns what scans JSON text into to; the empty text leaves it as it is.
func JSON(to any) any { return inJSON{to} }

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

// Flag returns what scans a boolean, stored as 0 or 1, into to.
func Flag(to *bool) any { return flag{to} }

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

// Bit is a boolean as it is stored.
func Bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Text is v as JSON text, with "<", ">" and "&" as they are. The types stored
// this way have no value that cannot be marshalled.
func Text(v any) string {
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("marshal %T for the store: %v", v, err))
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// List is Text of a list, with the empty text for an empty one.
func List[T any](list []T) string {
	if len(list) == 0 {
		return ""
	}
	return Text(list)
}

// Set is Text of what may be left out, with the empty text for its zero
// value.
func Set[T comparable](v T) string {
	var none T
	if v == none {
		return ""
	}
	return Text(v)
}

// Raw is JSON text as it was stored; nil for the empty text.
func Raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}
