package file_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
)

func TestReplaceString(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write(t, "a.go", "one\ntwo\nthree\ntwo\n")
	d.write(t, "crlf", "one\r\ntwo\r\n")
	replace := func(path, old, new string) args { return args{"path": path, "old_string": old, "new_string": new} }
	d.want(t, "apply_patch", replace("a.go", "one\ntwo", "1\n2\n2.5"), "changed /workspace/a.go: 5 lines, 4 before")
	d.want(t, "apply_patch", args{"path": "a.go", "old_string": "t", "new_string": "T", "replace_all": true}, "changed /workspace/a.go: 5 lines, 5 before")
	if diff := cmp.Diff("1\n2\n2.5\nThree\nTwo\n", d.read(t, "a.go")); diff != "" {
		t.Errorf("a.go (-want +got)\n%s", diff)
	}
	d.want(t, "apply_patch", replace("crlf", "one\ntwo", "1\n2"), "changed /workspace/crlf: 2 lines, 2 before")
	if diff := cmp.Diff("1\r\n2\r\n", d.read(t, "crlf")); diff != "" {
		t.Errorf("crlf (-want +got)\n%s", diff)
	}
	d.wantFailed(t, "apply_patch", replace("a.go", "T", "x"), "old_string is in the file 2 times, first in lines 4, 5; add text around it, or set replace_all")
	d.wantFailed(t, "apply_patch", replace("a.go", "2.5\nThree\nfour", "x"), "old_string is not in the file; the nearest place is line 3, where 2 of 3 lines are alike. The file has there:\n     3\t2.5\n     4\tThree\n     5\tTwo\nNothing was changed.")
	d.wantFailed(t, "apply_patch", replace("a.go", "", "x"), "old_string is empty")
	d.wantFailed(t, "apply_patch", replace("a.go", "1", "1"), "nothing would change")
	d.wantFailed(t, "apply_patch", replace("none", "1", "2"), "/workspace/none does not exist")
	d.wantFailed(t, "apply_patch", args{"path": "a.go", "old_string": "1"}, "give path, old_string and new_string, or a patch")
	d.wantFailed(t, "apply_patch", args{}, "give path, old_string and new_string, or a patch")
	d.wantFailed(t, "apply_patch", args{"path": "a.go", "patch": "x"}, "not both")
}

// bundle changes a, makes n, deletes o and moves m to p.
const bundle = `diff --git a/a b/a
--- a/a
+++ b/a
@@ -1 +1 @@
-a
+A
--- /dev/null
+++ b/dir/n
@@ -0,0 +1 @@
+n
--- a/o
+++ /dev/null
@@ -1 +0,0 @@
-o
diff --git a/m b/p
rename from m
rename to p
--- a/m
+++ b/p
@@ -1 +1 @@
-m
+p
`

const bundleReport = "changed /workspace/a: 1 lines, 1 before\nmade /workspace/dir/n: 1 lines\ndeleted /workspace/o\ndeleted /workspace/m\nmade /workspace/p: 1 lines"

func bundleDesk(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t)
	for _, name := range []string{"a", "o", "m"} {
		d.write(t, name, name+"\n")
	}
	return d
}

// files returns the content of all files of the workspace by name.
func (d *desk) files(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(d.dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			name, _ := filepath.Rel(d.dir, path)
			found[name] = d.read(t, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var bundleAfter = map[string]string{"a": "A\n", "dir/n": "n\n", "p": "p\n"}

func TestPatchSeveralFiles(t *testing.T) {
	t.Parallel()
	d := bundleDesk(t)
	d.want(t, "apply_patch", args{"patch": bundle}, bundleReport)
	if diff := cmp.Diff(bundleAfter, d.files(t)); diff != "" {
		t.Errorf("files (-want +got)\n%s", diff)
	}
}

func TestPatchIsAllOrNothing(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, d *desk){
		"hunk does not fit":   func(t *testing.T, d *desk) { d.write(t, "m", "other\n") },
		"file is gone":        func(t *testing.T, d *desk) { remove(t, d, "o") },
		"target exists":       func(t *testing.T, d *desk) { d.write(t, "p", "p\n") },
		"more than deleted":   func(t *testing.T, d *desk) { d.write(t, "o", "o\nmore\n") },
		"not a text file":     func(t *testing.T, d *desk) { d.write(t, "m", "m\n\x00") },
		"parent is no folder": func(t *testing.T, d *desk) { d.write(t, "dir", "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := bundleDesk(t)
			spoil(t, d)
			before := d.files(t)
			if res := d.call(t, "apply_patch", args{"patch": bundle}); !res.Failed {
				t.Errorf("got %+v, want a failure", res)
			}
			if diff := cmp.Diff(before, d.files(t)); diff != "" {
				t.Errorf("files (-want +got)\n%s", diff)
			}
		})
	}
}

func remove(t *testing.T, d *desk, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(d.dir, name)); err != nil {
		t.Fatal(err)
	}
}

// TestHappened cuts the call off after each of its steps and lets the resume
// decide.
func TestHappened(t *testing.T) {
	t.Parallel()
	steps := []func(t *testing.T, d *desk){
		func(t *testing.T, d *desk) { d.write(t, "a", "A\n") },
		func(t *testing.T, d *desk) { d.write(t, "dir/n", "n\n") },
		func(t *testing.T, d *desk) { d.write(t, "p", "p\n") },
		func(t *testing.T, d *desk) { remove(t, d, "o") },
		func(t *testing.T, d *desk) { remove(t, d, "m") },
	}
	for done := range len(steps) + 1 {
		d := bundleDesk(t)
		call := d.prepared(t, "apply_patch", args{"patch": bundle})
		for _, step := range steps[:done] {
			step(t, d)
		}
		f, _ := d.set.Get("apply_patch")
		res, err := f.Happened(t.Context(), call)
		if err != nil {
			t.Fatalf("after %d steps: %v", done, err)
		}
		if done == 0 {
			if res != nil {
				t.Errorf("nothing was done, but Happened returned %+v", res)
			}
			continue
		}
		if diff := cmp.Diff(&chela.ToolResult{Text: bundleReport}, res); diff != "" {
			t.Errorf("after %d steps (-want +got)\n%s", done, diff)
		}
		if diff := cmp.Diff(bundleAfter, d.files(t)); diff != "" {
			t.Errorf("files after %d steps (-want +got)\n%s", done, diff)
		}
	}
}

func TestHappenedCannotTell(t *testing.T) {
	t.Parallel()
	d := bundleDesk(t)
	call := d.prepared(t, "apply_patch", args{"patch": bundle})
	d.write(t, "a", "somebody else\n")
	f, _ := d.set.Get("apply_patch")
	if res, err := f.Happened(t.Context(), call); chela.KindOf(err) != chela.Conflict {
		t.Errorf("got %+v, %v; want a Conflict error", res, err)
	}
	if res, err := f.Run(t.Context(), call); err != nil || !res.Failed {
		t.Errorf("Run after the files changed: got %+v, %v; want a failed result", res, err)
	}
}

// TestRefusedPatchStaysRefused makes the patch fit after it was refused: as no
// hashes were stored, applying it now could not be resumed.
func TestRefusedPatchStaysRefused(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]args{
		"does not fit": {"path": "a", "old_string": "later", "new_string": "x"},
		"no file":      {"path": "none", "old_string": "later", "new_string": "x"},
	} {
		d := bundleDesk(t)
		call := d.prepared(t, "apply_patch", a)
		d.write(t, a["path"].(string), "later")
		f, _ := d.set.Get("apply_patch")
		if res, err := f.Happened(t.Context(), call); res != nil || err != nil {
			t.Errorf("%s: Happened = %+v, %v; want nothing", name, res, err)
		}
		if res, err := f.Run(t.Context(), call); err != nil || !res.Failed {
			t.Errorf("%s: Run = %+v, %v; want a failed result", name, res, err)
		}
		if got := d.read(t, a["path"].(string)); got != "later" {
			t.Errorf("%s: the file holds %q", name, got)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	tests := []struct {
		tool string
		args args
		want chela.Judgement
	}{
		{"read_file", args{"path": "a/../b"}, chela.Judgement{Effect: chela.EffectRead, Subjects: []string{"/workspace/b"}}},
		{"read_file", args{"path": "../x"}, chela.Judgement{Effect: chela.EffectRead, Subjects: []string{"../x"}}},
		{"grep", args{"pattern": "x"}, chela.Judgement{Effect: chela.EffectRead, Subjects: []string{"/workspace"}}},
		{"write_file", args{"path": "b", "content": "x\n"}, chela.Judgement{
			Effect: chela.EffectWrite, Resume: chela.ResumeRepeat, Subjects: []string{"/workspace/b"}, Preview: "write /workspace/b, 2 bytes:\nx\n",
		}},
		{"apply_patch", args{"path": "b", "old_string": "x", "new_string": "y"}, chela.Judgement{
			Effect: chela.EffectWrite, Resume: chela.ResumeQuery, Subjects: []string{"/workspace/b"},
			Preview: "--- /workspace/b\n+++ /workspace/b\n@@ -1 +1 @@\n-x\n+y\n",
		}},
		{"apply_patch", args{"patch": bundle}, chela.Judgement{
			Effect: chela.EffectWrite, Resume: chela.ResumeQuery, Preview: bundle,
			Subjects: []string{"/workspace/a", "/workspace/dir/n", "/workspace/o", "/workspace/m", "/workspace/p"},
		}},
	}
	for _, tt := range tests {
		call := d.prepared(t, tt.tool, tt.args)
		f, _ := d.set.Get(tt.tool)
		if diff := cmp.Diff(tt.want, f.Judge(call.Args)); diff != "" {
			t.Errorf("%s(%v) (-want +got)\n%s", tt.tool, tt.args, diff)
		}
	}
}

// Whatever writes, moves or removes a file that programs obey is asked about each
// time, and names it.
func TestJudgeObeyedFiles(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	const hook = ".git/hooks/pre-commit"
	for name, c := range map[string]struct {
		tool string
		args args
	}{
		"write":              {"write_file", args{"path": "a/../" + hook, "content": "x"}},
		"write absolute":     {"write_file", args{"path": "/workspace/" + hook, "content": "x"}},
		"undo":               {"file_undo", args{"path": hook}},
		"replace":            {"apply_patch", args{"path": hook, "old_string": "x", "new_string": "y"}},
		"patch":              {"apply_patch", args{"patch": "--- a/" + hook + "\n+++ b/" + hook + "\n@@ -1 +1 @@\n-x\n+y\n"}},
		"patch that makes":   {"apply_patch", args{"patch": "--- /dev/null\n+++ b/" + hook + "\n@@ -0,0 +1 @@\n+y\n"}},
		"patch that ends":    {"apply_patch", args{"patch": "--- a/" + hook + "\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"}},
		"patch that moves":   {"apply_patch", args{"patch": "diff --git a/x b/" + hook + "\nsimilarity index 100%\nrename from x\nrename to " + hook + "\n"}},
		"patch not readable": {"apply_patch", args{"path": hook}},
	} {
		f, _ := d.set.Get(c.tool)
		call := d.prepared(t, c.tool, c.args)
		j := f.Judge(call.Args)
		if !strings.Contains(j.Risk, "/workspace/"+hook+" (version control)") && name != "patch not readable" || !j.Exact {
			t.Errorf("%s: %+v", name, j)
		}
	}
}
