package excerpt_test

import (
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"chela/internal/platform/excerpt"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain text\n\twith lines":          "plain text\n\twith lines",
		"grüße 日本語 😀":                       "grüße 日本語 😀",
		"a\x1b[2Jb":                         `a\x1b[2Jb`,
		"a\rb\x00c\x7f":                     `a\x0db\x00c\x7f`,
		"csi \u009b2J":                      `csi \u009b2J`,
		"\u202egpj.exe":                     `\u202egpj.exe`,
		"a\u2066b\u2069":                    `a\u2066b\u2069`,
		"pass\u200bword\u200d\ufeff\u00ad":  `pass\u200bword\u200d\ufeff\u00ad`,
		"a\u00a0b\u3000c":                   `a\u00a0b\u3000c`,
		"tag \U000e0041":                    `tag \U000e0041`,
		"selector \ufe0f\u2028\u3164\u115f": `selector \ufe0f\u2028\u3164\u115f`,
		"private \ue000":                    `private \ue000`,
		"bad \xff":                          `bad \xff`,
		`printf '\x1b' \n \xZZ \`:           `printf '\x5cx1b' \n \xZZ \`,
	} {
		if got := excerpt.Visible(text); got != want {
			t.Errorf("Visible(%q) is %q, want %q", text, got, want)
		}
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	if got, want := excerpt.Page("abcdéf", 5, "it"), "abcd\n[4 of 7 bytes are shown; it shows all]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := excerpt.Page("abc", 3, "it"); got != "abc" {
		t.Errorf("got %q", got)
	}
}

// read takes back what Visible wrote.
func read(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		n := 0
		if text[i] == '\\' && i+1 < len(text) {
			n = map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[i+1]]
		}
		if n == 0 || i+2+n > len(text) || strings.Trim(text[i+2:i+2+n], "0123456789abcdef") != "" {
			b.WriteByte(text[i])
			continue
		}
		code, err := strconv.ParseUint(text[i+2:i+2+n], 16, 32)
		if err != nil {
			panic(err) // the digits were looked at
		}
		if n == 2 {
			b.WriteByte(byte(code))
		} else {
			b.WriteRune(rune(code))
		}
		i += 1 + n
	}
	return b.String()
}

// FuzzVisible: nothing hidden comes out, and the text can be told from its escapes.
func FuzzVisible(f *testing.F) {
	for _, seed := range []string{"", "a\x1b\r\n", `\x5c\\x1b\u202`, "\u202e\\u202e", "\xff\xc3\u00ad\ufe0f\U000e0041", "\\\u200bx1b", `\x5cx5c`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := excerpt.Visible(text)
		if !utf8.ValidString(got) {
			t.Errorf("%q is shown as %q, which is not UTF-8", text, got)
		}
		for _, r := range got {
			bad := r < ' ' && r != '\n' && r != '\t' || 0x7f <= r && r <= 0x9f ||
				unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Join_Control, unicode.Variation_Selector)
			if bad {
				t.Errorf("%q is shown as %q with %U", text, got, r)
			}
		}
		if back := read(got); back != text {
			t.Errorf("%q is shown as %q, which reads as %q", text, got, back)
		}
		if excerpt.Hides(text) && got == text {
			t.Errorf("%q hides something, and is shown as it is", text)
		}
	})
}
