package workspace_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chela"
	"chela/internal/safety"
	"chela/internal/tool/workspace"
)

// TestOpenAt: paths below /roots are in the root of that name, others in the workspace,
// and none leads from a root elsewhere.
func TestOpenAt(t *testing.T) {
	t.Parallel()
	dir, lib := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{filepath.Join(dir, "a"): "mine", filepath.Join(lib, "a"): "theirs"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "a"), filepath.Join(lib, "link")); err != nil {
		t.Fatal(err)
	}
	find := workspace.Finder(func(context.Context, workspace.Owner) (workspace.Location, error) {
		return workspace.Location{Dir: dir, Roots: []workspace.Root{
			{Name: "lib", Location: workspace.Location{Dir: lib}}, {Name: "gone", Location: workspace.Location{Dir: filepath.Join(lib, "none")}},
		}}, nil
	})
	read := func(p string) (string, error) {
		ws, name, err := find.OpenAt(t.Context(), workspace.Owner{}, p)
		if err != nil {
			return "", err
		}
		defer ws.Close() // read only
		content, _, err := ws.Read(t.Context(), name, 100)
		return string(content), err
	}
	for p, want := range map[string]string{"a": "mine", "/workspace/a": "mine", "/roots/lib/a": "theirs", "../roots/lib/./a": "theirs"} {
		if got, err := read(p); got != want || err != nil {
			t.Errorf("%s holds %q, %v", p, got, err)
		}
	}
	for p, want := range map[string]chela.Kind{
		"/roots": chela.NotFound, "/roots/other/a": chela.NotFound, "/roots/lib/../other/a": chela.NotFound, "/roots/gone/a": chela.Unavailable,
		"/roots/lib/none": chela.NotFound, "/roots/lib/link": chela.Denied, "/roots/lib/../../etc/passwd": chela.Denied, "/roots/lib": chela.Invalid,
	} {
		if got, err := read(p); chela.KindOf(err) != want {
			t.Errorf("%s holds %q, %v, want %s", p, got, err, want)
		} else if strings.Contains(chela.MessageOf(err), lib) || !strings.Contains(chela.MessageOf(err), "/roots") && !strings.Contains(p, "..") {
			t.Errorf("%s: the error %v does not name the path of the model only", p, err)
		}
	}
	if _, err := workspace.Clean("/roots/lib/a"); chela.KindOf(err) != chela.Denied || !strings.Contains(err.Error(), "can only be read") {
		t.Errorf("a write to a root: %v", err)
	}
}

// labelled are the labels of files by workspace and path.
type labelled map[string][]string

func (l labelled) FileLabels(_ context.Context, name string) (all []chela.FileLabel, _ error) {
	for _, path := range l[name] {
		all = append(all, chela.FileLabel{Workspace: name, Path: path, Provenance: safety.Outside(name + ":" + path)})
	}
	return all, nil
}

// TestNeighbours: a file has one label, through whichever workspace it is read.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	store := labelled{
		"main":      {"site/a.go", "site/sub/b.go", "other/c.go", chela.EveryFile + "call"},
		"main/site": {"a.go", "sub"},
		"main/sub":  {"b.go", "."},
	}
	dirs := map[string]string{"main": "/code", "main/site": "/code/site", "main/sub": "/code/site/sub", "main/site2": "/code/site2"}
	every := chela.EveryFile + "call"
	for name, want := range map[string]string{
		"main":       "site/a.go site/sub/b.go other/c.go " + every + " site/a.go site/sub site/sub/b.go site/sub",
		"main/site":  "a.go sub a.go sub/b.go " + every + " sub/b.go sub",
		"main/sub":   "b.go . b.go " + every + " .",
		"main/site2": every,
		"twin":       "a.go sub/b.go " + every + " a.go sub sub/b.go sub",
	} {
		at := workspace.Location{Dir: dirs[name], Name: name}
		if name == "twin" {
			at.Dir = dirs["main/site"]
		}
		for _, other := range []string{"main", "main/site", "main/sub", "main/site2"} {
			if n, ok := workspace.Meet(at.Dir, other, dirs[other]); ok && other != name {
				at.Neighbours = append(at.Neighbours, n)
			}
		}
		labels, err := at.FileLabels(t.Context(), store)
		var got []string
		for _, l := range labels {
			got = append(got, l.Path)
		}
		if strings.Join(got, " ") != want || err != nil {
			t.Errorf("%s has labels of %q, want %q, error %v", name, got, want, err)
		}
	}
}
