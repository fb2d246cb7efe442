package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"chela/internal/platform/excerpt"
	"chela/internal/platform/lazyregexp"
)

// The parser and bash do not agree on every line. A generated line on which
// they differ fails TestBashRunsWhatIsJudged; its class belongs here.

// ambiguity returns why a shell may read a line differently from the parser, or
// "".
func ambiguity(line string) string {
	if excerpt.Hides(line) {
		return "it has characters that cannot be seen, which shells read in different ways"
	}
	if strings.HasSuffix(line, `\`) {
		return "it ends with a backslash, which shells read in different ways"
	}
	if strings.Contains(line, "\\\n") && strings.Contains(line, "`") {
		return "it has line ends with a backslash and backquotes, which shells read in different ways"
	}
	for part := range strings.SplitSeq(line, "\n") {
		// To the parser, the comment continues on the next line.
		if strings.Contains(part, "#") && strings.HasSuffix(part, `\`) {
			return "it has a comment that ends with a backslash, which shells read in different ways"
		}
	}
	return ""
}

// misread returns why a shell may read a parsed line differently from the
// parser, or "".
func misread(file *syntax.File, line string) (reason string) {
	syntax.Walk(file, func(n syntax.Node) bool {
		switch p := n.(type) {
		case *syntax.Comment:
			// In some places the parser begins a comment within a word, such as
			// $$#x.
			if at := p.Hash.Offset(); at > uint(len(line)) || at > 0 && strings.IndexByte(" \t\n;&|()", line[at-1]) < 0 {
				reason = "it has a # within a word, which shells read in different ways"
			}
		case *syntax.Assign:
			if p.Name != nil && !assigned().MatchString(p.Name.Value) {
				reason = "it assigns to a name that is none, which shells read in different ways"
			}
		}
		return reason == ""
	})
	return reason
}

// assigned matches the names that bash assigns to, in every locale.
var assigned = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
