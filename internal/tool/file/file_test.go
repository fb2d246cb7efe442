package file_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/platform/datadir"
	"chela/internal/tool"
	"chela/internal/tool/file"
	"chela/internal/tool/tooltest"
	"chela/internal/tool/workspace"
)

// A desk is a workspace on disk with the tools that work in it. The folder
// around it holds what must not be reached.
type desk struct {
	dir     string // the workspace
	outside string // the folder that holds it
	set     *tool.Set
	blobs   *datadir.Blobs
	written map[string]file.LastWrite // what file_undo takes back
	quota   *workspace.Quota
}

func newDesk(t *testing.T) *desk { return newDeskWith(t, nil) }

func newDeskWith(t *testing.T, quota *workspace.Quota) *desk {
	t.Helper()
	outside := t.TempDir()
	d := &desk{dir: filepath.Join(outside, "ws"), outside: outside, quota: quota}
	if err := os.Mkdir(d.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	d.blobs = datadir.NewBlobs(t.TempDir())
	set, err := tool.NewSet(d.tools()...)
	if err != nil {
		t.Fatal(err)
	}
	d.set = set
	d.write(t, "../secret.txt", "top secret\n")
	return d
}

func (d *desk) find(ctx context.Context, o workspace.Owner) (workspace.Location, error) {
	return workspace.At(d.dir)(ctx, o)
}

func (d *desk) tools() []chela.Tool {
	return file.Tools(file.Config{
		Workspace: d.find, Quota: d.quota, Keep: d.blobs.Keep, Bytes: d.blobs.Bytes,
		Written: func(_ context.Context, _ chela.ThreadID, path string) (file.LastWrite, error) {
			w, ok := d.written[path]
			if !ok {
				return w, chela.E(chela.NotFound, "nothing was written to "+path)
			}
			return w, nil
		},
	})
}

// write makes a file; name is relative to the workspace.
func (d *desk) write(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join(d.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (d *desk) read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// call makes a call as the turn does, and checks that nothing of the host
// shows.
func (d *desk) call(t *testing.T, name string, args any) chela.ToolResult {
	t.Helper()
	res, err := d.run(t, name, args)
	if err != nil {
		t.Fatalf("%s(%v): %v", name, args, err)
	}
	if strings.Contains(res.Text, d.outside) {
		t.Errorf("%s(%v) shows the host's path: %s", name, args, res.Text)
	}
	if strings.Contains(res.Text, "top secret") {
		t.Errorf("%s(%v) shows what lies outside: %s", name, args, res.Text)
	}
	return res
}

func (d *desk) run(t *testing.T, name string, args any) (chela.ToolResult, error) {
	t.Helper()
	c := d.prepared(t, name, args)
	f, _ := d.set.Get(name)
	return f.Run(t.Context(), c)
}

// prepared returns a call that is about to run.
func (d *desk) prepared(t *testing.T, name string, args any) chela.ToolCall {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	checked, err := d.set.Check(name, raw)
	if err != nil {
		t.Fatal(err)
	}
	c := chela.ToolCall{ID: "call_1", Agent: "main", Tool: name, Args: checked}
	f, _ := d.set.Get(name)
	if f.Prepare != nil {
		prepared, err := f.Prepare(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		c.Intent, c.Changes = prepared.Intent, prepared.Changes
	}
	return c
}

type args map[string]any

func (d *desk) want(t *testing.T, name string, a args, want string) {
	t.Helper()
	res := d.call(t, name, a)
	if diff := cmp.Diff(chela.ToolResult{Text: want}, res); diff != "" {
		t.Errorf("%s(%v) (-want +got)\n%s", name, a, diff)
	}
}

func (d *desk) wantFailed(t *testing.T, name string, a args, want string) {
	t.Helper()
	res := d.call(t, name, a)
	if !res.Failed || !strings.Contains(res.Text, want) {
		t.Errorf("%s(%v) = %+v, want a failure with %q", name, a, res, want)
	}
}

func TestContract(t *testing.T) {
	t.Parallel()
	for i, name := range []string{"read_file", "write_file", "file_undo", "list_dir", "apply_patch", "glob", "grep"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.write(t, "a.txt", "a\nb\n")
			d.write(t, "dir/b.txt", "b\xff\n")
			tooltest.Check(t, d.tools()[i], d.outside, "top secret")
		})
	}
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write(t, "abc", "a\nb\nc\n")
	d.write(t, "crlf", "a\r\nb\r\n")
	d.write(t, "bom", "\uFEFFa\nb\r\nc")
	d.write(t, "empty", "")
	d.write(t, "binary", "\x7fELF\x00\x01")
	d.write(t, "utf16", "\xff\xfea\x00")
	d.write(t, "latin1", "caf\xe9\n")
	d.write(t, "wide", strings.Repeat("é", 4000)+"\nnext\n")
	d.write(t, "long", strings.Repeat("line\n", 3000))
	d.write(t, "big", strings.Repeat(strings.Repeat("x", 1000)+"\n", 400))

	d.want(t, "read_file", args{"path": "abc"}, "     1\ta\n     2\tb\n     3\tc")
	d.want(t, "read_file", args{"path": "/workspace/./x/../abc", "offset": 2, "limit": 1}, "     2\tb\n[there is more; go on with offset 3]")
	d.want(t, "read_file", args{"path": "crlf"}, "     1\ta\n     2\tb\n[lines end in CRLF]")
	d.want(t, "read_file", args{"path": "bom"}, "     1\ta\n     2\tb\n     3\tc\n[the file begins with a byte order mark; 1 of these lines end in CRLF; the last line has no line end]")
	d.want(t, "read_file", args{"path": "empty"}, "[the file is empty]")
	d.want(t, "read_file", args{"path": "latin1"}, "     1\tcaf\uFFFD\n[bytes that are not UTF-8 are shown as \uFFFD]")
	d.want(t, "read_file", args{"path": "wide"}, "     1\t"+strings.Repeat("é", 2048)+"… [3904 more bytes in this line]\n     2\tnext")
	d.wantFailed(t, "read_file", args{"path": "binary"}, "/workspace/binary is not text but binary (application/octet-stream), 6 bytes")
	d.wantFailed(t, "read_file", args{"path": "utf16"}, "is not text but UTF-16")
	d.wantFailed(t, "read_file", args{"path": "abc", "offset": 4}, "offset 4 is beyond the end: the file has 3 lines")
	d.wantFailed(t, "read_file", args{"path": "missing"}, "/workspace/missing does not exist")
	d.wantFailed(t, "read_file", args{"path": "."}, "/workspace is a directory; use list_dir")
	d.wantFailed(t, "read_file", args{"path": "abc/x"}, "goes through something that is not a directory")

	res := d.call(t, "read_file", args{"path": "long"})
	if !strings.HasSuffix(res.Text, "  2000\tline\n[there is more; go on with offset 2001]") {
		t.Errorf("a long file ends in %q", res.Text[len(res.Text)-80:])
	}
	res = d.call(t, "read_file", args{"path": "big"})
	if len(res.Text) > 260<<10 || !strings.HasSuffix(res.Text, "[cut after 256 KiB; go on with offset 261]") {
		t.Errorf("a big file gives %d bytes and ends in %q", len(res.Text), res.Text[len(res.Text)-80:])
	}
}

func TestWriteFile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.want(t, "write_file", args{"path": "a/b/c.txt", "content": "one\ntwo"}, "wrote /workspace/a/b/c.txt: 7 bytes, 2 lines")
	if got := d.read(t, "a/b/c.txt"); got != "one\ntwo" {
		t.Errorf("the file holds %q", got)
	}
	script := filepath.Join(d.dir, "run.sh")
	d.write(t, "run.sh", "old")
	if err := os.Chmod(script, 0o750); err != nil {
		t.Fatal(err)
	}
	d.want(t, "write_file", args{"path": "/workspace/run.sh", "content": ""}, "wrote /workspace/run.sh: 0 bytes, 0 lines")
	info, err := os.Stat(script)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o750 || info.Size() != 0 {
		t.Errorf("the file has mode %v and %d bytes, want its old mode and none", info.Mode(), info.Size())
	}
	d.wantFailed(t, "write_file", args{"path": "a", "content": "x"}, "/workspace/a is a directory")
	d.wantFailed(t, "write_file", args{"path": ".", "content": "x"}, "/workspace is a directory")
	d.wantFailed(t, "write_file", args{"path": "run.sh/x", "content": "x"}, "goes through something that is not a directory")
	d.wantFailed(t, "write_file", args{"path": strings.Repeat("x", 300), "content": "x"}, "has a name that is too long")
	d.wantFailed(t, "write_file", args{"path": "big", "content": strings.Repeat("x", 10<<20+1)}, "10485760 are allowed")
	d.noLeftovers(t)
}

// noLeftovers checks that nothing temporary stayed in the workspace.
func (d *desk) noLeftovers(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(d.dir, func(path string, _ os.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), ".chela-") {
			t.Errorf("%s was left behind", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestListDir(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.want(t, "list_dir", args{}, "[/workspace is empty]")
	d.write(t, "b.txt", "12345")
	d.write(t, "a/x.go", "")
	d.write(t, "a/deep/y.go", "")
	d.write(t, "odd\nname", "")
	for name, target := range map[string]string{"inside": "a/x.go", "up": "../secret.txt", "abs": d.outside, "gone": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(d.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	d.want(t, "list_dir", args{}, "/workspace:\na/\nabs -> (outside of the workspace)\nb.txt (5 bytes)\ngone -> nowhere\ninside -> a/x.go\n\"odd\\nname\" (0 bytes)\nup -> (outside of the workspace)")
	d.want(t, "list_dir", args{"path": "a"}, "/workspace/a:\ndeep/\nx.go (0 bytes)")
	d.want(t, "list_dir", args{"path": "/workspace/a", "recursive": true}, "/workspace/a:\ndeep/\n  y.go (0 bytes)\nx.go (0 bytes)")
	d.want(t, "list_dir", args{"path": "a", "recursive": true, "max_depth": 1}, "/workspace/a:\ndeep/\nx.go (0 bytes)")
	d.wantFailed(t, "list_dir", args{"path": "b.txt"}, "/workspace/b.txt is not a directory; use read_file")
	d.wantFailed(t, "list_dir", args{"path": "none"}, "/workspace/none does not exist")
	for i := range 1001 {
		d.write(t, fmt.Sprintf("many/%04d", i), "")
	}
	res := d.call(t, "list_dir", args{"path": "many"})
	if !strings.Contains(res.Text, "0999 (0 bytes)\n[cut after 1000 entries") {
		t.Errorf("a large directory ends in %q", res.Text[len(res.Text)-100:])
	}
}

func TestGlob(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for i, name := range []string{"a.go", "src/b.go", "src/deep/c.go", "src/deep/d.ts", "node_modules/e.go", ".git/f.go"} {
		d.write(t, name, "")
		changed := time.Date(2026, 1, i+1, 0, 0, 0, 0, time.UTC)
		if err := os.Chtimes(filepath.Join(d.dir, name), changed, changed); err != nil {
			t.Fatal(err)
		}
	}
	d.want(t, "glob", args{"pattern": "*.go"}, "/workspace/a.go")
	d.want(t, "glob", args{"pattern": "**/*.go"}, "/workspace/src/deep/c.go\n/workspace/src/b.go\n/workspace/a.go")
	d.want(t, "glob", args{"pattern": "/workspace/src/**"}, "/workspace/src/deep/d.ts\n/workspace/src/deep/c.go\n/workspace/src/b.go")
	d.want(t, "glob", args{"pattern": "**/*.{go,ts}", "path": "src/deep"}, "/workspace/src/deep/d.ts\n/workspace/src/deep/c.go")
	d.want(t, "glob", args{"pattern": "src/*/c.g?"}, "/workspace/src/deep/c.go")
	d.want(t, "glob", args{"pattern": "*.go", "path": "node_modules"}, "/workspace/node_modules/e.go")
	d.want(t, "glob", args{"pattern": "*.rs"}, `[no file matches "*.rs" under /workspace]`)
	d.want(t, "glob", args{"pattern": strings.Repeat("**/a*", 30) + "/x"}, `[no file matches "`+strings.Repeat("**/a*", 30)+`/x" under /workspace]`)
	d.wantFailed(t, "glob", args{"pattern": ""}, "pattern: it is empty")
	d.wantFailed(t, "glob", args{"pattern": "[a"}, "malformed")
	d.wantFailed(t, "glob", args{"pattern": "{a"}, "a } is missing")
	d.wantFailed(t, "glob", args{"pattern": strings.Repeat("{a,b}", 20)}, "more than 100 patterns")
	d.wantFailed(t, "glob", args{"pattern": "../*"}, "cannot have ..")
	d.wantFailed(t, "glob", args{"pattern": "*", "path": "/etc"}, "outside of the workspace")
}

func TestGrep(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write(t, "a.go", "package a\n\nfunc One() {}\n\n\n\n\nfunc Two() {}\n")
	d.write(t, "sub/b.txt", "\uFEFFfunc (x)\r\nnone\n")
	d.write(t, "bin", "func \x00")
	d.write(t, ".git/c", "func")
	d.want(t, "grep", args{"pattern": `^func \w+`}, "/workspace/a.go\n     3: func One() {}\n     8: func Two() {}\n[2 matches in 1 files]")
	d.want(t, "grep", args{"pattern": "func (", "literal": true}, "/workspace/sub/b.txt\n     1: func (x)\n[1 matches in 1 files]")
	d.want(t, "grep", args{"pattern": "FUNC", "ignore_case": true, "files_only": true}, "/workspace/a.go\n/workspace/sub/b.txt")
	d.want(t, "grep", args{"pattern": "func", "include": "*.txt"}, "/workspace/sub/b.txt\n     1: func (x)\n[1 matches in 1 files]")
	d.want(t, "grep", args{"pattern": "func", "path": "a.go", "around": 1}, "/workspace/a.go\n     2- \n     3: func One() {}\n     4- \n  ⋮\n     7- \n     8: func Two() {}\n[2 matches in 1 files]")
	d.want(t, "grep", args{"pattern": "nothing"}, "[no line matches]")
	d.wantFailed(t, "grep", args{"pattern": "("}, "set literal to search")
	d.wantFailed(t, "grep", args{"pattern": "x", "path": "none"}, "/workspace/none does not exist")
	d.wantFailed(t, "grep", args{"pattern": strings.Repeat("x", 1001)}, "1000 are allowed")
	d.write(t, "many", strings.Repeat("hit\n", 500))
	res := d.call(t, "grep", args{"pattern": "hit"})
	if !strings.HasSuffix(res.Text, "   200: hit\n[cut after 200 matches in 1 files; narrow the search with path or include]") {
		t.Errorf("many matches end in %q", res.Text[len(res.Text)-100:])
	}
	d.write(t, "min.js", strings.Repeat("é", 1<<20)+"x\n")
	d.want(t, "grep", args{"pattern": "é", "path": "min.js"}, "/workspace/min.js\n     1: "+strings.Repeat("é", 150)+"…\n[1 matches in 1 files]")
}
