package folder

import (
	"fmt"
	"strings"
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

// nameOf returns the base of a path as a name: in lower case, without other characters
// than those of names.
func nameOf(base string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(base) {
		switch {
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
