package cue

import "strings"

// What a document may have without saying anything.
var (
	frontMatter = compiled(`^---[\t ]*\n(?:[\w-]+:(?s:.*?)\n)?(?:---|\.\.\.)[\t ]*(?:\n|$)`)
	comment     = compiled(`<!--(?s:.*?)-->`)
	emptyLine   = compiled(`^(?:` +
		`#{1,6}(?:\s.*)?` + // a heading
		`|(?:>\s*)*(?:(?:[-*+]|\d{1,9}[.)])\s*)*(?:\[[ xX]?\])?` + // quotes, list items and boxes with nothing in them
		`|[-*_=\s]*` + // a rule, or what underlines a heading
		`|(?:\x60{3,}|~{3,})\w*` + // an end of a block of code
		`)$`)
)

// Blank reports whether a Markdown document says nothing: it has only headings,
// empty list items and boxes, rules, comments, front matter and blank lines. A
// comment that does not end is none, and front matter begins with a key: where
// it is not certain that nobody reads a line, it says something.
func Blank(markdown string) bool {
	markdown = strings.ReplaceAll(strings.TrimPrefix(markdown, "\ufeff"), "\r\n", "\n")
	markdown = frontMatter().ReplaceAllString(markdown, "")
	for line := range strings.Lines(comment().ReplaceAllString(markdown, "")) {
		if !emptyLine().MatchString(trim(line)) {
			return false
		}
	}
	return true
}
