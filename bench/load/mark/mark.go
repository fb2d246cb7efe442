// Package mark makes the marks by which an answer is told to belong to its
// message: the generator puts one into each message, the fake server repeats it
// in the answer.
package mark

import (
	"bytes"
	"fmt"
)

// Prefix begins every mark; digits follow it.
const Prefix = "load-"

// Of returns the mark of a number.
func Of(n int64) string { return fmt.Sprint(Prefix, n) }

// Last returns the last mark in text, or nil. It may be called with text inside
// JSON: nothing in a mark is ever escaped.
func Last(text []byte) []byte {
	for end := len(text); ; {
		at := bytes.LastIndex(text[:end], []byte(Prefix))
		if at < 0 {
			return nil
		}
		digits := at + len(Prefix)
		stop := digits
		for stop < len(text) && '0' <= text[stop] && text[stop] <= '9' {
			stop++
		}
		if stop > digits {
			return text[at:stop]
		}
		end = at
	}
}

// In reports whether the last mark in an answer is that of n.
func In(answer string, n int64) bool { return string(Last([]byte(answer))) == Of(n) }
