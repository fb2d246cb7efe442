package routine

import (
	"strings"
	"unicode"

	"chela/internal/platform/lazyregexp"
)

// Markdown constructs without content.
var (
	frontMatter = lazyregexp.New(`^---[\t ]*\n(?:[\w-]+:(?s:.*?)\n)?(?:---|\.\.\.)[\t ]*(?:\n|$)`)
	comment     = lazyregexp.New(`<!--(?s:.*?)-->`)
	emptyLine   = lazyregexp.New(`^(?:` +
		`#{1,6}(?:\s.*)?` + // a heading
		`|(?:>\s*)*(?:(?:[-*+]|\d{1,9}[.)])\s*)*(?:\[[ xX]?\])?` + // empty quotes, list items and check boxes
		`|[-*_=\s]*` + // a rule, or the underline of a heading
		`|(?:\x60{3,}|~{3,})\w*` + // the fence of a code block
		`)$`)
)

// isBlank reports whether a Markdown document has no content: only headings,
// empty list items and check boxes, rules, comments, front matter and blank
// lines. An unterminated comment is content, and front matter must begin with a
// key: in doubt a line counts as content.
func isBlank(markdown string) bool {
	markdown = strings.ReplaceAll(strings.TrimPrefix(markdown, "\ufeff"), "\r\n", "\n")
	markdown = frontMatter().ReplaceAllString(markdown, "")
	for line := range strings.Lines(comment().ReplaceAllString(markdown, "")) {
		if !emptyLine().MatchString(strings.TrimFunc(line, isSpace)) {
			return false
		}
	}
	return true
}

// isSpace reports whether a character is white space or invisible.
func isSpace(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("\u00ad\u200b\u200e\u200f\u2060\ufeff", r)
}
