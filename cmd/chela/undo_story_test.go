package main_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// backAndForth undoes, redoes and undoes again, and goes on from there.
func backAndForth(p *player, asks []string) {
	p.t.Helper()
	converse(p, asks[:2])
	insist(p, "threads", "undo", "2", "--key", "1")
	insist(p, "threads", "redo", "--key", "2")
	insist(p, "threads", "undo", "--key", "3")
	p.answers = append(p.answers, insist(p, "ask", "--message-id", "m2", asks[2]))
}

// backAndForthOverACommand undoes, redoes and undoes a command. The files in between
// tell whether it ran twice.
func backAndForthOverACommand(p *player, asks []string) {
	p.t.Helper()
	converse(p, asks[:2])
	ran := files(p)
	if strings.Count(ran["ledger"], "x") > 1 {
		p.t.Errorf("kills %v: the command ran twice", p.kills)
	}
	insist(p, "threads", "undo", "--key", "1")
	commandWentBack(p.t, p, nil, false)
	insist(p, "threads", "redo", "--key", "2")
	if diff := cmp.Diff(ran, files(p)); diff != "" {
		p.t.Errorf("kills %v: files after the redo (-want +got):\n%s", p.kills, diff)
	}
	insist(p, "threads", "undo", "--key", "3")
	p.answers = append(p.answers, insist(p, "ask", "--message-id", "m2", asks[2]))
}

// files returns the contents of the files of the workspace.
func files(p *player) map[string]string {
	p.t.Helper()
	return filesBelow(p.t, filepath.Join(p.home, "workspace", "main"))
}

// filesBelow returns the contents of the files below a folder.
func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(root, name)
		all[name] = string(raw)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return all
}

// commandWentBack looks at what undo left of the files that a command changed,
// created and deleted.
func commandWentBack(t *testing.T, p *player, _ *ledger, _ bool) {
	t.Helper()
	want := map[string]string{"d/a.txt": "one\n", "d/c.txt": "c\n"}
	if diff := cmp.Diff(want, files(p)); diff != "" {
		t.Errorf("kills %v: files after the undo (-want +got):\n%s", p.kills, diff)
	}
}

// insist repeats a command until it is not cut off, and returns what it printed.
func insist(p *player, args ...string) string {
	p.t.Helper()
	for try := 0; ; try++ {
		out := p.run(args...)
		switch {
		case out.cutOff() && try < 20:
		case out.code != 0:
			p.t.Fatalf("kills %v: %v ended with %d: %s", p.kills, args, out.code, out.stderr)
		default:
			return out.stdout
		}
	}
}

// wentBack looks at what undo left of the files of a story.
func wentBack(t *testing.T, p *player, _ *ledger, _ bool) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(p.home, "workspace", "main", "d", "a.txt"))
	if err != nil || string(raw) != "one\n" {
		t.Errorf("kills %v: a.txt holds %q, %v", p.kills, raw, err)
	}
	if _, err := os.Stat(filepath.Join(p.home, "workspace", "main", "new")); !os.IsNotExist(err) {
		t.Errorf("kills %v: what was undone is there: %v", p.kills, err)
	}
}

// cameTogether looks at what undo left, and at an answer that two hooks changed.
func cameTogether(t *testing.T, p *player, l *ledger, unknown bool) {
	t.Helper()
	wentBack(t, p, l, unknown)
	if want := "MARKED, card (a number).\n"; p.answers[1] != want {
		t.Errorf("kills %v: answered %q, want %q", p.kills, p.answers[1], want)
	}
}
