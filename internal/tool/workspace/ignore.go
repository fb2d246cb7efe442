package workspace

import (
	"bytes"
	"context"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// generated are folders that searches leave out everywhere.
var generated = []string{".git", "node_modules"}

// maxIgnoreFile limits the bytes that are read of a .gitignore, and maxIgnoreLines its
// patterns; later ones hold for nothing.
const (
	maxIgnoreFile  = 256 << 10
	maxIgnoreLines = 5000
)

// An Ignore knows the files of a workspace that its .gitignore files name, of the root,
// .git/info/exclude and each folder, as gitignore(5) describes them. A workspace without
// a .git is treated alike. It is not safe for concurrent use.
type Ignore struct {
	ws    *Workspace
	rules map[string][]gitignore.Pattern // of a folder, with those of its parents
}

// Ignore returns the ignored files of the workspace. They are read as folders are
// asked about.
func (w *Workspace) Ignore() *Ignore {
	return &Ignore{ws: w, rules: map[string][]gitignore.Pattern{}}
}

// Generated reports whether a folder, such as node_modules, holds no files that people
// wrote, wherever it lies.
func Generated(base string) bool {
	for _, name := range generated {
		if base == name {
			return true
		}
	}
	return false
}

// Has reports whether a file or folder is ignored. Its folders must not be ignored:
// a walk does not enter those.
func (g *Ignore) Has(ctx context.Context, name string, isDir bool) bool {
	rules := g.of(ctx, path.Dir(name))
	return len(rules) > 0 && gitignore.NewMatcher(rules).Match(strings.Split(name, "/"), isDir)
}

// of returns the rules that hold in a folder, the weakest first.
func (g *Ignore) of(ctx context.Context, dir string) []gitignore.Pattern {
	if rules, ok := g.rules[dir]; ok {
		return rules
	}
	var rules []gitignore.Pattern
	var domain []string
	if dir == "." {
		rules = g.read(ctx, ".git/info/exclude", nil)
	} else {
		inherited := g.of(ctx, path.Dir(dir))
		rules, domain = inherited[:len(inherited):len(inherited)], strings.Split(dir, "/")
	}
	rules = append(rules, g.read(ctx, path.Join(dir, ".gitignore"), domain)...)
	g.rules[dir] = rules
	return rules
}

// read returns the patterns of a file. One that is missing or cannot be read has none.
func (g *Ignore) read(ctx context.Context, name string, domain []string) (rules []gitignore.Pattern) {
	content, _, err := g.ws.Read(ctx, name, maxIgnoreFile)
	if err != nil {
		return nil
	}
	for line := range bytes.Lines(content) {
		text := strings.TrimRight(string(line), "\r\n")
		if strings.TrimSpace(text) == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if len(rules) == maxIgnoreLines {
			break
		}
		rules = append(rules, gitignore.ParsePattern(text, domain))
	}
	return rules
}
