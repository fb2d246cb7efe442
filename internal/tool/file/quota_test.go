package file_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"chela/internal/tool/file"
	"chela/internal/tool/workspace"
)

const mib = 1 << 20

// gone checks that a file is not there.
func (d *desk) gone(t *testing.T, name string) {
	t.Helper()
	if _, err := os.Lstat(filepath.Join(d.dir, name)); !os.IsNotExist(err) {
		t.Errorf("%s is there: %v", name, err)
	}
}

// addition is a patch that makes a file of n bytes.
func addition(name string, n int) string {
	return fmt.Sprintf("--- /dev/null\n+++ b/%s\n@@ -0,0 +1 @@\n+%s\n", name, strings.Repeat("x", n-1))
}

// TestQuota: no tool writes beyond the quota, which counts what commands wrote, and
// all may still delete and shrink.
func TestQuota(t *testing.T) {
	t.Parallel()
	d := newDeskWith(t, &workspace.Quota{Size: 3 * mib, Files: 1000})
	const refused = "it would exceed the 3 MiB of sandbox.workspace_mib; delete files that are not needed"
	two, most := strings.Repeat("x", 2*mib), strings.Repeat("x", 5*mib/2)
	d.call(t, "write_file", args{"path": "a", "content": most})
	d.wantFailed(t, "write_file", args{"path": "new/b", "content": two}, refused)
	d.gone(t, "new")
	d.wantFailed(t, "apply_patch", args{"patch": addition("new/b", mib-1000)}, refused)
	d.gone(t, "new")
	d.want(t, "write_file", args{"path": "a", "content": most}, "wrote /workspace/a: 2621440 bytes, 1 lines") // the same again
	d.want(t, "write_file", args{"path": "c", "content": "small\n"}, "wrote /workspace/c: 6 bytes, 1 lines")
	d.write(t, "by a command", two)
	d.wantFailed(t, "write_file", args{"path": "d", "content": "small\n"}, refused)
	d.wantFailed(t, "write_file", args{"path": "d", "content": "small\n"}, "the workspace holds 4 MiB")
	d.want(t, "write_file", args{"path": "a", "content": "less\n"}, "wrote /workspace/a: 5 bytes, 1 lines")
	d.want(t, "apply_patch", args{"patch": "--- a/c\n+++ /dev/null\n@@ -1 +0,0 @@\n-small\n"}, "deleted /workspace/c")
	d.want(t, "write_file", args{"path": "d", "content": "small\n"}, "wrote /workspace/d: 6 bytes, 1 lines")
	if err := os.Remove(filepath.Join(d.dir, "by a command")); err != nil {
		t.Fatal(err)
	}
	d.want(t, "write_file", args{"path": "e", "content": two}, "wrote /workspace/e: 2097152 bytes, 1 lines")
}

// TestQuotaOfUndo: a large file comes back only if there is room for it.
func TestQuotaOfUndo(t *testing.T) {
	t.Parallel()
	d := newDeskWith(t, &workspace.Quota{Size: 3 * mib, Files: 1000})
	two := strings.Repeat("x", 2*mib)
	d.write(t, "a", two)
	c := d.prepared(t, "write_file", args{"path": "a", "content": "less\n"})
	f, _ := d.set.Get("write_file")
	if res, err := f.Run(t.Context(), c); err != nil || res.Failed {
		t.Fatalf("%+v, %v", res, err)
	}
	d.written = map[string]file.LastWrite{"a": {Preimage: c.Changes[0], Now: c.Changes[0].After}}
	d.write(t, "by a command", two)
	d.wantFailed(t, "file_undo", args{"path": "a"}, "sandbox.workspace_mib")
	if got := d.read(t, "a"); got != "less\n" {
		t.Errorf("the file holds %d bytes", len(got))
	}
	if err := os.Remove(filepath.Join(d.dir, "by a command")); err != nil {
		t.Fatal(err)
	}
	d.want(t, "file_undo", args{"path": "a"}, "put /workspace/a back as it was before")
}

// TestQuotaOfFiles: folders count, and so does a file with two names once.
func TestQuotaOfFiles(t *testing.T) {
	t.Parallel()
	d := newDeskWith(t, &workspace.Quota{Size: mib, Files: 5}) // the workspace is one of them
	const refused = "the workspace holds 4 files and directories, and with this it would exceed the 5 of sandbox.workspace_files"
	d.call(t, "write_file", args{"path": "a/b/c", "content": "c"})
	if err := os.Link(filepath.Join(d.dir, "a/b/c"), filepath.Join(d.dir, "a/b/d")); err != nil {
		t.Fatal(err)
	}
	d.wantFailed(t, "write_file", args{"path": "e/f", "content": "f"}, refused)
	d.gone(t, "e")
	d.call(t, "write_file", args{"path": "a/f", "content": "f"})
	d.wantFailed(t, "write_file", args{"path": "a/g", "content": "g"}, "sandbox.workspace_files")
	d.want(t, "write_file", args{"path": "a/f", "content": "more\n"}, "wrote /workspace/a/f: 5 bytes, 1 lines")
}

// TestQuotaAtOnce: writers at the same time do not exceed it together.
func TestQuotaAtOnce(t *testing.T) {
	t.Parallel()
	d := newDeskWith(t, &workspace.Quota{Size: 3 * mib, Files: 1000})
	var all sync.WaitGroup
	for n := range 8 {
		c := d.prepared(t, "write_file", args{"path": fmt.Sprint("f", n), "content": strings.Repeat("x", mib)})
		f, _ := d.set.Get("write_file")
		all.Go(func() {
			if _, err := f.Run(t.Context(), c); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	used, err := workspace.Measure(t.Context(), d.dir)
	if err != nil || used.Bytes > 3*mib || used.Files < 2 {
		t.Errorf("the workspace takes up %+v: %v", used, err)
	}
}

// TestQuotaOfManyFiles: a large workspace is not measured for each write, but before
// a write is refused.
func TestQuotaOfManyFiles(t *testing.T) {
	t.Parallel()
	d := newDeskWith(t, &workspace.Quota{Size: 1000 * mib, Files: 10_003})
	for n := range 10_000 {
		if err := os.WriteFile(filepath.Join(d.dir, fmt.Sprint(n)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(name string) {
		t.Helper()
		if err := os.Remove(filepath.Join(d.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name string) {
		t.Helper()
		d.want(t, "write_file", args{"path": name, "content": "x\n"}, "wrote /workspace/"+name+": 2 bytes, 1 lines")
	}
	write("a") // 10,002 with the workspace itself
	write("b") // 10,003, which is not measured
	remove("1")
	write("c")
	d.wantFailed(t, "write_file", args{"path": "d", "content": "x\n"}, "sandbox.workspace_files")
	remove("2")
	write("d")
}
