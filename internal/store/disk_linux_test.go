package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"chela"
	"chela/internal/store"
)

// mount makes dir a file system of its own that holds two megabytes. Only root
// may do that.
func mount(t *testing.T, dir string) {
	t.Helper()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m")
	if errors.Is(err, syscall.EPERM) {
		t.Skip("mounting a small disk needs root")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// TestFullDisk writes until the disk is full. What was told to be written is
// there, nothing else is, and after some space was freed writing goes on.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mount(t, dir)
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 300_000), 0o600); err != nil {
		t.Fatal(err)
	}
	place := store.Config{Path: filepath.Join(dir, "chela.db")}
	s := open(t, place)
	var written []chela.SessionKey
	var err error
	for n := 0; err == nil; n++ {
		key := chela.SessionKey(fmt.Sprintf("%06d", n))
		err = s.Write(t.Context(), "test", func(w *store.Write) error {
			session := chela.Session{Key: key, Agent: strings.Repeat("x", 1000)}
			return w.CreateSession(t.Context(), session, chela.ClassMain)
		})
		if err == nil {
			written = append(written, key)
		}
	}
	wantKinds(t, []error{err}, chela.Unavailable)
	if chela.HintOf(err) == "" {
		t.Errorf("no hint: %v", err)
	}
	wantKeys(t, s, written...)

	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(t.Context(), "test", create("after")); err != nil {
		t.Fatal(err)
	}
	wantKeys(t, s, append(written, "after")...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantKeys(t, open(t, place), append(written, "after")...)
}

// TestOpenOnFullDisk begins a database where there is no room for one, and
// again when there is.
func TestOpenOnFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mount(t, dir)
	place := store.Config{Path: filepath.Join(dir, "chela.db")}
	ballast := filepath.Join(dir, "ballast")
	for room := range 12 {
		size := 2<<20 - room*16<<10
		if err := os.WriteFile(ballast, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(t.Context(), place)
		if err == nil {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		} else if kind := chela.KindOf(err); kind != chela.Unavailable {
			t.Errorf("with %d kB free: error of kind %q: %v", room*16, kind, err)
		}
		if room == 0 && err == nil {
			t.Error("opened on a full disk")
		}
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	wantKeys(t, open(t, place))
}

// forbid makes a file or folder read-only: by its permissions, or by a mount
// for root, who may write everywhere else.
func forbid(t *testing.T, path string) {
	t.Helper()
	if os.Geteuid() != 0 {
		if err := os.Chmod(path, 0o500); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := os.Chmod(path, 0o700); err != nil {
				t.Error(err)
			}
		})
		return
	}
	err := syscall.Mount(path, path, "", syscall.MS_BIND, "")
	if errors.Is(err, syscall.EPERM) {
		t.Skip("mounting is not permitted here")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(path, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if err := syscall.Mount("", path, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := store.Config{Path: filepath.Join(dir, "old.db")}
	if err := open(t, old).Close(); err != nil {
		t.Fatal(err)
	}
	forbid(t, dir)
	for _, place := range []store.Config{old, {Path: filepath.Join(dir, "new.db")}} {
		if err := refuseToOpen(t, place, chela.Unavailable); chela.HintOf(err) == "" {
			t.Errorf("no hint: %v", err)
		}
	}
}

// TestReadOnlyFile has a database that can be read, and not written.
func TestReadOnlyFile(t *testing.T) {
	t.Parallel()
	place := sqlite.place(t)
	s := open(t, place)
	wantKinds(t, []error{s.Write(t.Context(), "test", create("a")), s.Close()}, "", "")
	forbid(t, place.Path)
	s = open(t, place)
	err := s.Write(t.Context(), "test", create("b"))
	wantKinds(t, []error{err}, chela.Unavailable)
	if chela.HintOf(err) == "" {
		t.Errorf("no hint: %v", err)
	}
	wantKeys(t, s, "a")
}

// allow takes back what forbid did.
func allow(t *testing.T, path string) {
	t.Helper()
	if os.Geteuid() != 0 {
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := syscall.Mount("", path, "", syscall.MS_BIND|syscall.MS_REMOUNT, ""); err != nil {
		t.Fatal(err)
	}
}

// TestReadOnlyFileIsWrittenLater: a database that was opened while it could not be
// written is written as soon as it can be, without another start.
func TestReadOnlyFileIsWrittenLater(t *testing.T) {
	t.Parallel()
	place := sqlite.place(t)
	s := open(t, place)
	wantKinds(t, []error{s.Write(t.Context(), "test", create("a")), s.Close()}, "", "")
	forbid(t, place.Path)
	s = open(t, place)
	for range 3 {
		wantKinds(t, []error{s.Write(t.Context(), "test", create("b"))}, chela.Unavailable)
	}
	allow(t, place.Path)
	wantKinds(t, []error{s.Write(t.Context(), "test", create("c")), s.Write(t.Context(), "test", create("d"))}, "", "")
	wantKeys(t, s, "a", "c", "d")
	wantKinds(t, []error{s.Close()}, "")
	wantKeys(t, open(t, place), "a", "c", "d")
}
