package tomlfile

import (
	"fmt"
	"strings"
	"unicode"
)

// Literal writes a value as TOML does.
func Literal(v any) string {
	switch v := v.(type) {
	case string:
		return Quote(v)
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = Literal(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	default:
		return fmt.Sprint(v)
	}
}

// Quote writes a basic string of TOML.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsControl(r):
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
