package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// micros is a time in its stored form: microseconds since 1970 UTC, 0 for none.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// scanTime returns a scanner for a time.
func scanTime(to *time.Time) any { return timeColumn{to} }

type timeColumn struct{ to *time.Time }

// Scan implements sql.Scanner.
func (s timeColumn) Scan(v any) error {
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

// scanJSON returns a scanner for JSON text; the empty text leaves the value
// unchanged.
func scanJSON(to any) any { return jsonColumn{to} }

type jsonColumn struct{ to any }

// Scan implements sql.Scanner.
func (j jsonColumn) Scan(v any) error {
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

// scanFlag returns a scanner for a boolean stored as 0 or 1.
func scanFlag(to *bool) any { return flagColumn{to} }

type flagColumn struct{ to *bool }

// Scan implements sql.Scanner.
func (f flagColumn) Scan(v any) error {
	n, ok := v.(int64)
	if !ok {
		return fmt.Errorf("scan a flag out of %T", v)
	}
	*f.to = n != 0
	return nil
}

// bit is a boolean in its stored form.
func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// jsonText is v as JSON text, with "<", ">" and "&" unescaped. The types stored
// this way always encode.
func jsonText(v any) string {
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("marshal %T for the store: %v", v, err))
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// jsonList is jsonText of a list; the empty text for an empty list.
func jsonList[T any](list []T) string {
	if len(list) == 0 {
		return ""
	}
	return jsonText(list)
}

// jsonIfSet is jsonText of an optional value; the empty text for the zero
// value.
func jsonIfSet[T comparable](v T) string {
	var none T
	if v == none {
		return ""
	}
	return jsonText(v)
}

// rawJSON is stored JSON text; nil for the empty text.
func rawJSON(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}
