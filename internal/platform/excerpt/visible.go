package excerpt

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns text for a person who decides about it: each character that
// is invisible, looks like a plain space or changes the rendering of its
// neighbours is written as an escape (\x1b, \u202e, \U000e0041), except line
// ends and tabs. An invalid UTF-8 byte is \x80 to \xff. The escapes are
// unambiguous: a backslash of the text that would begin one is written as \x5c,
// so that no two texts look alike.
func Visible(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\\' && beginsEscape(text[i:]):
			b.WriteString(`\x5c`)
		case !hidden(r):
			b.WriteRune(r)
		default:
			b.WriteString(Escape(r))
		}
		i += size
	}
	return b.String()
}

// Escape returns the escape of a character: \x1b, \u202e or \U000e0041.
func Escape(r rune) string {
	switch {
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	default:
		return fmt.Sprintf(`\U%08x`, r)
	}
}

// Hides reports whether text contains anything that Visible escapes, except
// backslashes.
func Hides(text string) bool {
	return !utf8.ValidString(text) || strings.ContainsFunc(text, hidden)
}

// digits is the number of hexadecimal digits after the letter of an escape.
var digits = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// beginsEscape reports whether a text that begins with a backslash looks like
// an escape of Visible.
func beginsEscape(text string) bool {
	if len(text) < 2 {
		return false
	}
	n, ok := digits[text[1]]
	return ok && len(text) >= 2+n && strings.Trim(text[2:2+n], "0123456789abcdef") == ""
}

// hidden reports whether a character is invisible or misleading. Of the spaces
// only the plain one is a space to a shell.
func hidden(r rune) bool {
	switch {
	case r == ' ', r == '\n', r == '\t':
		return false
	case unicode.IsControl(r), unicode.IsSpace(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Zs, r):
		return true
	default:
		return !unicode.IsGraphic(r) || unicode.Is(unicode.Variation_Selector, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
	}
}

// maxPage limits the text of a call that a question shows at once, in bytes.
const maxPage = 4000

// FirstPage returns the beginning of an approval's call, and how to see the
// rest.
func FirstPage(preview, approval string) string {
	return Page(preview, maxPage, "chela approvals show "+approval)
}

// Page returns the beginning of a text, at most that many bytes of it. If the
// text is truncated, a line after it says by how much, and that more shows all.
func Page(text string, most int, more string) string {
	if len(text) <= most {
		return text
	}
	page := Bytes(text, most)
	return fmt.Sprintf("%s\n[%d of %d bytes are shown; %s shows all]", page, len(page), len(text), more)
}
