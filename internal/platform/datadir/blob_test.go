package datadir_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/platform/datadir"
)

func TestKeep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := datadir.NewBlobs(dir)
	for _, content := range [][]byte{nil, []byte("hello"), []byte("hello"), {0, 1, 0xff}} {
		hash, err := s.Keep(t.Context(), content)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Bytes(t.Context(), hash)
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s holds %q, %v; want %q", hash, got, err, content)
		}
	}
	kept, err := os.ReadDir(dir)
	if err != nil || len(kept) != 3 {
		t.Errorf("%d files are kept (%v), want 3", len(kept), err)
	}
}

// TestKeepMends keeps a content again of which a loss of power left a part.
func TestKeepMends(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := datadir.NewBlobs(dir)
	hash, err := s.Keep(t.Context(), []byte("hello"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, hash), []byte("he"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Keep(t.Context(), []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Bytes(t.Context(), hash); string(got) != "hello" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestBytesThatAreNotKept(t *testing.T) {
	t.Parallel()
	s := datadir.NewBlobs(t.TempDir())
	for name, want := range map[string]chela.Kind{
		strings.Repeat("a", 64):  chela.NotFound,
		strings.Repeat("A", 64):  chela.Internal,
		"../../../../etc/passwd": chela.Internal,
		"":                       chela.Internal,
	} {
		if _, err := s.Bytes(t.Context(), name); chela.KindOf(err) != want {
			t.Errorf("%q is of kind %q, want %q", name, chela.KindOf(err), want)
		}
	}
}

// TestBytesThatCannotBeRead are not taken for gone: somebody may try again.
func TestBytesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hash := strings.Repeat("a", 64)
	s := datadir.NewBlobs(dir)
	if err := os.Mkdir(filepath.Join(dir, hash), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Bytes(t.Context(), hash); chela.KindOf(err) != chela.Unavailable {
		t.Errorf("bytes: %v", err)
	}
	inFile := datadir.NewBlobs(filepath.Join(dir, "file"))
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := inFile.Kept(t.Context(), "", "", hash); chela.KindOf(err) != chela.Unavailable {
		t.Errorf("kept: %v", err)
	}
}

func TestAttach(t *testing.T) {
	t.Parallel()
	s := datadir.NewBlobs(t.TempDir())
	a, err := s.Attach(t.Context(), "some/page.html", strings.NewReader("<html>"))
	if err != nil {
		t.Fatal(err)
	}
	want := chela.Attachment{Name: "page.html", MediaType: "text/html", SHA256: a.SHA256, Size: 6}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Errorf("attachment (-want +got)\n%s", diff)
	}
	if got, err := s.Load(t.Context(), a); string(got) != "<html>" {
		t.Errorf("got %q, %v", got, err)
	}
	again, err := s.Kept(t.Context(), "", "text/html", a.SHA256)
	if want.Name = a.SHA256[:12]; err != nil || again != want {
		t.Errorf("kept as %+v, %v; want %+v", again, err, want)
	}
	if _, err := s.Kept(t.Context(), "", "", strings.Repeat("0", 64)); chela.KindOf(err) != chela.NotFound {
		t.Errorf("bytes that were never sent: %v", err)
	}
}

func TestFolderThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	s := datadir.NewBlobs(filepath.Join(t.TempDir(), "missing"))
	if _, err := s.Keep(t.Context(), []byte("hello")); chela.KindOf(err) != chela.Unavailable || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
