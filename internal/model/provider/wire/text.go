package wire

import (
	"math/bits"
	"unicode/utf8"
)

// AppendString appends s as a JSON string. Invalid UTF-8 becomes U+FFFD, one
// per byte, as in encoding/json.
func AppendString[S ~string | ~[]byte](b []byte, s S) []byte {
	b = append(b, '"')
	for {
		n := plainLen(s)
		b = append(b, s[:n]...)
		if n == len(s) {
			return append(b, '"')
		}
		s = s[n:]
		if c := s[0]; c < utf8.RuneSelf {
			b = appendEscape(b, c)
			s = s[1:]
			continue
		}
		// The short string passed to DecodeRuneInString stays on the stack.
		r, size := utf8.DecodeRuneInString(string(s[:min(len(s), utf8.UTFMax)]))
		b = utf8.AppendRune(b, r)
		s = s[size:]
	}
}

// Words with all bytes 0x01, and 0x80.
const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// plainLen returns the number of leading bytes of s that need no escaping in a
// JSON string: ASCII without control characters, quotes and backslashes. It
// tests eight bytes at a time, in half the time or less.
func plainLen[S ~string | ~[]byte](s S) int {
	n := 0
	for ; n+8 <= len(s); n += 8 {
		c := s[n : n+8]
		w := uint64(c[0]) | uint64(c[1])<<8 | uint64(c[2])<<16 | uint64(c[3])<<24 |
			uint64(c[4])<<32 | uint64(c[5])<<40 | uint64(c[6])<<48 | uint64(c[7])<<56
		// The high bit of a byte is set if the byte is not ASCII, is below a
		// blank, or equals a quote or a backslash. A borrow can only affect
		// bytes above a marked one.
		quote, slash := w^'"'*ones, w^'\\'*ones
		marked := (w | (w - ' '*ones) | (quote - ones) | (slash - ones)) & highs
		if marked != 0 {
			return n + bits.TrailingZeros64(marked)/8
		}
	}
	for ; n < len(s); n++ {
		if c := s[n]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			break
		}
	}
	return n
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	default:
		const digits = "0123456789abcdef"
		return append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&0xf])
	}
}
