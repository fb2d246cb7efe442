package rewind_test

import (
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/tool/snapshot"
	"chela/internal/tool/workspace"
)

// A shellWorld is a world with commands that are captured.
type shellWorld struct {
	*world
	snapshots *snapshot.Snapshots
	ran       int
}

func newShellWorld(t testing.TB) *shellWorld {
	t.Helper()
	s := &shellWorld{world: newWorld(t)}
	s.fresh()
	return s
}

// fresh forgets what a process holds in memory.
func (s *shellWorld) fresh() {
	s.snapshots = snapshot.New(snapshot.Config{
		Dir: filepath.Join(s.home, "snapshots"), Keep: s.blobs.Keep, Bytes: s.blobs.Bytes, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
}

// command carries out a turn with a command that changes the workspace.
func (s *shellWorld) command(t testing.TB, state chela.CallState, do func()) []chela.Preimage {
	t.Helper()
	ws, err := workspace.At(s.dir).Open(t.Context(), workspace.Owner{Agent: "main"})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	s.ran++
	call := chela.ToolCall{ID: chela.CallID(fmt.Sprint("call_", s.ran))}
	call.Changes = []chela.Preimage{s.snapshots.Before(t.Context(), ws, call, false)}
	do()
	if state == chela.CallUnknown { // another process looks
		s.fresh()
	}
	seen, err := s.snapshots.After(t.Context(), ws, call)
	if err != nil {
		t.Fatal(err)
	}
	s.say(t, "run", act{tool: "shell", effect: chela.EffectExecute, state: state, seen: seen.Changes})
	return seen.Changes
}

// picture describes all of a folder: kinds, modes, contents and targets.
func picture(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		switch {
		case info.IsDir():
			all[name] = info.Mode().String()
		case info.Mode()&fs.ModeSymlink != 0:
			all[name], err = os.Readlink(path)
			all[name] = "-> " + all[name]
		case info.Mode().IsRegular():
			var raw []byte
			raw, err = os.ReadFile(path)
			all[name] = info.Mode().String() + string(raw)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// mischief changes something of a folder by chance. Errors are part of it.
func mischief(r *rand.Rand, dir string) {
	names := []string{"a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "f", "f/a", "f/g"}
	at := func() string { return filepath.Join(dir, names[r.IntN(len(names))]) }
	switch path := at(); r.IntN(9) {
	case 0, 1:
		_ = os.WriteFile(path, fmt.Append(nil, r.IntN(1000), "\x00\xff"), 0o600|fs.FileMode(r.IntN(64)))
	case 2:
		_ = os.RemoveAll(path)
	case 3:
		_ = os.Rename(path, at())
	case 4:
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink == 0 {
			_ = os.Chmod(path, 0o700|fs.FileMode(r.IntN(64)))
		}
	case 5:
		_ = os.Symlink([]string{"a", "/etc", "../x", "gone"}[r.IntN(4)], path)
	case 6:
		_ = os.MkdirAll(path, 0o750)
	case 7:
		_ = os.Remove(path)
	case 8:
		_ = os.Link(path, at())
	}
}

// TestCommandsComeBack: whatever commands do to files, folders, links and modes,
// undo and redo restore all of it, also when the process died during the command.
func TestCommandsComeBack(t *testing.T) {
	t.Parallel()
	for seed := range uint64(24) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 7))
			s := newShellWorld(t)
			past := []map[string]string{picture(t, s.dir)}
			for range 6 {
				state := []chela.CallState{chela.CallDone, chela.CallFailed, chela.CallUnknown}[r.IntN(3)]
				s.command(t, state, func() {
					for range 1 + r.IntN(8) {
						mischief(r, s.dir)
					}
				})
				past = append(past, picture(t, s.dir))
			}
			for range 3 {
				n := 1 + r.IntN(len(past)-1)
				v, err := s.Undo(t.Context(), s.thread, n, api.RewindOptions{})
				moved(t, v, err)
				want(t, fmt.Sprint("after the undo of ", n), past[len(past)-1-n], picture(t, s.dir))
				v, err = s.Redo(t.Context(), s.thread, api.RewindOptions{})
				moved(t, v, err)
				want(t, fmt.Sprint("after the redo of ", n), past[len(past)-1], picture(t, s.dir))
			}
		})
	}
}

// TestCommandLeavesOut: changes that cannot be undone are told with their number
// and an example, and stay.
func TestCommandLeavesOut(t *testing.T) {
	t.Parallel()
	s := newShellWorld(t)
	s.put(t, ".gitignore", "*.log\nout/\n!keep.log\n")
	s.put(t, "a.log", "1")
	s.put(t, "keep.log", "1")
	s.put(t, ".env", "1")
	s.put(t, "out/o", "1")
	s.put(t, "grows", "1")
	s.command(t, chela.CallDone, func() {
		s.put(t, "a.log", "2")
		s.put(t, "keep.log", "2")
		s.put(t, ".env", "2")
		s.put(t, "out/o", "2")
		s.put(t, "out/p", "2")
		s.put(t, "node_modules/x", "2")
		s.put(t, "big", strings.Repeat("b", 10<<20))
		s.put(t, "bigger", strings.Repeat("b", 10<<20+1))
		s.put(t, "grows", strings.Repeat("b", 10<<20+1))
		if err := syscall.Mkfifo(filepath.Join(s.dir, "fifo"), 0o600); err != nil {
			t.Error(err)
		}
	})
	v, err := s.Undo(t.Context(), s.thread, 1, api.RewindOptions{})
	moved(t, v, err)
	var left []string
	for _, n := range v.NotUndone {
		left = append(left, n.Text)
	}
	text := strings.Join(left, "\n")
	for _, part := range []string{
		"2 paths over 10 MiB, such as /workspace/bigger", "1 path left out by ignore rules, such as /workspace/a.log",
		"/workspace/node_modules", "1 path for a special file, or with a name that is not text, such as /workspace/fifo",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not told:\n%s", part, text)
		}
	}
	if err := os.Remove(filepath.Join(s.dir, "fifo")); err != nil { // reading it would wait
		t.Error(err)
	}
	files := s.files(t)
	for name, content := range map[string]string{"a.log": "2", "keep.log": "1", ".env": "1", "out/o": "2", "node_modules/x": "2"} {
		if files[name] != content {
			t.Errorf("%s holds %q, want %q", name, files[name], content)
		}
	}
	if _, there := files["big"]; there {
		t.Error("a file of 10 MiB stays")
	}
}

// TestCommandChangedSince: an undo refuses to overwrite what others changed after a
// command.
func TestCommandChangedSince(t *testing.T) {
	t.Parallel()
	for name, meddle := range map[string]func(dir string) error{
		"content": func(dir string) error { return os.WriteFile(filepath.Join(dir, "a"), []byte("theirs"), 0o600) },
		"mode":    func(dir string) error { return os.Chmod(filepath.Join(dir, "a"), 0o644) },
		"gone":    func(dir string) error { return os.Remove(filepath.Join(dir, "a")) },
		"target": func(dir string) error {
			l := filepath.Join(dir, "l")
			if err := os.Remove(l); err != nil {
				return err
			}
			return os.Symlink("theirs", l)
		},
		"another kind": func(dir string) error { return os.Mkdir(filepath.Join(dir, "b"), 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShellWorld(t)
			s.put(t, "a", "one")
			s.put(t, "b", "one")
			s.command(t, chela.CallDone, func() {
				s.put(t, "a", "two")
				if err := os.Remove(filepath.Join(s.dir, "b")); err != nil {
					t.Error(err)
				}
				if err := os.Symlink("a", filepath.Join(s.dir, "l")); err != nil {
					t.Error(err)
				}
			})
			if err := meddle(s.dir); err != nil {
				t.Fatal(err)
			}
			before := picture(t, s.dir)
			_, err := s.Undo(t.Context(), s.thread, 1, api.RewindOptions{})
			want(t, "kind", chela.Conflict, chela.KindOf(err))
			want(t, "files", before, picture(t, s.dir))
		})
	}
}

// BenchmarkCommand measures the snapshots around a command in a folder with 50,000
// files, which may take 100 ms before it, and the undo of 100 changed files, which
// may take 1 s. "stat" is a walk of the same folder by the standard library.
func BenchmarkCommand(b *testing.B) {
	s := newShellWorld(b)
	for i := range 500 {
		dir := filepath.Join(s.dir, fmt.Sprint("d", i%50), fmt.Sprint("e", i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			b.Fatal(err)
		}
		for j := range 100 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("file", j, ".go")), []byte(strings.Repeat(fmt.Sprintln(i, j), 100)), 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	ws, err := workspace.At(s.dir).Open(b.Context(), workspace.Owner{Agent: "main"})
	if err != nil {
		b.Fatal(err)
	}
	defer ws.Close()
	for cold := range 5 {
		began := time.Now()
		p := s.snapshots.Before(b.Context(), ws, chela.ToolCall{ID: "cold"}, false)
		b.Logf("cold snapshot %d: %v, %s %s", cold, time.Since(began), p.Before, p.Why)
	}
	b.Run("stat", func(b *testing.B) {
		for b.Loop() {
			err := filepath.WalkDir(s.dir, func(_ string, d fs.DirEntry, err error) error {
				if err == nil {
					_, err = d.Info()
				}
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("before", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.snapshots.Before(b.Context(), ws, chela.ToolCall{ID: "warm"}, false)
		}
	})
	b.Run("before in a new process", func(b *testing.B) {
		for b.Loop() {
			s.fresh()
			s.snapshots.Before(b.Context(), ws, chela.ToolCall{ID: "new"}, false)
		}
	})
	b.Run("undo", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			b.StopTimer()
			s.command(b, chela.CallDone, func() {
				for j := range 100 {
					s.put(b, fmt.Sprintf("d0/e0/file%d.go", j), fmt.Sprint("changed", i))
				}
			})
			b.StartTimer()
			if v, err := s.Undo(b.Context(), s.thread, 1, api.RewindOptions{}); err != nil || len(v.Changes) != 100 {
				b.Fatal(len(v.Changes), err)
			}
		}
	})
}
