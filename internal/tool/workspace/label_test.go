package workspace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"chela"
	"chela/internal/platform/datadir"
	"chela/internal/safety"
	"chela/internal/tool/snapshot"
	"chela/internal/tool/workspace"
)

// shelf is a store of labels.
type shelf struct {
	all    []chela.FileLabel
	broken error
}

func (s *shelf) FileLabels(context.Context, string) ([]chela.FileLabel, error) {
	return slices.Clone(s.all), s.broken
}

func (s *shelf) AddFileLabels(_ context.Context, labels ...chela.FileLabel) error {
	if s.broken != nil {
		return s.broken
	}
	for _, l := range labels {
		if !slices.ContainsFunc(s.all, func(o chela.FileLabel) bool { return o.Path == l.Path }) {
			s.all = append(s.all, l)
		}
	}
	return nil
}

func (s *shelf) RemoveFileLabel(_ context.Context, _, path string) error {
	if s.broken != nil {
		return s.broken
	}
	s.all = slices.DeleteFunc(s.all, func(l chela.FileLabel) bool { return l.Path == path })
	return nil
}

// desk has labelled tools over a folder.
type desk struct {
	*testing.T
	dir   string
	shelf shelf
	do    func() // what a call does
	watch *snapshot.Snapshots
}

// A use is a call of a tool.
type use struct {
	file    string // none for a command
	effect  chela.Effect
	network bool
	from    chela.Provenance // the label of the prompt
}

// tool returns the tool of a use.
func (d *desk) tool(u use) chela.Tool {
	t := chela.Tool{
		Name: "tool", Own: true,
		Judge: func(json.RawMessage) chela.Judgement {
			j := chela.Judgement{Effect: u.effect, Carries: u.network}
			if u.file != "" {
				j.Subjects = []string{workspace.Subject(u.file)}
			}
			return j
		},
		Run: func(context.Context, chela.ToolCall) (chela.ToolResult, error) {
			d.do()
			return chela.ToolResult{Text: "done"}, nil
		},
	}
	find := workspace.At(d.dir)
	return workspace.Labelled(find, &d.shelf, func() time.Time { return time.Unix(0, 0) }, d.watch)(t)
}

// call returns the label of the result of a call.
func (d *desk) call(u use) chela.Provenance {
	d.Helper()
	if d.watch == nil {
		blobs := datadir.NewBlobs(d.TempDir())
		d.watch = snapshot.New(snapshot.Config{Dir: d.TempDir(), Keep: blobs.Keep, Bytes: blobs.Bytes, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	}
	labelled := d.tool(u)
	call := chela.ToolCall{ID: "call_1", Tool: "tool", Agent: "main", Session: "agent:main:main", Provenance: u.from}
	prepared, err := labelled.Prepare(d.Context(), call)
	if err != nil {
		d.Fatal(err)
	}
	call.Changes = prepared.Changes
	res, err := labelled.Run(d.Context(), call)
	if err != nil || res.Text != "done" {
		d.Fatalf("%+v: %+v, %v", u, res, err)
	}
	return res.Provenance
}

func (d *desk) put(name string) {
	path := filepath.Join(d.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(name), 0o600)); err != nil {
		d.Error(err)
	}
}

var page = safety.Outside("https://x.example/page")

// TestFilesKeepLabels: a file that was written after text from outside brings that
// label to every call that may read it, and to no other.
func TestFilesKeepLabels(t *testing.T) {
	t.Parallel()
	d := &desk{T: t, dir: t.TempDir(), do: func() {}}
	d.put("in/own.txt")
	clean := func(file string, effect chela.Effect) bool {
		t.Helper()
		return !d.call(use{file: file, effect: effect, from: safety.Own()}).BelowFolder()
	}
	if !clean("in/own.txt", chela.EffectRead) || !clean("", chela.EffectExecute) {
		t.Error("files of the owner have a label")
	}
	d.do = func() { d.put("in/page.txt") }
	d.call(use{file: "in/page.txt", effect: chela.EffectWrite, from: page})
	d.do = func() {}
	for file, want := range map[string]bool{"in/page.txt": false, "in": false, ".": false, "in/own.txt": true, "other": true} {
		if got := clean(file, chela.EffectRead); got != want {
			t.Errorf("reading %s: clean %v, want %v", file, got, want)
		}
	}
	if clean("", chela.EffectExecute) {
		t.Error("a command that could read the file has no label")
	}
	if err := os.Symlink("in", filepath.Join(d.dir, "link")); err != nil {
		t.Fatal(err)
	}
	if clean("link/page.txt", chela.EffectRead) {
		t.Error("a link hides the label")
	}
	if err := os.Remove(filepath.Join(d.dir, "in", "page.txt")); err != nil {
		t.Fatal(err)
	}
	if !clean("in", chela.EffectRead) {
		t.Error("a file that is gone still counts")
	}
}

// TestCommandsLabelWhatTheyChange: after text from outside, or with a network.
func TestCommandsLabelWhatTheyChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from    chela.Provenance
		carries bool
		files   []string
		want    []string
	}{
		"clean":          {safety.Own(), false, []string{"a"}, nil},
		"after a page":   {page, false, []string{"a", "b/c"}, []string{"a", "b/c"}},
		"with a network": {safety.Own(), true, []string{"a"}, []string{"a"}},
		"many files":     {page, false, numbered("m/%d/f", 300), []string{"m"}},
		"many in one":    {page, false, numbered("m/x/%d", 300), []string{"m/x"}},
		"nothing":        {page, false, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &desk{T: t, dir: t.TempDir(), do: func() {}}
			d.put("before")
			d.do = func() {
				for _, f := range c.files {
					d.put(f)
				}
			}
			if res := d.call(use{effect: chela.EffectExecute, network: c.carries, from: c.from}); res.BelowFolder() {
				t.Errorf("the result has the label %+v of what the command wrote", res)
			}
			var got []string
			for _, l := range d.shelf.all {
				got = append(got, l.Path)
			}
			want := c.want
			if runtime.GOOS != "linux" && (c.from == page || c.carries) {
				want = []string{chela.EveryFile + "call_1"} // changes cannot be told
			}
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("labels of %q, want %q", got, want)
			}
		})
	}
}

func numbered(format string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf(format, i))
	}
	return all
}

// TestBrokenStore: a call is not prepared without its labels; one that runs is not
// stopped, its result counts as from outside, and the label of every file stays.
func TestBrokenStore(t *testing.T) {
	t.Parallel()
	lost := errors.New("the disk is full")
	d := &desk{T: t, dir: t.TempDir()}
	d.do = func() { d.put("a"); d.shelf.broken = lost }
	d.call(use{effect: chela.EffectExecute, from: page})
	if got := d.shelf.all; len(got) != 1 || got[0].Path != chela.EveryFile+"call_1" {
		t.Errorf("labels %+v", got)
	}
	tool := d.tool(use{file: "a", effect: chela.EffectRead})
	call := chela.ToolCall{ID: "call_2", Tool: "tool", Agent: "main", Session: "agent:main:main", Provenance: safety.Own()}
	if _, err := tool.Prepare(t.Context(), call); !errors.Is(err, chela.ErrLater) || !errors.Is(err, lost) {
		t.Errorf("prepared with %v", err)
	}
	if res, err := tool.Run(t.Context(), call); err != nil || !res.Provenance.BelowFolder() {
		t.Errorf("ran with %+v, %v", res, err)
	}
}
