package catalogue

import (
	"unicode"
	"unicode/utf8"
)

// The character classes that pieces consist of. A letter without case, or a
// mark, counts as upper and as lower case.
const (
	upper = 1 << iota
	lower
	letter
	digit
	space
	line // part of space: a line end
)

// ascii holds the classes of the ASCII characters.
var ascii = func() (classes [utf8.RuneSelf]uint8) {
	for r := range classes {
		classes[r] = classOf(rune(r))
	}
	return classes
}()

func classOf(r rune) uint8 {
	switch {
	case r == '\n' || r == '\r':
		return space | line
	case unicode.IsSpace(r):
		return space
	case unicode.In(r, unicode.Ll):
		return lower | letter
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return upper | letter
	case unicode.In(r, unicode.Lm, unicode.Lo):
		return upper | lower | letter
	case unicode.In(r, unicode.M):
		return upper | lower
	case unicode.In(r, unicode.N):
		return digit
	default:
		return 0
	}
}

// next returns the class and the size of the character at i; 0 and 0 at the end.
func next(s string, i int) (class uint8, size int) {
	if i >= len(s) {
		return 0, 0
	}
	if b := s[i]; b < utf8.RuneSelf {
		return ascii[b], 1
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	return classOf(r), size
}

// run returns the end of the characters from i on with any of the classes.
func run(s string, i int, classes uint8) int {
	for {
		class, size := next(s, i)
		if size == 0 || class&classes == 0 {
			return i
		}
		i += size
	}
}

// pieceEnd returns the end of the first piece of a text. The first matching
// alternative of the vocabulary's expression decides:
//
//	[^\r\n\p{L}\p{N}]?[upper]*[lower]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[upper]+[lower]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
func pieceEnd(s string) int {
	for _, match := range []func(string, int) int{endingLow, beginningHigh} {
		if end := word(s, match); end > 0 {
			return end
		}
	}
	class, size := next(s, 0)
	switch {
	case class&digit != 0:
		return digits(s)
	case class&space == 0:
		return signs(s, 0)
	case s[0] == ' ' && signs(s, size) > size:
		return signs(s, size)
	default:
		return spaces(s)
	}
}

// word returns the end of a word with an optional preceding character, or 0.
func word(s string, match func(string, int) int) int {
	end := 0
	if class, size := next(s, 0); class&(line|letter|digit) == 0 {
		end = match(s, size)
	}
	if end == 0 {
		end = match(s, 0)
	}
	if end == 0 {
		return 0
	}
	return end + contraction(s[end:])
}

// endingLow matches upper-case letters, then at least one lower-case letter.
func endingLow(s string, i int) int {
	k := run(s, i, upper)
	if end := run(s, k, lower); end > k {
		return end
	}
	end := 0 // end of the last letter that counts as lower case too
	for i < k {
		class, size := next(s, i)
		i += size
		if class&lower != 0 {
			end = i
		}
	}
	return end
}

// beginningHigh matches at least one upper-case letter, then lower-case
// letters.
func beginningHigh(s string, i int) int {
	k := run(s, i, upper)
	if k == i {
		return 0
	}
	return run(s, k, lower)
}

// contraction returns the length of an English contraction suffix.
func contraction(s string) int {
	if len(s) < 2 || s[0] != '\'' {
		return 0
	}
	a, b := s[1]|0x20, byte(0)
	if len(s) > 2 {
		b = s[2] | 0x20
	}
	switch {
	case a == 's', a == 't', a == 'm', a == 'd':
		return 2
	case a == 'r' && b == 'e', a == 'v' && b == 'e', a == 'l' && b == 'l':
		return 3
	case len(s) > 2 && s[1:3] == "ſ": // an s, whatever its case
		return 3
	default:
		return 0
	}
}

func digits(s string) int {
	end := 0
	for range 3 {
		class, size := next(s, end)
		if class&digit == 0 {
			break
		}
		end += size
	}
	return end
}

// signs returns the end of the signs from i on, with trailing line ends and
// slashes.
func signs(s string, i int) int {
	end := i
	for {
		class, size := next(s, end)
		if size == 0 || class&(space|letter|digit) != 0 {
			break
		}
		end += size
	}
	if end == i {
		return i
	}
	for end < len(s) && (s[end] == '\n' || s[end] == '\r' || s[end] == '/') {
		end++
	}
	return end
}

// spaces returns the end of white space: after its last line end, else before
// its last character, which belongs to the next piece.
func spaces(s string) int {
	end := run(s, 0, space)
	for i := end; i > 0; i-- {
		if s[i-1] == '\n' || s[i-1] == '\r' {
			return i
		}
	}
	if end == len(s) {
		return end
	}
	_, size := utf8.DecodeLastRuneInString(s[:end])
	if end > size {
		return end - size
	}
	return end
}
