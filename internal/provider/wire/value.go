package wire

import (
	"bytes"
	"encoding/json"
	"iter"
	"math"
	"strconv"
	"unicode/utf8"
)

// A Value is a JSON value as it is written, without blanks around it. A stream
// has hundreds of objects of which a few members matter; looking for them where
// they stand takes an eighth of the time of the SDK's decoder. The zero Value
// is an absent one.
type Value []byte

// Object returns the JSON object that raw holds. Null stands for an empty one.
// The second result is false if raw is something else.
func Object(raw []byte) (Value, bool) {
	v := Value(bytes.Trim(raw, " \t\r\n"))
	if !json.Valid(v) {
		return nil, false
	}
	return v, v.IsObject() || string(v) == "null"
}

// IsObject reports whether v is an object.
func (v Value) IsObject() bool { return len(v) > 0 && v[0] == '{' }

// IsString reports whether v is a string.
func (v Value) IsString() bool { return len(v) > 0 && v[0] == '"' }

// Text returns what a string says, nothing for null or an absent value, and
// any other value as it is written: some servers send numbers as ids, and
// arguments of calls as objects.
func (v Value) Text() string {
	switch {
	case !v.IsString():
		if string(v) == "null" {
			return ""
		}
		return string(v)
	case bytes.IndexByte(v, '\\') < 0 && utf8.Valid(v):
		return string(v[1 : len(v)-1])
	}
	var s string
	if json.Unmarshal(v, &s) != nil { // v is valid
		return ""
	}
	return s
}

// Int returns a number, also one in a string, without its fraction. It is the
// nearest that fits, and 0 for all that is no number.
func (v Value) Int() int64 {
	text := v.Text()
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	case err != nil || math.IsNaN(f):
		return 0
	}
	return int64(f)
}

// Members yields the members of an object, in the order in which they are
// written, with their names as they are written. Other values have none.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if !v.IsObject() {
			return
		}
		for at := next(v, 1); v[at] != '}'; at = next(v, at) {
			end := endOf(v, at)
			from := next(v, end)
			name := v[at+1 : end-1]
			at = endOf(v, from)
			if !yield(string(name), v[from:at]) {
				return
			}
		}
	}
}

// Items yields the items of a list. Other values have none.
func (v Value) Items() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if len(v) == 0 || v[0] != '[' {
			return
		}
		for at := next(v, 1); v[at] != ']'; at = next(v, at) {
			from := at
			at = endOf(v, from)
			if !yield(v[from:at]) {
				return
			}
		}
	}
}

// next returns where the next value begins, or the end of what holds v[at].
func next(v Value, at int) int {
	for v[at] == ' ' || v[at] == ',' || v[at] == ':' || v[at] == '\n' || v[at] == '\r' || v[at] == '\t' {
		at++
	}
	return at
}

// endOf returns where the value that begins at v[at] has ended.
func endOf(v Value, at int) int {
	switch v[at] {
	case '"':
		for at++; v[at] != '"'; at++ {
			if v[at] == '\\' {
				at++
			}
		}
		return at + 1
	case '{', '[':
		return endOfNest(v, at)
	}
	for at < len(v) && bytes.IndexByte([]byte(" ,:]}\n\r\t"), v[at]) < 0 {
		at++
	}
	return at
}

// endOfNest is endOf for an object or a list.
func endOfNest(v Value, at int) int {
	for depth := 0; ; {
		switch v[at] {
		case '"':
			at = endOf(v, at)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		at++
		if depth == 0 {
			return at
		}
	}
}
