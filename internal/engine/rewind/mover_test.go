package rewind_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/rewind"
	"chela/internal/store"
)

func want[T any](t testing.TB, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", what, diff)
	}
}

// moved fails the test if a move did not happen.
func moved(t testing.TB, v chela.Rewind, err error) chela.Rewind {
	t.Helper()
	if err != nil || v.State != chela.RewindDone {
		t.Fatalf("%s: %v\n%s", v.State, err, chela.DetailOf(err))
	}
	return v
}

func (w *world) undo(t testing.TB, n int) chela.Rewind {
	t.Helper()
	v, err := w.Undo(t.Context(), w.thread, n, api.RewindOptions{})
	return moved(t, v, err)
}

func (w *world) redo(t testing.TB) chela.Rewind {
	t.Helper()
	v, err := w.Redo(t.Context(), w.thread, api.RewindOptions{})
	return moved(t, v, err)
}

// TestUndoAndRedo goes back and forth over turns that make, change and remove
// files, and looks at every place.
func TestUndoAndRedo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, "mine", "mine")
	places := []map[string]string{w.files(t)}
	turns := [][]act{
		{writes(file("a", "1"), file("new/deep/b", "1"))},
		{writes(file("a", "2")), writes(file("a", "3"))},
		{writes(change{path: "a", gone: true}), writes(file("new/c", "1"))},
		{},
		{writes(file("a", "again")), writes(change{path: "new/deep/b", gone: true})},
	}
	for i, acts := range turns {
		w.say(t, string(rune('1'+i)), acts...)
		places = append(places, w.files(t))
	}
	// The folder of a file that was removed by the model stays.
	for n := range turns {
		w.undo(t, 1)
		want(t, "files", places[len(turns)-1-n], w.files(t))
	}
	want(t, "conversation", nil, w.said(t))
	for n := range turns {
		w.redo(t)
		got := w.files(t)
		delete(got, "new/deep/") // made again for what was there
		wanted := places[n+1]
		delete(wanted, "new/deep/")
		want(t, "files", wanted, got)
	}
	want(t, "conversation", []string{"1", "2", "3", "4", "5"}, w.said(t))
	w.undo(t, 5)
	want(t, "all at once", places[0], w.files(t))
	if _, err := w.Undo(t.Context(), w.thread, 1, api.RewindOptions{}); chela.KindOf(err) != chela.Conflict {
		t.Errorf("undone where nothing is: %v", err)
	}
	w.start(t) // as if the process had ended
	w.redo(t)
	want(t, "conversation", []string{"1", "2", "3", "4", "5"}, w.said(t))
	if _, err := w.Redo(t.Context(), w.thread, api.RewindOptions{}); chela.KindOf(err) != chela.Conflict {
		t.Errorf("redone where nothing is: %v", err)
	}
	if s := w.state(t); s.State != chela.ThreadIdle {
		t.Errorf("the thread is %s", s.State)
	}
}

func TestModeComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, "run.sh", "#!/bin/sh\n")
	script := filepath.Join(w.dir, "run.sh")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	w.say(t, "change", writes(file("run.sh", "#!/bin/bash\n")))
	w.say(t, "remove", writes(change{path: "run.sh", gone: true}))
	for _, step := range []func(){
		func() { w.undo(t, 1) }, func() { w.undo(t, 1) }, func() { w.redo(t) }, func() { w.redo(t) }, func() { w.undo(t, 2) },
	} {
		step()
		info, err := os.Stat(script)
		if err == nil && info.Mode().Perm() != 0o755 {
			t.Errorf("the mode is %v", info.Mode())
		}
	}
	want(t, "files", map[string]string{"run.sh": "#!/bin/sh\n"}, w.files(t))
}

func TestDocumentsComeBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := func() string {
		d, err := w.docs.Read(t.Context(), "main", "MEMORY.md")
		if chela.KindOf(err) == chela.NotFound {
			return "(none)"
		}
		return d.Text
	}
	first := text()
	doc := func(text string) act {
		return writes(change{kind: chela.PreimageDocument, path: "MEMORY.md", content: text})
	}
	w.say(t, "1", doc("one"))
	w.say(t, "2", doc("two"))
	w.undo(t, 1)
	want(t, "document", "one", text())
	w.undo(t, 1)
	want(t, "document", first, text())
	w.redo(t)
	w.redo(t)
	want(t, "document", "two", text())
	if _, err := w.docs.Write(t.Context(), chela.DocumentEdit{Kind: chela.EditWrite, Agent: "main", Path: "MEMORY.md", Text: "mine", Key: "k"}); err != nil {
		t.Fatal(err)
	}
	_, err := w.Undo(t.Context(), w.thread, 2, api.RewindOptions{})
	if chela.KindOf(err) != chela.Conflict || !strings.Contains(chela.DetailOf(err), "-two") {
		t.Errorf("a document that was changed since: %v\n%s", err, chela.DetailOf(err))
	}
	want(t, "document", "mine", text())
}

// TestChangedSince: whatever somebody else did to a file, it is not lost, and
// nothing is moved.
func TestChangedSince(t *testing.T) {
	t.Parallel()
	for name, meddle := range map[string]func(t *testing.T, w *world){
		"changed":         func(t *testing.T, w *world) { w.put(t, "b", "mine\n") },
		"removed":         func(t *testing.T, w *world) { remove(t, w, "b") },
		"made again":      func(t *testing.T, w *world) { w.put(t, "gone", "mine\n") },
		"a folder":        func(t *testing.T, w *world) { remove(t, w, "b"); w.put(t, "b/c", "mine") },
		"a link":          func(t *testing.T, w *world) { remove(t, w, "b"); link(t, w, "elsewhere", "b") },
		"parent a file":   func(t *testing.T, w *world) { remove(t, w, "d"); w.put(t, "d", "mine") },
		"parent a link":   func(t *testing.T, w *world) { remove(t, w, "d"); link(t, w, "/", "d") },
		"changed between": func(t *testing.T, w *world) { w.put(t, "b", "mine\n"); w.say(t, "3", writes(file("b", "theirs\n"))) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(t, "gone", "old\n")
			w.put(t, "b", "old\n")
			w.say(t, "1", writes(file("a", "1\n")), writes(file("b", "1\n")), writes(change{path: "gone", gone: true}), writes(file("d/e", "1\n")))
			meddle(t, w)
			before, said, head := w.files(t), w.said(t), w.state(t).Head
			v, err := w.Undo(t.Context(), w.thread, len(said), api.RewindOptions{})
			if chela.KindOf(err) != chela.Conflict || chela.DetailOf(err) == "" {
				t.Fatalf("%s: %v", v.State, err)
			}
			want(t, "files", before, w.files(t))
			want(t, "conversation", said, w.said(t))
			want(t, "state", chela.ThreadIdle, w.state(t).State)

			v, err = w.Undo(t.Context(), w.thread, len(said), api.RewindOptions{KeepFiles: true})
			moved(t, v, err)
			want(t, "files that are kept", before, w.files(t))
			want(t, "not undone", 4, min(4, len(v.NotUndone)))
			w.redo(t)
			want(t, "files that were kept", before, w.files(t))
			want(t, "head", head, w.state(t).Head)
		})
	}
}

// TestMadeFoldersGo: the folders that were made for one file go with it.
func TestMadeFoldersGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "1", writes(file("new/deep/a", "1")))
	w.undo(t, 1)
	want(t, "files", map[string]string{}, w.files(t))
}

// TestKeysAreBounded: the key of a request is one line of up to 256 bytes.
func TestKeysAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for key, kind := range map[string]chela.Kind{strings.Repeat("a", 256): "", strings.Repeat("a", 257): chela.Invalid, "a\nb": chela.Invalid} {
		w.say(t, "1")
		_, err := w.Undo(t.Context(), w.thread, 1, api.RewindOptions{Key: key})
		want(t, "kind", kind, chela.KindOf(err))
	}
}

// TestRefusalNamesWhatChanged: one name, the number of the others, and all
// differences as far as there is room.
func TestRefusalNamesWhatChanged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		changed []string
		content string
		text    string
		cut     bool
	}{
		"one file":    {[]string{"a"}, "mine\n", "/workspace/a changed since;", false},
		"two files":   {[]string{"a", "b"}, "mine\n", "/workspace/a and 1 more changed since;", false},
		"three files": {[]string{"a", "b", "c"}, "mine\n", "/workspace/a and 2 more changed since;", false},
		"large files": {[]string{"a", "b", "c"}, strings.Repeat("mine\n", 6_000), "/workspace/a and 2 more changed since;", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.say(t, "1", writes(file("a", "1\n"), file("b", "1\n"), file("c", "1\n")))
			for _, path := range c.changed {
				w.put(t, path, c.content)
			}
			_, err := w.Undo(t.Context(), w.thread, 1, api.RewindOptions{})
			if text := chela.MessageOf(err); !strings.HasPrefix(text, "nothing was moved: "+c.text) {
				t.Errorf("message %q, want %q", text, c.text)
			}
			detail := chela.DetailOf(err)
			want(t, "cut", c.cut, strings.HasSuffix(detail, "\n[more is not shown]\n"))
			if !c.cut {
				want(t, "differences", len(c.changed), strings.Count(detail, "-1\n"))
			} else if len(detail) < 64<<10 || len(detail) > 65<<10 {
				t.Errorf("%d bytes are shown", len(detail))
			}
		})
	}
}

func remove(t *testing.T, w *world, path string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(w.dir, path)); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, w *world, to, path string) {
	t.Helper()
	if err := os.Symlink(to, filepath.Join(w.dir, path)); err != nil {
		t.Fatal(err)
	}
}

func TestWhatStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "1",
		act{tool: "shell", effect: chela.EffectExecute, state: chela.CallDone},
		act{tool: "read_file", effect: chela.EffectRead, state: chela.CallDone},
		act{tool: "http", effect: chela.EffectNetwork, state: chela.CallDone, changes: []change{file("saved", "x")}},
		act{tool: "write_file", effect: chela.EffectWrite, state: chela.CallDone},
		writes(file("a", "1")),
	)
	v := w.undo(t, 1)
	var left []string
	for _, n := range v.NotUndone {
		left = append(left, n.Tool+" "+n.Text)
	}
	want(t, "not undone", []string{"write_file ran {\"n\":1} …", "http ran {\"n\":1} …", "shell ran {\"n\":1} …"}, left)
	want(t, "files", map[string]string{}, w.files(t))
	report := "The conversation stays where it was, with 2 files changed. /redo reverses this.\nremoved /workspace/saved\nremoved /workspace/a\n" +
		"not undone: write_file ran {\"n\":1} …\nnot undone: http ran {\"n\":1} …\nnot undone: shell ran {\"n\":1} …\n"
	if got := rewind.Report(v, "/"); got != report {
		t.Errorf("report %q", got)
	}
	if v = w.redo(t); len(v.NotUndone) != 0 {
		t.Errorf("redone, and not undone: %+v", v.NotUndone)
	}
}

// TestCutOff undoes calls of which nobody knows how far they came.
func TestCutOff(t *testing.T) {
	t.Parallel()
	for _, broken := range []bool{true, false} {
		for _, state := range []chela.CallState{chela.CallUnknown, chela.CallFailed} {
			w := newWorld(t)
			w.put(t, "a", "old")
			a := writes(file("a", "new"), file("b", "new"))
			a.state, a.broken = state, broken
			w.say(t, "1", a)
			there := w.files(t)
			w.undo(t, 1)
			want(t, "undone", map[string]string{"a": "old"}, w.files(t))
			w.redo(t)
			want(t, "redone", there, w.files(t))
		}
	}
}

// TestRunningTurnIsStopped: the turn that runs is the last one.
func TestRunningTurnIsStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "1", writes(file("a", "1")))
	runs := w.begin(t, "2", writes(file("a", "2")))
	v := w.undo(t, 1)
	want(t, "stopped", []chela.TurnID{runs}, w.stopped)
	want(t, "files", map[string]string{"a": "1"}, w.files(t))
	want(t, "conversation", []string{"1"}, w.said(t))
	if w.woken == 0 {
		t.Error("what waits is not woken")
	}
	if _, err := w.Redo(t.Context(), w.thread, api.RewindOptions{}); err != nil {
		t.Error(err)
	}
	if v.From == v.To {
		t.Errorf("it did not move: %+v", v)
	}
}

// TestStoppedInVain: the turn is stopped, and then the files show that the rewind
// must be refused. The session goes on.
func TestStoppedInVain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin(t, "1", writes(file("a", "1")))
	w.put(t, "a", "mine")
	if _, err := w.Undo(t.Context(), w.thread, 1, api.RewindOptions{Key: "k"}); chela.KindOf(err) != chela.Conflict {
		t.Fatal(err)
	}
	if open, err := store.Find(t.Context(), w.store, func(r *store.Read) (bool, error) { return r.IsRewinding(t.Context(), w.session) }); open || err != nil {
		t.Errorf("the session waits for ever: %v", err)
	}
	w.put(t, "a", "1")
	v, err := w.Undo(t.Context(), w.thread, 1, api.RewindOptions{Key: "k"})
	moved(t, v, err)
}

func TestOnceForEachKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, text := range []string{"1", "2", "3"} {
		w.say(t, text, writes(file("a", text)))
	}
	first, err := w.Undo(t.Context(), w.thread, 1, api.RewindOptions{Key: "k"})
	moved(t, first, err)
	again, err := w.Undo(t.Context(), w.thread, 1, api.RewindOptions{Key: "k"})
	want(t, "again", first, moved(t, again, err))
	want(t, "conversation", []string{"1", "2"}, w.said(t))
	mark, err := w.Checkpoint(t.Context(), w.thread, api.NewCheckpoint{Key: "c"})
	if err != nil {
		t.Fatal(err)
	}
	branch, err := w.Branch(t.Context(), w.thread, api.NewBranch{Key: "b"})
	if err != nil {
		t.Fatal(err)
	}
	w.say(t, "4")
	if got, err := w.Checkpoint(t.Context(), w.thread, api.NewCheckpoint{Key: "c"}); got != mark || err != nil {
		t.Errorf("another checkpoint: %+v, %v", got, err)
	}
	if got, err := w.Branch(t.Context(), w.thread, api.NewBranch{Key: "b"}); got.ID != branch.ID || err != nil {
		t.Errorf("another branch: %+v, %v", got, err)
	}
	for _, key := range []string{strings.Repeat("k", 257), "a\nb"} {
		if _, err := w.Undo(t.Context(), w.thread, 1, api.RewindOptions{Key: key}); chela.KindOf(err) != chela.Invalid {
			t.Errorf("key %.10q…: %v", key, err)
		}
	}
	_, err = w.Undo(context.Background(), "thr_none", 1, api.RewindOptions{})
	want(t, "no thread", chela.NotFound, chela.KindOf(err))
	for _, n := range []int{0, -1, 1001} {
		_, err = w.Undo(t.Context(), w.thread, n, api.RewindOptions{})
		want(t, "turns", chela.Invalid, chela.KindOf(err))
	}
	_, err = w.Undo(t.Context(), w.thread, 4, api.RewindOptions{})
	want(t, "more than there are", "there are only 3 turns to undo in thread "+string(w.thread)+"; undo 3", chela.MessageOf(err))
}

// TestUndoBeforeACutOffCall: a file that a cut-off call may or may not have written
// is put back from either content, and from no other.
func TestUndoBeforeACutOffCall(t *testing.T) {
	t.Parallel()
	for content, undone := range map[string]bool{"1": true, "2": true, "other": false} {
		w := newWorld(t)
		w.put(t, "a", "0")
		w.say(t, "write", writes(file("a", "1")))
		cut := writes(file("a", "2"))
		cut.state, cut.broken = chela.CallUnknown, true
		w.say(t, "break", cut)
		w.put(t, "a", content)
		_, err := w.Undo(t.Context(), w.thread, 2, api.RewindOptions{})
		if undone {
			content = "0"
		}
		want(t, "files", map[string]string{"a": content}, w.files(t))
		if (err == nil) != undone {
			t.Errorf("content %q: %v", content, err)
		}
	}
}

// TestRewindsLiveFromTheirBeginning: a rewind counts as renewed when it begins, so
// that no other process takes it over at once.
func TestRewindsLiveFromTheirBeginning(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin(t, "write", writes(file("a", "1")))
	looked := false
	w.waits = func() {
		looked = true
		open, err := store.Find(t.Context(), w.store, func(r *store.Read) ([]chela.Rewind, error) { return r.OpenRewinds(t.Context(), w.session) })
		if err != nil || len(open) != 1 || open[0].RenewedAt.Before(open[0].CreatedAt) {
			t.Errorf("open rewinds %+v, %v", open, err)
		}
	}
	w.undo(t, 1)
	if !looked {
		t.Error("the rewind waited for no turn")
	}
}
