package turn

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"chela/internal/platform/lazyregexp"
)

// around matches decoration between an edge of a reply and a sentinel: comments,
// tags and entities of HTML, the opening fence of a code block, and all
// characters except letters and digits.
const around = `(?:<!--(?s:.*?)-->|</?[A-Za-z][A-Za-z0-9]*(?:\s[^<>]*)?/?>|&#?[A-Za-z0-9]+;|\x60{3,}[A-Za-z]*[\t ]*\r?\n|[^\pL\pN])*`

const okays = `(?:HEARTBEAT|ROUTINE)\\?_OK`

// The sentinels with their decoration.
var (
	silent  = lazyregexp.New(`^(?:` + around + `NO\\?_REPLY)+` + around + `$`)
	unsaid  = lazyregexp.New(`^(?:` + around + `NO\\?_REPLY)*` + around + `(?:N|NO\\?|NO\\?_(?:R(?:E(?:P(?:LY?)?)?)?)?)?$`)
	okBegin = lazyregexp.New(`^(` + around + `)` + okays)
	okEnd   = lazyregexp.New(okays + `(` + around + `)$`)
	notify  = lazyregexp.New(`^(` + around + `)\\?\[NOTIFY\\?\]`)

	gapEnd  = lazyregexp.New(around + `$`)
	nothing = lazyregexp.New(`^` + around + `$`)
)

// cutOK removes an OK sentinel from either edge of a text.
func cutOK(s string) (rest string, found bool) {
	if at := okBegin().FindStringSubmatchIndex(s); at != nil && !joined(s[at[1]:]) {
		return unwrapAfter(s[at[2]:at[3]], s[at[1]:]), true
	}
	at := okEnd().FindStringSubmatchIndex(s)
	if at == nil {
		return s, false
	}
	before := s[:at[0]]
	if gap := gapEnd().FindString(before); !parted(gap) && !Silent(before) {
		return s, false
	}
	return unwrapBefore(before, s[at[2]:at[3]]), true
}

// cutNotify returns the text after a leading [NOTIFY].
func cutNotify(s string) (rest string, found bool) {
	at := notify().FindStringSubmatchIndex(s)
	if at == nil {
		return s, false
	}
	return unwrapAfter(s[at[2]:at[3]], s[at[1]:]), true
}

// unwrapAfter returns the text after a sentinel without the separator and without
// the closing counterparts of the wrappers opened before the sentinel.
func unwrapAfter(before, rest string) string {
	rest = separator().ReplaceAllString(rest, "")
	mirror := mirrorOf(before)
	if mirror == "" {
		return trim(rest)
	}
	if closed, ok := strings.CutPrefix(trim(rest), mirror); ok {
		return trim(separator().ReplaceAllString(closed, ""))
	}
	return trim(strings.TrimSuffix(trim(rest), mirror))
}

// unwrapBefore does the same for the text before a sentinel.
func unwrapBefore(rest, after string) string {
	mirror := mirrorOf(after)
	rest, ok := strings.CutSuffix(trim(rest), mirror)
	if !ok {
		rest = strings.TrimPrefix(rest, mirror)
	}
	return strings.TrimRightFunc(trim(rest), func(r rune) bool { return blank(r) || unicode.Is(unicode.Pd, r) })
}

// separator matches the punctuation between a sentinel and the rest of its line.
var separator = lazyregexp.New(`^[\t \x{A0}]*[.,:;!?…。！，：；]*(?:[\t \x{A0}]*[\p{Pd}|]+[\t \x{A0}])?`)

// joiners are characters that occur within words, paths and names.
const joiners = `_-.'’/:=@\`

// joined reports whether the text after a sentinel makes it part of a longer word.
func joined(rest string) bool {
	r, size := utf8.DecodeRuneInString(rest)
	if strings.ContainsRune(joiners, r) {
		r, _ = utf8.DecodeRuneInString(rest[size:])
	}
	return inWord(r)
}

// inWord reports whether a character continues a word. In scripts without
// spaces between words a new word may begin anywhere.
func inWord(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) &&
		!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// Tags that begin a line, and other markup.
var (
	lineTag = lazyregexp.New(`(?i)</?(?:br|hr|p|div|li|ul|ol|pre|h[1-6]|blockquote)\b[^<>]*>`)
	markup  = lazyregexp.New(`<!--(?s:.*?)-->|<[^<>]*>|&#?[A-Za-z0-9]+;`)
)

// parted reports whether the gap between a text and a sentinel at its end separates
// them: a line end, the end of a sentence, a dash, a picture.
func parted(gap string) bool {
	gap = markup().ReplaceAllString(lineTag().ReplaceAllString(gap, "\n"), "")
	if strings.Trim(gap, joiners) == "" {
		return false
	}
	return strings.ContainsFunc(gap, func(r rune) bool {
		return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' || r == '…' || r == '|' ||
			unicode.In(r, unicode.Terminal_Punctuation, unicode.Sentence_Terminal, unicode.Pd, unicode.So)
	})
}

// wrapper matches paired markup around words.
var wrapper = lazyregexp.New(`<(/?)([A-Za-z][A-Za-z0-9]*)(?:\s[^<>]*)?>|[*_]+|~~+|\x60+|["'“”‘’„«»()]`)

// mirrorOf returns the closing counterparts of the wrappers on one side of a
// sentinel.
func mirrorOf(side string) string {
	var ends []string
	for _, at := range wrapper().FindAllStringSubmatch(side, -1) {
		end, slash, tag := at[0], at[1], at[2]
		switch {
		case tag != "" && slash == "":
			end = "</" + tag + ">"
		case tag != "":
			end = "<" + tag + ">"
		default:
			end = cmp.Or(pairs[end], end)
		}
		ends = append(ends, end)
	}
	slices.Reverse(ends)
	return strings.Join(ends, "")
}

// pairs maps the wrappers whose closing character differs.
var pairs = map[string]string{"“": "”", "”": "“", "‘": "’", "’": "‘", "„": "“", "«": "»", "»": "«", "(": ")", ")": "("}

// trim removes surrounding space and invisible characters.
func trim(s string) string { return strings.TrimFunc(s, blank) }

func blank(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("\u00ad\u200b\u200e\u200f\u2060\ufeff", r)
}
