package chela_test

import (
	"go/ast"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	statusRow = regexp.MustCompile(`^\| ([A-Z]\d+) \| (.+) \| (.+) \| (.*) \|$`)
	codeSpan  = regexp.MustCompile("`([^`]+)`")
)

// TestStatusIsShownByTests reads docs/status.md and looks for the tests that
// it names.
func TestStatusIsShownByTests(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/status.md")
	if err != nil {
		t.Fatal(err)
	}
	var tests []string
	load(t, os.DirFS(".")).eachFunction(func(dir *folder, s *source, fn *ast.FuncDecl) {
		if s.test && strings.HasPrefix(fn.Name.Name, "Test") {
			tests = append(tests, dir.symbol(fn))
		}
	})
	rows := 0
	for line := range strings.Lines(string(page)) {
		row := statusRow.FindStringSubmatch(strings.TrimSpace(line))
		if row == nil {
			continue
		}
		rows++
		id, state, shown := row[1], row[3], codeSpan.FindAllStringSubmatch(row[4], -1)
		word, _, _ := strings.Cut(state, ":")
		if !slices.Contains([]string{"works", "partly", "missing"}, word) {
			t.Errorf("%s is %q, not works, partly or missing", id, state)
		}
		if word == "works" && len(shown) == 0 {
			t.Errorf("%s works, but no test shows it", id)
		}
		for _, name := range shown {
			if !slices.Contains(tests, name[1]) && !isScript(name[1]) {
				t.Errorf("%s is shown by %s, which does not exist", id, name[1])
			}
		}
	}
	if rows == 0 {
		t.Error("the page has no rows")
	}
}

// isScript reports whether name is the file of a script.
func isScript(name string) bool {
	_, err := os.Stat(name)
	return err == nil && strings.HasSuffix(name, ".txtar")
}
