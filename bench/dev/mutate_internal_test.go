package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const decides = `package decide

const most = 3

func Few(n int, open bool) bool {
	if open {
		n = n + 1
	}
	return n >= 0 && n < most
}
`

// decidePkg is a package with one deciding file.
func decidePkg(t *testing.T, source string) *pkg {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "decide.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	p := &pkg{
		path: "example.com/decide", folder: ".", files: set, imports: importer.ForCompiler(set, "source", nil),
		syntax: map[string]*ast.File{"decide.go": file}, sources: map[string][]byte{"decide.go": []byte(source)},
	}
	if err := p.findSites([]string{"decide.go"}); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSites lists every mutant of a small file.
func TestSites(t *testing.T) {
	t.Parallel()
	var got []string
	for _, s := range decidePkg(t, decides).sites {
		got = append(got, strings.TrimPrefix(s.name(), "decide.go Few: "))
	}
	slices.Sort(got)
	want := []string{
		"0 => to 1", "1 => to 2",
		"n + 1 => + to -",
		"n < most => < to <=", "n < most => negated",
		"n = n + 1 => removed",
		"n >= 0 && n < most => && to ||",
		"n >= 0 => >= to >", "n >= 0 => negated",
		"open => negated",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mutants (-want +got):\n%s", diff)
	}
}

// drawAll returns the package of a module with one deciding file, with all of its
// mutants drawn.
func drawAll(t *testing.T, decide, test string) *pkg {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/decide\n\ngo 1.26\n", "decide.go": decide, "decide_test.go": test,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
	packages, err := load(t.Context(), []string{"decide.go"})
	if err != nil {
		t.Fatal(err)
	}
	p := packages[0]
	for i, s := range p.sites {
		if !p.compiles(s) {
			t.Errorf("%s does not compile", s.name())
		}
		s.id = i + 1
		p.drawn = append(p.drawn, s)
	}
	return p
}

// missed runs the mutants of a package and returns those that survive.
func missed(t *testing.T, p *pkg, slack time.Duration) []string {
	t.Helper()
	results, err := p.test(t.Context(), 2, slack)
	if err != nil {
		t.Fatal(err)
	}
	var missed []string
	for _, s := range p.drawn {
		if results[s.id] != caught {
			_, name, _ := strings.Cut(s.name(), ": ")
			missed = append(missed, name)
		}
	}
	slices.Sort(missed)
	return missed
}

// TestMutants compiles all mutants of a module into one binary and tells those
// that a test catches from the others.
func TestMutants(t *testing.T) {
	p := drawAll(t, decides, `package decide

import "testing"

func TestFew(t *testing.T) {
	if !Few(1, true) || Few(3, false) || Few(-1, false) {
		t.Error("wrong")
	}
}
`)
	want := []string{"0 => to 1", "n + 1 => + to -", "n = n + 1 => removed", "n >= 0 => >= to >"}
	if diff := cmp.Diff(want, missed(t, p, time.Minute)); diff != "" {
		t.Errorf("survivors (-want +got):\n%s", diff)
	}
}

// TestHangingMutantIsCaught: a mutant that does not end is killed at its time
// limit.
func TestHangingMutantIsCaught(t *testing.T) {
	p := drawAll(t, `package decide

func Count(to int) (n int) {
	for {
		n++
		if n == to {
			return n
		}
	}
}
`, `package decide

import "testing"

func TestCount(t *testing.T) {
	if Count(3) != 3 {
		t.Error("wrong")
	}
}
`)
	if got := missed(t, p, 100*time.Millisecond); len(got) > 0 {
		t.Errorf("survivors: %q", got)
	}
}

// TestFirstFailureEndsTheRun: a test that fails ends those that run beside it.
func TestFirstFailureEndsTheRun(t *testing.T) {
	p := drawAll(t, `package decide

func Open(n int) bool { return n == 1 }
`, `package decide

import (
	"os"
	"testing"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	if !Open(1) {
		t.Error("wrong")
	}
}

func TestSlow(t *testing.T) {
	t.Parallel()
	if Open(1); os.Getenv("CHELA_MUTANT") != "" {
		<-make(chan bool)
	}
}
`)
	if got := missed(t, p, time.Hour); len(got) > 0 {
		t.Errorf("survivors: %q", got)
	}
}

// TestOnlyReachingTestsRun: a mutant runs no test that does not execute it, and
// one that no test executes is said to be so.
func TestOnlyReachingTestsRun(t *testing.T) {
	p := drawAll(t, `package decide

func Open(n int) bool { return n == 1 }

func Shut(n int) bool { return n == 1 }
`, `package decide

import (
	"os"
	"testing"
)

func TestOpen(t *testing.T) { Open(1) }

func TestOther(t *testing.T) {
	if os.Getenv("CHELA_MUTANT") != "" {
		t.Error("not executed by this mutant")
	}
}
`)
	results, err := p.test(t.Context(), 2, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.drawn {
		want := survived
		if s.function == "Shut" {
			want = unreached
		}
		if results[s.id] != want {
			t.Errorf("%s: %s, want %s", s.name(), results[s.id], want)
		}
	}
}

// TestEquivalentsNeedReasons refuses a line that gives none.
func TestEquivalentsNeedReasons(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "equivalent.txt")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# a comment\n\na.go F: 0 => to 1 # the loop starts there either way\n")
	got, err := readEquivalents(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a.go F: 0 => to 1": "the loop starts there either way"}, got); diff != "" {
		t.Errorf("equivalents (-want +got):\n%s", diff)
	}
	write("a.go F: 0 => to 1\n")
	if _, err := readEquivalents(file); err == nil || !strings.Contains(err.Error(), ":1: no reason") {
		t.Errorf("error %v, want one that names the line", err)
	}
}

// TestEquivalentsExist: each line of the list names a mutant of the present code.
func TestEquivalentsExist(t *testing.T) {
	t.Chdir("../..")
	files, err := plan{}.files()
	if err != nil {
		t.Fatal(err)
	}
	packages, err := load(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	excused, err := readEquivalents(equivalents)
	if err != nil {
		t.Fatal(err)
	}
	for line := range excused {
		if !possible(packages, line) {
			t.Errorf("no such mutant: %s", line)
		}
	}
}
