package folder

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxName leaves room for a number in a name.
const maxName = 50

// nextName returns the name for a folder with the given base, with a number if the name
// is taken.
func nextName(base string, taken func(name string) (bool, error)) (string, error) {
	stem := nameOf(base)
	for n := 1; ; n++ {
		name := stem
		if n > 1 {
			name = fmt.Sprintf("%s-%d", stem, n)
		}
		if is, err := taken(name); err != nil || !is {
			return name, err
		}
	}
}

// nameOf returns the base of a path as a name: in lower case, without accents and other
// characters than those of names.
func nameOf(base string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ReplaceAll(strings.ToLower(base), "ß", "ss")) {
		switch {
		case unicode.Is(unicode.Mn, r): // an accent
		case r >= 'a' && r <= 'z', b.Len() > 0 && (r >= '0' && r <= '9' || r == '_'):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= maxName {
			break
		}
	}
	if name := strings.Trim(b.String(), "-"); name != "" {
		return name
	}
	return "folder"
}
