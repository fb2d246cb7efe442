package datadir_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/platform/datadir"
)

func TestReadTellsTheNewestLines(t *testing.T) {
	t.Parallel()
	numbered := func(n int, line string) (lines []string) {
		for i := range n {
			lines = append(lines, fmt.Sprintf("%d %s", i, line))
		}
		return lines
	}
	short, long := numbered(3, "short"), numbered(20, strings.Repeat("y", 50_000))
	huge := strings.Repeat("é", 100_000)
	for name, tt := range map[string]struct {
		log  string
		want []string
	}{
		"none":                        {"", nil},
		"a few":                       {"0 short\n1 short\n2 short\n", short},
		"an empty one":                {"a\n\nb\n", []string{"a", "", "b"}},
		"one that is not whole":       {"whole\nnot who", []string{"whole"}},
		"the last 256 KiB":            {strings.Join(long, "\n") + "\n", long[15:]},
		"one longer than 64 KiB":      {huge + "\nnext\n", []string{huge[:64<<10], huge[64<<10 : 128<<10], huge[128<<10 : 192<<10], huge[192<<10:], "next"}},
		"one longer than what counts": {strings.Repeat("z", 300<<10) + "\nnext\n", []string{"next"}},
		"not the end of the only one": {strings.Repeat("z", 300<<10), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "chela.log")
			if err := os.WriteFile(path, []byte(tt.log), 0o600); err != nil {
				t.Fatal(err)
			}
			var got []string
			err := datadir.ReadLog(t.Context(), path, false, func(line string) { got = append(got, line) })
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("lines, %v (-want +got)\n%s", err, diff)
			}
		})
	}
}

func TestReadWithoutALog(t *testing.T) {
	t.Parallel()
	if err := datadir.ReadLog(t.Context(), home(t), false, func(line string) { t.Errorf("read %q", line) }); err != nil {
		t.Errorf("a log that is not there yet: %v", err)
	}
	dir := t.TempDir()
	if err := datadir.ReadLog(t.Context(), dir, false, func(string) {}); chela.KindOf(err) != chela.Unavailable {
		t.Errorf("a folder: %v", err)
	}
}

// A follower reads a log in a bubble, where time is what the test makes it.
type follower struct {
	t    *testing.T
	path string
	told []string
}

// follow follows the log at path while test runs.
func follow(t *testing.T, path string, test func(f *follower)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &follower{t: t, path: path}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { // the test waits for it below
			ended <- datadir.ReadLog(ctx, path, true, func(line string) { f.told = append(f.told, line) })
		}()
		synctest.Wait()
		test(f)
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("follow: %v", err)
		}
	})
}

// hears checks what was told since the last time, after a while.
func (f *follower) hears(want ...string) {
	f.t.Helper()
	<-time.After(time.Second)
	synctest.Wait()
	if diff := cmp.Diff(want, f.told); diff != "" {
		f.t.Errorf("told (-want +got)\n%s", diff)
	}
	f.told = nil
}

func TestFollow(t *testing.T) {
	t.Parallel()
	path := home(t)
	follow(t, path, func(f *follower) {
		f.hears()
		l := datadir.NewLog(path)
		log(t, l, "one")
		log(t, l, "two")
		f.hears("one", "two")
		if _, err := l.Write([]byte("not yet ")); err != nil {
			t.Fatal(err)
		}
		f.hears()
		log(t, l, "whole")
		f.hears("not yet whole")
		f.hears()
	})
}

// TestFollowOverARotation tells what came before it and what came after, also
// what came between two looks.
func TestFollowOverARotation(t *testing.T) {
	t.Parallel()
	path := home(t)
	fill(t, path)
	follow(t, path, func(f *follower) {
		<-time.After(time.Second)
		f.told = nil // what was there
		old, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer old.Close()
		if _, err := old.WriteString("last of the old\n"); err != nil {
			t.Fatal(err)
		}
		log(t, datadir.NewLog(path), "first of the new")
		f.hears("last of the old", "first of the new")
	})
}

// TestFollowAfterACut goes on with what is written into a log that was emptied.
func TestFollowAfterACut(t *testing.T) {
	t.Parallel()
	path := home(t)
	l := datadir.NewLog(path)
	log(t, l, "a line that was there before")
	follow(t, path, func(f *follower) {
		f.hears("a line that was there before")
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		log(t, l, "after")
		f.hears("after")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		f.hears()
		log(t, l, "made anew")
		f.hears("made anew")
	})
}
