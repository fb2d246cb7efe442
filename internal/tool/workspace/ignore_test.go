package workspace_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestIgnore compares the ignored files of a tree with those that git ignores.
func TestIgnore(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	w, dir := open(t)
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %s: %v", args, err)
		}
		return string(out)
	}
	git("init", "-q")
	put := func(name, text string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(".gitignore", "# build\n*.o\r\n/bin/\nnode_modules\n!keep.o\nlogs/*.log\n**/cache/\ndocs/**/draft.md\n\\#odd\n\n  \ntmp?\n[ab].txt\n!*.md\ntarget/\n*.py[cod]\n/.env\n")
	put("sub/.gitignore", "*.gen\n!important.gen\n/only\n")
	put("target/.gitignore", "!*\n")
	put(".git/info/exclude", "private.txt\n")
	for _, name := range strings.Fields(`
		a.o keep.o x/a.o bin/tool x/bin/tool node_modules/p/i.js x/node_modules/p.js logs/a.log logs/deep/a.log x/logs/a.log cache/a x/cache/y/b
		docs/draft.md docs/a/draft.md docs/a/b/draft.md docs/final.md #odd tmp1 tmp12 a.txt b.txt c.txt x/a.txt README.md sub/a.gen
		sub/important.gen sub/only sub/deep/only sub/deep/a.gen target/debug/x x/target private.txt x/private.txt main.py main.pyc .env
		x/.env src/main.go
	`) {
		put(name, name)
	}
	want := strings.Split(strings.TrimRight(git("ls-files", "-z", "--others", "--ignored", "--exclude-standard"), "\x00"), "\x00")
	var got []string
	ignore := w.Ignore()
	inside := "" // an ignored folder
	if err := fs.WalkDir(w.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || name == ".":
			return err
		case name == ".git":
			return fs.SkipDir
		case inside != "" && strings.HasPrefix(name, inside+"/"):
		case !ignore.Has(t.Context(), name, d.IsDir()):
			return nil
		case d.IsDir():
			inside = name
		}
		if !d.IsDir() {
			got = append(got, name)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("ignored\n%q, git ignores\n%q", got, want)
	}
}
