package tomlfile

import (
	"strconv"
	"strings"
)

// placeMark begins a path part that is an index in a list. No key of a file can
// begin with it, because it is not UTF-8.
const placeMark = "\xff"

// Place returns the path part for the n-th element of a list, from 1.
func Place(n int) string { return placeMark + strconv.Itoa(n) }

// IsPlace reports whether part was made by [Place].
func IsPlace(part string) bool { return strings.HasPrefix(part, placeMark) }

// NthOf returns the n of [Place], and 0 for another part.
func NthOf(part string) int {
	number, ok := strings.CutPrefix(part, placeMark)
	if !ok {
		return 0
	}
	n, _ := strconv.Atoi(number) // Place wrote it
	return n
}

// Join formats a path for people.
func Join(path []string) string {
	var b strings.Builder
	for i, part := range path {
		if i > 0 && !IsPlace(part) {
			b.WriteByte('.')
		}
		switch {
		case IsPlace(part):
			b.WriteString("[" + strconv.Itoa(NthOf(part)) + "]")
		case isBare(part):
			b.WriteString(part)
		default:
			b.WriteString(Quote(part))
		}
	}
	return b.String()
}

// isBare reports whether TOML lets a key stand without quotes.
func isBare(s string) bool {
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return s != ""
}

// ParseKey splits a key as TOML does, so that parts may be quoted. It reports
// false for a malformed key.
func ParseKey(key string) ([]string, bool) {
	f, err := Parse("", []byte(key+" = 0"))
	if err != nil || len(f.Nodes) != 1 || f.Nodes[0].Kind != Pair {
		return nil, false
	}
	return f.Nodes[0].Path, true
}
