package wire

import (
	"bytes"
	"encoding/json"
	"iter"
	"math"
	"strconv"
	"unicode/utf8"
)

// A Value is a JSON value as written, without surrounding blanks. A stream has
// hundreds of objects with a few relevant members each; scanning them in place
// takes an eighth of the time of the SDK's decoder. The zero Value is an absent
// value.
type Value []byte

// Object parses raw as a JSON object; null becomes an empty object. The second
// result is false for any other value.
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

// Text returns the text of a string, "" for null or an absent value, and any
// other value as written: some servers send ids as numbers, and call arguments
// as objects.
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

// Int returns a number, also from a string, truncated and clamped to the range
// of int64; 0 for any other value.
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

// Members yields the members of an object, with their names, as written and in
// that order. Other values have none.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if !v.IsObject() {
			return
		}
		for at := next(v, 1); v[at] != '}'; {
			name, member, end := v.pair(at)
			if at = end; !yield(string(name), member) {
				return
			}
		}
	}
}

// pair returns the member that begins at v[at], and where the next one begins.
func (v Value) pair(at int) (name, member Value, end int) {
	end = endOf(v, at)
	from := next(v, end)
	to := endOf(v, from)
	return v[at+1 : end-1], v[from:to], next(v, to)
}

// Member returns the last member of a name; absent for other values and objects
// without it.
func (v Value) Member(name string) (member Value) {
	if !v.IsObject() {
		return nil
	}
	for at := next(v, 1); v[at] != '}'; {
		n, m, end := v.pair(at)
		if at = end; string(n) == name {
			member = m
		}
	}
	return member
}

// Count returns a member that is a number of tokens; 0 if it is absent or negative.
func (v Value) Count(name string) int64 { return max(v.Member(name).Int(), 0) }

// Texts returns the texts of the items of a list; nil for other values.
func (v Value) Texts() (texts []string) {
	for item := range v.Items() {
		texts = append(texts, item.Text())
	}
	return texts
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

// next returns the position of the next value, or the end of the list or object
// that contains v[at].
func next(v Value, at int) int {
	for v[at] == ' ' || v[at] == ',' || v[at] == ':' || v[at] == '\n' || v[at] == '\r' || v[at] == '\t' {
		at++
	}
	return at
}

// endOf returns the end of the value that begins at v[at].
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
