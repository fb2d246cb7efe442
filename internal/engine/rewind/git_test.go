package rewind_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
)

// A repository is a world whose workspace is a repository with a commit.
type repository struct{ *shellWorld }

func newRepository(t *testing.T) repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	r := repository{newShellWorld(t)}
	r.git(t, "init", "-q", "-b", "main")
	r.put(t, "a", "one")
	r.put(t, "b", "one")
	r.git(t, "add", ".")
	r.git(t, "commit", "-q", "-m", "first")
	return r
}

func (r repository) git(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// state describes the repository as its owner sees it.
func (r repository) state(t *testing.T) string {
	t.Helper()
	return r.git(t, "rev-parse", "HEAD", "main") + "\n" + r.git(t, "branch", "--show-current") + "\n" + r.git(t, "status", "--porcelain")
}

// commit is a turn in which a command commits.
func (r repository) commit(t *testing.T) {
	t.Helper()
	r.command(t, chela.CallDone, func() {
		r.put(t, "a", "two")
		r.put(t, "new", "two")
		r.git(t, "add", ".")
		r.git(t, "commit", "-q", "-m", "second")
	})
}

// TestUndoOfACommit: undo takes a commit of a command back, and redo brings it back,
// although Git refreshed its index in between.
func TestUndoOfACommit(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	before := r.state(t)
	r.commit(t)
	after := r.state(t)
	look := func() { // as programs do that show the state of a repository
		t.Helper()
		index := filepath.Join(r.dir, ".git", "index")
		was, err := os.ReadFile(index)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(r.dir, "b"), at, at); err != nil {
			t.Fatal(err)
		}
		r.git(t, "status")
		if is, err := os.ReadFile(index); err != nil || string(is) == string(was) {
			t.Fatal("the index was not refreshed", err)
		}
	}
	look()
	v, err := r.Undo(t.Context(), r.thread, 1, api.RewindOptions{})
	moved(t, v, err)
	if len(v.NotUndone) > 0 {
		t.Errorf("not undone: %+v", v.NotUndone)
	}
	want(t, "state", before, r.state(t))
	v, err = r.Redo(t.Context(), r.thread, api.RewindOptions{})
	moved(t, v, err)
	want(t, "state", after, r.state(t))
	r.git(t, "fsck", "--strict")
}

// TestUndoBesideStagedFiles: an index that people changed stays, and the undo tells.
func TestUndoBesideStagedFiles(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	first := r.git(t, "rev-parse", "HEAD")
	r.commit(t)
	r.put(t, "theirs", "three")
	r.git(t, "add", "theirs")
	v, err := r.Undo(t.Context(), r.thread, 1, api.RewindOptions{})
	moved(t, v, err)
	want(t, "HEAD", first, r.git(t, "rev-parse", "HEAD"))
	want(t, "staged", "three", r.git(t, "show", ":theirs"))
	var told bool
	for _, n := range v.NotUndone {
		told = told || strings.Contains(n.Text, "/workspace/.git/index was changed since")
	}
	if !told {
		t.Errorf("not undone: %+v", v.NotUndone)
	}
}

// TestUndoBelowTheirCommit: an undo is refused if it would take a commit of people's
// away.
func TestUndoBelowTheirCommit(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit(t)
	r.git(t, "commit", "-q", "--allow-empty", "-m", "theirs")
	before := r.state(t)
	_, err := r.Undo(t.Context(), r.thread, 1, api.RewindOptions{})
	want(t, "kind", chela.Conflict, chela.KindOf(err))
	want(t, "state", before, r.state(t))
}
