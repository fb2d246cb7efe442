package file_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/tool"
	"chela/internal/tool/file"
)

// sum keeps content and returns its hash.
func (d *desk) sum(t *testing.T, content string) string {
	t.Helper()
	hash, err := d.blobs.Keep(t.Context(), []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func TestPreimages(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write(t, "old", "old\n")
	d.write(t, "run.sh", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(d.dir, "run.sh"), 0o750); err != nil {
		t.Fatal(err)
	}
	d.write(t, "linked", "linked\n")
	if err := os.Link(filepath.Join(d.dir, "linked"), filepath.Join(d.dir, "other")); err != nil {
		t.Fatal(err)
	}
	none := []chela.Preimage(nil)
	change := func(path, before, after string) chela.Preimage {
		p := chela.Preimage{Kind: chela.PreimageFile, Path: path}
		if before != "" {
			p.Before = d.sum(t, before)
		}
		if after != "" {
			p.After = d.sum(t, after)
		}
		return p
	}
	made, gone := change("a/b/new", "", "new"), change("run.sh", "#!/bin/sh\n", "")
	made.Made, gone.Mode = "a", 0o750
	for _, c := range []struct {
		name, tool string
		args       args
		want       []chela.Preimage
	}{
		{"a new file in new folders", "write_file", args{"path": "a/b/new", "content": "new"}, []chela.Preimage{made}},
		{"over another", "write_file", args{"path": "old", "content": "new"}, []chela.Preimage{change("old", "old\n", "new")}},
		{"the same again", "write_file", args{"path": "old", "content": "old\n"}, []chela.Preimage{change("old", "old\n", "old\n")}},
		{"what may lie outside too", "write_file", args{"path": "linked", "content": "x"}, none},
		{"outside", "write_file", args{"path": "../x", "content": "x"}, none},
		{"a folder", "write_file", args{"path": ".", "content": "x"}, none},
		{"a part", "apply_patch", args{"path": "old", "old_string": "old", "new_string": "new"}, []chela.Preimage{change("old", "old\n", "new\n")}},
		{"a patch that does not fit", "apply_patch", args{"path": "old", "old_string": "lost", "new_string": "new"}, none},
		{
			"several files", "apply_patch",
			args{"patch": "--- old\n+++ old\n@@\n-old\n+new\n--- run.sh\n+++ /dev/null\n@@\n-#!/bin/sh\n"},
			[]chela.Preimage{change("old", "old\n", "new\n"), gone},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := d.prepared(t, c.tool, c.args)
			if diff := cmp.Diff(c.want, got.Changes); diff != "" {
				t.Errorf("changes (-want +got)\n%s", diff)
			}
			for _, p := range got.Changes {
				for _, hash := range []string{p.Before, p.After} {
					if _, err := d.blobs.Bytes(t.Context(), hash); hash != "" && err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}

// TestWriteMeetsAnotherHand lets somebody write a file between the moment its
// content is kept and that in which it is replaced.
func TestWriteMeetsAnotherHand(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write(t, "a", "one")
	c := d.prepared(t, "write_file", args{"path": "a", "content": "two"})
	write, _ := d.set.Get("write_file")
	d.write(t, "a", "somebody's")
	if res, err := write.Run(t.Context(), c); err != nil || !res.Failed || d.read(t, "a") != "somebody's" {
		t.Errorf("got %+v, %v, and the file holds %q", res, err, d.read(t, "a"))
	}
	d.write(t, "a", "two") // as if it was written, and the process died
	if res, err := write.Run(t.Context(), c); err != nil || res.Failed {
		t.Errorf("repeated: got %+v, %v", res, err)
	}
}

func TestFileUndo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write(t, "changed", "new\n")
	d.write(t, "dir/made", "new\n")
	d.write(t, "meddled", "meddled\n")
	old, now := d.sum(t, "old\n"), d.sum(t, "new\n")
	written := func(p chela.Preimage) file.LastWrite {
		p.Kind = chela.PreimageFile
		return file.LastWrite{Preimage: p, Now: p.After}
	}
	d.written = map[string]file.LastWrite{
		"changed":  written(chela.Preimage{Path: "changed", Before: old, After: now}),
		"dir/made": written(chela.Preimage{Path: "dir/made", After: now, Made: "dir"}),
		"meddled":  written(chela.Preimage{Path: "meddled", Before: old, After: now}),
		"gone":     written(chela.Preimage{Path: "gone", Before: old, Mode: 0o700}),
	}
	d.want(t, "file_undo", args{"path": "/workspace/changed"}, "put /workspace/changed back as it was before")
	d.want(t, "file_undo", args{"path": "dir/made"}, "removed /workspace/dir/made, which did not exist before")
	d.want(t, "file_undo", args{"path": "gone"}, "put /workspace/gone back as it was before")
	d.wantFailed(t, "file_undo", args{"path": "unknown"}, "nothing was written to unknown")
	d.wantFailed(t, "file_undo", args{"path": "../secret.txt"}, "outside of the workspace")
	res := d.call(t, "file_undo", args{"path": "meddled"})
	if !res.Failed || !strings.Contains(res.Text, "\n-new\n+meddled\n") {
		t.Errorf("what was changed since is not shown: %+v", res)
	}
	for name, want := range map[string]string{"changed": "old\n", "gone": "old\n", "meddled": "meddled\n"} {
		if got := d.read(t, name); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	if info, err := os.Stat(filepath.Join(d.dir, "gone")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the mode is lost: %v, %v", info, err)
	}
	if _, err := os.Stat(filepath.Join(d.dir, "dir")); !os.IsNotExist(err) {
		t.Errorf("the folder that was made stays: %v", err)
	}
}

// TestStoreLater: trouble of the store is not for the model to learn from.
func TestStoreLater(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tool, args string
		broken     func(*file.Config)
	}{
		"write, kept": {"write_file", `{"path":"a","content":"new"}`, func(c *file.Config) {
			c.Keep = func(context.Context, []byte) (string, error) {
				return "", chela.E(chela.Denied, "blobs cannot be written")
			}
		}},
		"patch, kept": {"apply_patch", `{"path":"a","old_string":"old","new_string":"new"}`, func(c *file.Config) {
			c.Keep = func(context.Context, []byte) (string, error) { return "", chela.E(chela.Exhausted, "the disk is full") }
		}},
		"undo, written": {"file_undo", `{"path":"a"}`, func(c *file.Config) {
			c.Written = func(context.Context, chela.ThreadID, string) (file.LastWrite, error) {
				return file.LastWrite{}, chela.E(chela.Unavailable, "no database today")
			}
		}},
		"undo, bytes": {"file_undo", `{"path":"a"}`, func(c *file.Config) {
			c.Written = func(context.Context, chela.ThreadID, string) (file.LastWrite, error) {
				return file.LastWrite{Now: "other"}, nil
			}
			c.Bytes = func(context.Context, string) ([]byte, error) {
				return nil, chela.E(chela.Unavailable, "blobs cannot be read")
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.write(t, "a", "old\n")
			cfg := file.Config{Workspace: d.find, Keep: d.blobs.Keep, Bytes: d.blobs.Bytes}
			c.broken(&cfg)
			set, err := tool.NewSet(file.Tools(cfg)...)
			if err != nil {
				t.Fatal(err)
			}
			broken, _ := set.Get(c.tool)
			if _, err = broken.Prepare(t.Context(), chela.ToolCall{Tool: c.tool, Args: json.RawMessage(c.args)}); !errors.Is(err, chela.ErrLater) {
				t.Errorf("prepared: %v", err)
			}
		})
	}
}
