package workspace_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/tool/workspace"
)

// open returns a workspace and its folder.
func open(t *testing.T) (*workspace.Workspace, string) {
	t.Helper()
	dir := t.TempDir()
	w, err := workspace.At(dir).Open(t.Context(), workspace.Owner{Agent: "main"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w, dir
}

func TestClean(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path, want string
		kind       chela.Kind
	}{
		{"a", "a", ""},
		{"", ".", ""},
		{".", ".", ""},
		{"./a//b/", "a/b", ""},
		{"a/../b", "b", ""},
		{"/workspace", ".", ""},
		{"/workspace/", ".", ""},
		{"/workspace/a", "a", ""},
		{"//workspace//a", "a", ""},
		{"workspace/a", "workspace/a", ""},
		{"..a/...", "..a/...", ""},
		{`a\..\b`, `a\..\b`, ""},
		{"..", "", chela.Denied},
		{"a/../../b", "", chela.Denied},
		{"/workspace/..", "", chela.Denied},
		{"/workspacex/a", "", chela.Denied},
		{"/etc/passwd", "", chela.Denied},
		{"/", "", chela.Denied},
		{"a\x00", "", chela.Invalid},
		{"a\xff", "", chela.Invalid},
		{strings.Repeat("a", 5000), "", chela.Invalid},
	}
	for _, tt := range tests {
		got, err := workspace.Clean(tt.path)
		if got != tt.want || chela.KindOf(err) != tt.kind {
			t.Errorf("Clean(%.40q) = %q, %v; want %q and kind %q", tt.path, got, err, tt.want, tt.kind)
		}
		if err == nil && workspace.Subject(tt.path) != workspace.Show(got) {
			t.Errorf("Subject(%q) = %q, want %q", tt.path, workspace.Subject(tt.path), workspace.Show(got))
		}
	}
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	fault := errors.New("fault")
	for name, find := range map[string]workspace.Finder{
		"no folder": workspace.At(filepath.Join(t.TempDir(), "none")),
		"a fault":   func(context.Context, workspace.Owner) (workspace.Location, error) { return workspace.Location{}, fault },
	} {
		if _, err := find.Open(t.Context(), workspace.Owner{Agent: "main"}); chela.KindOf(err) != chela.Internal {
			t.Errorf("%s: got %v, want an Internal error", name, err)
		}
	}
}

func TestWriteTakesBackWhatItDid(t *testing.T) {
	t.Parallel()
	w, dir := open(t)
	for name, mode := range map[string]os.FileMode{"a": 0o640, "gone": 0o600} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	// The second deletion finds nothing to delete, after all else was done.
	err := w.Write(t.Context(), "call",
		workspace.Change{Name: "a", Content: []byte("new")},
		workspace.Change{Name: "b", Content: []byte("new")},
		workspace.Change{Name: "gone", Delete: true},
		workspace.Change{Name: "gone", Delete: true},
	)
	if chela.KindOf(err) != chela.NotFound {
		t.Fatalf("got %v, want a NotFound error", err)
	}
	got := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		got[e.Name()] = info.Mode().String() + " " + string(content)
	}
	if diff := cmp.Diff(map[string]string{"a": "-rw-r----- a", "gone": "-rw------- gone"}, got); diff != "" {
		t.Errorf("files (-want +got)\n%s", diff)
	}
}

func TestWriteStopsBeforeTheFirstChange(t *testing.T) {
	t.Parallel()
	w, dir := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Write(ctx, "call", workspace.Change{Name: "a", Content: []byte("x")}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("there are %v, %v; want nothing", entries, err)
	}
}

// TestLeftovers plants a link under the name of the temporary file, as a run
// that was cut off, or somebody hostile, may have left something there.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("top secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, dir := open(t)
	// The first change of a call "call" is written under this name.
	sum := sha256.Sum256([]byte("call 0"))
	temp := filepath.Join(dir, workspace.TempPrefix+hex.EncodeToString(sum[:8])+".new")
	for _, plant := range []func() error{
		func() error { return os.Symlink(outside, temp) },
		func() error { return os.WriteFile(temp, []byte("half of it"), 0o600) },
	} {
		if err := plant(); err != nil {
			t.Fatal(err)
		}
		if err := w.Write(t.Context(), "call", workspace.Change{Name: "a", Content: []byte("new")}); err != nil {
			t.Fatal(err)
		}
		if content, err := os.ReadFile(outside); err != nil || string(content) != "top secret" {
			t.Errorf("the file outside holds %q, %v", content, err)
		}
		if content, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(content) != "new" {
			t.Errorf("the file holds %q, %v", content, err)
		}
		if _, err := os.Lstat(temp); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left, %v", temp, err)
		}
	}
}

func TestReadIsBounded(t *testing.T) {
	t.Parallel()
	w, dir := open(t)
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if content, _, err := w.Read(t.Context(), "a", 5); err != nil || string(content) != "12345" {
		t.Errorf("got %q, %v", content, err)
	}
	if _, _, err := w.Read(t.Context(), "a", 4); chela.KindOf(err) != chela.Exhausted {
		t.Errorf("got %v, want an Exhausted error", err)
	}
}

// TestPutBackLeavesWhatOthersWrote: only what is as it was before is changed.
func TestPutBackLeavesWhatOthersWrote(t *testing.T) {
	t.Parallel()
	sum := func(text string) string { return workspace.PathState{Exists: true, Content: []byte(text)}.Sum() }
	for name, c := range map[string]struct {
		is, want string
		kind     chela.Kind
	}{
		"as it was before": {"new", "old", ""},
		"back already":     {"old", "old", ""},
		"something else":   {"mine", "mine", chela.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, dir := open(t)
			file := filepath.Join(dir, "a")
			if err := os.WriteFile(file, []byte(c.is), 0o600); err != nil {
				t.Fatal(err)
			}
			p := chela.Preimage{Kind: chela.PreimageFile, Path: "a", Before: sum("new"), After: sum("old")}
			if err := w.PutBack(t.Context(), "key", p, []byte("old")); chela.KindOf(err) != c.kind {
				t.Errorf("put back: %v, want kind %q", err, c.kind)
			}
			if got, err := os.ReadFile(file); string(got) != c.want {
				t.Errorf("it holds %q, %v; want %q", got, err, c.want)
			}
		})
	}
}
