package datadir_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"chela"
	"chela/internal/platform/datadir"
)

const full = 8 << 20 // bytes of a log that is set aside

// home returns where a log may be.
func home(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "logs", "chela.log")
}

// log writes one line.
func log(t *testing.T, f *datadir.Log, line string) {
	t.Helper()
	if n, err := f.Write([]byte(line + "\n")); err != nil || n != len(line)+1 {
		t.Fatalf("wrote %d bytes of %d: %v", n, len(line)+1, err)
	}
}

// fill makes the log at path larger than may be.
func fill(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Repeat(strings.Repeat("x", 1023)+"\n", full>>10+1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// contents returns what is in a file.
func contents(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestFirstLineMakesTheFile(t *testing.T) {
	t.Parallel()
	path := home(t)
	f := datadir.NewLog(path)
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("there is a folder before there is a line")
	}
	log(t, f, "one")
	log(t, datadir.NewLog(path), "two")
	log(t, f, "three")
	if got := contents(t, path); got != "one\ntwo\nthree\n" {
		t.Errorf("the log is %q", got)
	}
	for _, made := range []string{path, filepath.Dir(path)} {
		if st, err := os.Stat(made); err != nil || st.Mode().Perm()&0o077 != 0 {
			t.Errorf("others may read %s: %v, %v", made, st.Mode(), err)
		}
	}
}

func TestLargeLogIsSetAside(t *testing.T) {
	t.Parallel()
	path := home(t)
	fill(t, path)
	for range 2 {
		f := datadir.NewLog(path)
		log(t, f, "first")
		log(t, f, "second")
	}
	if got := contents(t, path); got != strings.Repeat("first\nsecond\n", 2) {
		t.Errorf("the new log is %q", got)
	}
	if st, err := os.Stat(path + ".1"); err != nil || st.Size() <= full {
		t.Errorf("the old log: %v, %v", st, err)
	}

	fill(t, path)
	log(t, datadir.NewLog(path), "anew")
	if got := contents(t, path+".1"); strings.Contains(got, "second") {
		t.Error("the log before the old one is there still")
	}
}

// TestLogSetAsideWhileItIsOpen is not written to any more, whoever has it open.
func TestLogSetAsideWhileItIsOpen(t *testing.T) {
	t.Parallel()
	path := home(t)
	idle, busy := datadir.NewLog(path), datadir.NewLog(path)
	log(t, idle, "before")
	line := strings.Repeat("x", 1<<10)
	for range full>>10 + 1 {
		log(t, busy, line)
	}
	log(t, idle, "idle after")
	log(t, busy, "busy after")
	if got := contents(t, path); !strings.HasSuffix(got, "idle after\nbusy after\n") || len(got) > 64<<10 {
		t.Errorf("the new log has %d bytes: %.100q", len(got), got)
	}
	if got := contents(t, path+".1"); !strings.HasPrefix(got, "before\n") || strings.Contains(got, "after") {
		t.Error("the old log has not what was written before, or what was written after")
	}
}

// TestSeveralWriters write whole lines, each into one of two files.
func TestSeveralWriters(t *testing.T) {
	t.Parallel()
	path := home(t)
	const writers, lines = 4, 2500 // of 1 KiB: one file is not enough, and two are
	var wait sync.WaitGroup
	for w := range writers {
		f := datadir.NewLog(path)
		wait.Go(func() {
			for n := range lines {
				line := fmt.Sprintf("%d %d %s\n", w, n, strings.Repeat("x", 1000))
				if _, err := f.Write([]byte(line)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	next := map[int]int{}
	for line := range strings.Lines(contents(t, path+".1") + contents(t, path)) {
		var w, n int
		var rest string
		if _, err := fmt.Sscanf(line, "%d %d %s", &w, &n, &rest); err != nil || len(rest) != 1000 {
			t.Fatalf("a line is %.40q: %v", line, err)
		}
		if n != next[w] {
			t.Fatalf("writer %d: line %d comes where %d should", w, n, next[w])
		}
		next[w]++
	}
	for w := range writers {
		if next[w] != lines {
			t.Errorf("writer %d: %d lines, want %d", w, next[w], lines)
		}
	}
}

func TestLogThatCannotBeMade(t *testing.T) {
	t.Parallel()
	path := home(t)
	if err := os.WriteFile(filepath.Dir(path), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := datadir.NewLog(path).Write([]byte("lost\n")); err == nil || n != 0 {
		t.Errorf("wrote %d bytes into nothing", n)
	}
	err := datadir.ReadLog(t.Context(), path, false, func(line string) { t.Errorf("read %q", line) })
	if chela.KindOf(err) != chela.Denied {
		t.Errorf("read it: %v", err)
	}
}
