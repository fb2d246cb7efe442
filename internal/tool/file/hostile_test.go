//go:build unix

package file_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"chela"
)

// paths that lead out of a workspace in which link and dirlink point outside.
var outside = []string{
	"../secret.txt", "a/../../secret.txt", "/etc/passwd", "/workspace/../secret.txt", "/workspace/../../etc/passwd", "/", "/workspacex",
	"link", "dirlink/secret.txt", "abslink", "chain", "/proc/self/environ", "a\x00b", "dirlink/../../secret.txt",
}

// hostile returns a desk whose workspace is full of traps.
func hostile(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t)
	d.write(t, "a/file.txt", "inside\n")
	links := map[string]string{
		"link": "../secret.txt", "dirlink": "..", "abslink": filepath.Join(d.outside, "secret.txt"), "chain": "a/next", "a/next": "../link",
		"loop": "loop", "good": "a/file.txt",
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(d.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(d.outside, "secret.txt"), filepath.Join(d.dir, "hard.txt")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(d.dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestNothingLeadsOut(t *testing.T) {
	t.Parallel()
	d := hostile(t)
	for _, path := range outside {
		calls := map[string]args{
			"read_file":   {"path": path},
			"write_file":  {"path": path, "content": "broken"},
			"list_dir":    {"path": path},
			"glob":        {"pattern": "**", "path": path},
			"grep":        {"pattern": "secret", "path": path},
			"apply_patch": {"path": path, "old_string": "secret", "new_string": "broken"},
		}
		for name, a := range calls {
			if res := d.call(t, name, a); !res.Failed && path != "/" {
				t.Errorf("%s(%v) = %q, want a failure", name, a, res.Text)
			}
		}
	}
	diff := "--- /dev/null\n+++ ../new.txt\n@@ -0,0 +1 @@\n+x\n"
	d.wantFailed(t, "apply_patch", args{"patch": diff}, "outside of the workspace")
	d.wantFailed(t, "write_file", args{"path": "dirlink/new.txt", "content": "x"}, "leads out of the workspace")
	d.wantFailed(t, "write_file", args{"path": "dirlink/new/dir/x", "content": "x"}, "leads out of the workspace")
	d.wantFailed(t, "read_file", args{"path": "loop"}, "/workspace/loop")
	d.untouched(t)
	d.want(t, "read_file", args{"path": "good"}, "     1\tinside")
	d.wantFailed(t, "write_file", args{"path": "good", "content": "x"}, "/workspace/good is a symbolic link to a/file.txt; write to the file it leads to")
}

// untouched checks that nothing outside of the workspace changed.
func (d *desk) untouched(t *testing.T) {
	t.Helper()
	if got := d.read(t, "../secret.txt"); got != "top secret\n" {
		t.Errorf("the file outside holds %q", got)
	}
	entries, err := os.ReadDir(d.outside)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 {
		t.Errorf("there are %d entries outside, want the secret and the workspace", len(entries))
	}
}

func TestWalksSeeOnlyTheInside(t *testing.T) {
	t.Parallel()
	d := hostile(t)
	d.want(t, "grep", args{"pattern": "secret|inside"}, "/workspace/a/file.txt\n     1: inside\n[1 matches in 1 files; 1 files could not be read]")
	res := d.call(t, "list_dir", args{"recursive": true})
	if strings.Contains(res.Text, "secret") {
		t.Errorf("the listing goes through a link: %s", res.Text)
	}
	res = d.call(t, "glob", args{"pattern": "**/secret*"})
	if !strings.HasPrefix(res.Text, "[no file matches") {
		t.Errorf("glob goes through a link: %s", res.Text)
	}
}

func TestHardLinks(t *testing.T) {
	t.Parallel()
	d := hostile(t)
	d.wantFailed(t, "read_file", args{"path": "hard.txt"}, "/workspace/hard.txt has another hard link")
	d.wantFailed(t, "apply_patch", args{"path": "hard.txt", "old_string": "top", "new_string": "no"}, "has another hard link")
	d.want(t, "write_file", args{"path": "hard.txt", "content": "mine\n"}, "wrote /workspace/hard.txt: 5 bytes, 1 lines")
	d.untouched(t)
	d.want(t, "read_file", args{"path": "hard.txt"}, "     1\tmine")
}

func TestFIFOsDoNotHang(t *testing.T) {
	t.Parallel()
	d := hostile(t)
	began := time.Now()
	d.wantFailed(t, "read_file", args{"path": "fifo"}, "/workspace/fifo is a FIFO")
	d.wantFailed(t, "write_file", args{"path": "fifo", "content": "x"}, "is a FIFO")
	d.wantFailed(t, "apply_patch", args{"path": "fifo", "old_string": "a", "new_string": "b"}, "is a FIFO")
	d.wantFailed(t, "grep", args{"pattern": "x", "path": "fifo"}, "is a FIFO")
	d.call(t, "grep", args{"pattern": "x"})
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}

// swap exchanges what path is, between the two, until the returned function is
// called.
func swap(t *testing.T, path string, one, other func(path string) error) (stop func()) {
	t.Helper()
	done := make(chan struct{})
	var swapping sync.WaitGroup // waited for by stop
	swapping.Go(func() {
		spare := path + ".spare"
		for turn := 0; ; turn++ {
			select {
			case <-done:
				return
			default:
			}
			next := one
			if turn%2 == 1 {
				next = other
			}
			// Failures are part of the race.
			_ = os.RemoveAll(spare)
			_ = next(spare)
			_ = os.Remove(path)
			_ = os.RemoveAll(path)
			_ = os.Rename(spare, path)
		}
	})
	return func() { close(done); swapping.Wait() }
}

func TestLinksSwappedMeanwhile(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		one, other func(d *desk) func(string) error
	}{
		{"file and link", makeFile, makeLink("../secret.txt")},
		{"file and FIFO", makeFile, func(*desk) func(string) error {
			return func(path string) error { return syscall.Mkfifo(path, 0o644) }
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			stop := swap(t, filepath.Join(d.dir, "x"), tt.one(d), tt.other(d))

			for range 300 {
				d.race(t, "read_file", args{"path": "x"})
				d.race(t, "apply_patch", args{"path": "x", "old_string": "harmless", "new_string": "changed"})
				d.race(t, "write_file", args{"path": "x", "content": "changed"})
			}
			stop()

			if got := d.read(t, "../secret.txt"); got != "top secret\n" {
				t.Errorf("the file outside holds %q", got)
			}
		})
	}
}

func TestDirectoriesSwappedMeanwhile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	other := filepath.Join(d.outside, "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	folder := func(path string) error {
		if err := os.Mkdir(path, 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(path, "f"), []byte("harmless"), 0o644)
	}
	link := func(path string) error { return os.Symlink("../other", path) }
	stop := swap(t, filepath.Join(d.dir, "x"), folder, link)
	for range 300 {
		d.race(t, "write_file", args{"path": "x/f", "content": "changed"})
		d.race(t, "write_file", args{"path": "x/y/z/f", "content": "changed"})
		d.race(t, "list_dir", args{"path": "x", "recursive": true})
		d.race(t, "grep", args{"pattern": "."})
	}
	stop()
	entries, err := os.ReadDir(other)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 0 {
		t.Errorf("%d files were written outside", len(entries))
	}
}

func makeFile(*desk) func(string) error {
	return func(path string) error { return os.WriteFile(path, []byte("harmless"), 0o644) }
}

func makeLink(target string) func(*desk) func(string) error {
	return func(*desk) func(string) error {
		return func(path string) error { return os.Symlink(target, path) }
	}
}

// race makes a call whose outcome is open; only what must never be is checked.
func (d *desk) race(t *testing.T, name string, a args) {
	t.Helper()
	res, err := d.run(t, name, a)
	text := res.Text
	if err != nil {
		text = chela.MessageOf(err)
	}
	for _, never := range []string{d.outside, "top secret"} {
		if strings.Contains(text, never) {
			t.Errorf("%s(%v) shows %q: %s", name, a, never, text)
		}
	}
}
