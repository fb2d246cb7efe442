package sentinel

import "strings"

// Markdown constructs without content.
var (
	frontMatter = compiled(`^---[\t ]*\n(?:[\w-]+:(?s:.*?)\n)?(?:---|\.\.\.)[\t ]*(?:\n|$)`)
	comment     = compiled(`<!--(?s:.*?)-->`)
	emptyLine   = compiled(`^(?:` +
		`#{1,6}(?:\s.*)?` + // a heading
		`|(?:>\s*)*(?:(?:[-*+]|\d{1,9}[.)])\s*)*(?:\[[ xX]?\])?` + // empty quotes, list items and check boxes
		`|[-*_=\s]*` + // a rule, or the underline of a heading
		`|(?:\x60{3,}|~{3,})\w*` + // the fence of a code block
		`)$`)
)

// Blank reports whether a Markdown document has no content: only headings,
// empty list items and check boxes, rules, comments, front matter and blank
// lines. An unterminated comment is content, and front matter must begin with a
// key: in doubt a line counts as content.
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
