package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
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

// A jsonColumn is a column of JSON text. Reading the empty text leaves the value
// unchanged.
type jsonColumn struct {
	to       any
	optional bool // the zero value and the empty list are stored as the empty text
}

// jsonField is a field in a column of JSON.
func jsonField(to any) jsonColumn { return jsonColumn{to: to} }

// optionalJSON is such a field whose zero value, or empty list, is stored as the
// empty text.
func optionalJSON(to any) jsonColumn { return jsonColumn{to: to, optional: true} }

func (j jsonColumn) stored() any {
	v := reflect.ValueOf(j.to).Elem()
	if j.optional && (v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0) {
		return ""
	}
	return jsonText(j.to)
}

// Scan implements sql.Scanner.
func (j jsonColumn) Scan(v any) error {
	text, err := textOf(v)
	if err != nil || len(text) == 0 {
		return err
	}
	return json.Unmarshal(text, j.to)
}

// textOf returns the text that a driver read.
func textOf(v any) ([]byte, error) {
	switch v := v.(type) {
	case string:
		return []byte(v), nil
	case []byte:
		return v, nil
	default:
		return nil, fmt.Errorf("scan text out of %T", v)
	}
}

// A rawColumn is a column of JSON text; nil for the empty text.
type rawColumn struct{ to *json.RawMessage }

// Scan implements sql.Scanner.
func (c rawColumn) Scan(v any) error {
	text, err := textOf(v)
	*c.to = nil
	if len(text) > 0 {
		*c.to = bytes.Clone(text) // the driver's bytes are valid until the next row
	}
	return err
}

// A nullColumn is a column of text that references another table: the empty
// text is stored as null.
type nullColumn struct{ to any }

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
