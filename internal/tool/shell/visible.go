package shell

import (
	"fmt"
	"strings"
	"unicode"
)

// visible returns text in which nothing is hidden from a reader: control
// characters but line ends and tabs, and characters that have no look or turn
// the direction of writing, appear as escapes.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case hidden(r) && r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		case hidden(r) && r > 0xff:
			fmt.Fprintf(&b, `\u%04x`, r)
		case hidden(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hidden reports whether r is nothing to be seen. Of the spaces only the plain
// one is what it looks like to a shell.
func hidden(r rune) bool {
	switch {
	case r == ' ':
		return false
	case unicode.IsControl(r), unicode.IsSpace(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Zs, r):
		return true
	default:
		return !unicode.IsGraphic(r) || unicode.Is(unicode.Variation_Selector, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
	}
}
