package rewind_test

import (
	"strings"
	"testing"

	"chela"
	"chela/internal/api"
	"chela/internal/store"
)

func (w *world) restore(t testing.TB, to string) chela.Rewind {
	t.Helper()
	v, err := w.Restore(t.Context(), w.thread, to, api.RewindOptions{})
	return moved(t, v, err)
}

// branch begins a branch and goes on in it.
func (w *world) branch(t testing.TB, from string) chela.Thread {
	t.Helper()
	made, err := w.Branch(t.Context(), w.thread, api.NewBranch{From: from})
	if err != nil {
		t.Fatal(err)
	}
	w.thread = made.ID
	return made
}

// TestRestore goes between branches of one thread by every name that a place
// has:
//
//	1 ─ 2 ─ 3
//	  └ 4 ─ 5
func TestRestore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "1", writes(file("a", "1")))
	if _, err := w.Checkpoint(t.Context(), w.thread, api.NewCheckpoint{Name: "fork"}); err != nil {
		t.Fatal(err)
	}
	w.say(t, "2", writes(file("a", "2"), file("b", "2")))
	third := w.say(t, "3", writes(change{path: "b", gone: true}))
	w.restore(t, "fork")
	want(t, "files", map[string]string{"a": "1"}, w.files(t))
	w.say(t, "4", writes(file("b", "4")))
	w.say(t, "5", writes(file("c", "5")))
	fifth := w.state(t).Head

	w.restore(t, string(third))
	want(t, "files", map[string]string{"a": "2"}, w.files(t))
	want(t, "conversation", []string{"1", "2", "3"}, w.said(t))
	w.restore(t, string(fifth))
	want(t, "files", map[string]string{"a": "1", "b": "4", "c": "5"}, w.files(t))
	want(t, "conversation", []string{"1", "4", "5"}, w.said(t))
	w.redo(t) // what restore did is taken back like an undo
	want(t, "conversation", []string{"1", "2", "3"}, w.said(t))
	for to, kind := range map[string]chela.Kind{
		"nothing": chela.NotFound, "ent_nothing": chela.NotFound, "turn_nothing": chela.NotFound, "": chela.NotFound,
	} {
		_, err := w.Restore(t.Context(), w.thread, to, api.RewindOptions{})
		want(t, "to "+to, kind, chela.KindOf(err))
	}
}

// TestRestoreInATurn goes to places within a turn: files are as they were in that
// moment.
func TestRestoreInATurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.say(t, "1", writes(file("a", "1")), writes(file("a", "2"), file("b", "2")))
	entries, err := store.Find(t.Context(), w.store, func(r *store.Read) ([]chela.Entry, error) { return r.TurnEntries(t.Context(), id) })
	if err != nil {
		t.Fatal(err)
	}
	for i, files := range []map[string]string{{}, nil, {"a": "1"}, nil, {"a": "2", "b": "2"}, {"a": "2", "b": "2"}} {
		if files != nil {
			w.restore(t, string(entries[i].ID))
			want(t, "files", files, w.files(t))
			continue
		}
		_, err := w.Restore(t.Context(), w.thread, string(entries[i].ID), api.RewindOptions{})
		want(t, "between a call and its result", chela.Invalid, chela.KindOf(err))
	}
	w.restore(t, string(entries[2].ID))
	w.say(t, "2", writes(file("a", "3")))
	w.undo(t, 1)
	want(t, "files", map[string]string{"a": "1"}, w.files(t))
	w.undo(t, 1)
	want(t, "files", map[string]string{}, w.files(t))
}

func TestBranch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "1", writes(file("a", "1")))
	fork := w.state(t).Head
	w.say(t, "2", writes(file("a", "2")))
	origin := w.thread
	made := w.branch(t, string(fork))
	want(t, "conversation", []string{"1"}, w.said(t))
	want(t, "files stay", map[string]string{"a": "2"}, w.files(t))
	s, err := store.Find(t.Context(), w.store, func(r *store.Read) (chela.Session, error) { return r.Session(t.Context(), w.session) })
	if err != nil || s.Thread != made.ID {
		t.Errorf("the current thread is %s, %v", s.Thread, err)
	}
	want(t, "the session changed when", made.CreatedAt, s.UpdatedAt)
	w.say(t, "3", writes(file("b", "3")))
	w.say(t, "4", writes(file("b", "4")))
	w.undo(t, 1)
	want(t, "conversation", []string{"1", "3"}, w.said(t))
	want(t, "files", map[string]string{"a": "2", "b": "3"}, w.files(t))
	if _, err := w.Undo(t.Context(), w.thread, 2, api.RewindOptions{}); chela.KindOf(err) != chela.Conflict {
		t.Errorf("a file that the other branch changed: %v", err)
	}
	places, err := w.Places(t.Context(), w.thread)
	if err != nil || len(places.Branches) != 1 || places.Branches[0].Origin != origin || places.Redo == nil {
		t.Errorf("%+v, %v", places, err)
	}
	w.thread = origin
	want(t, "the other one", []string{"1", "2"}, w.said(t))
	w.undo(t, 1)
	w.undo(t, 1)
	want(t, "files", map[string]string{"b": "3"}, w.files(t))
	foreign := newWorld(t)
	foreign.say(t, "x")
	if _, err := w.Restore(t.Context(), made.ID, string(foreign.state(t).Head), api.RewindOptions{}); chela.KindOf(err) != chela.NotFound {
		t.Errorf("a foreign entry: %v", err)
	}
	if _, err := w.Restore(t.Context(), origin, string(w.headOf(t, made.ID)), api.RewindOptions{}); chela.KindOf(err) != chela.NotFound {
		t.Errorf("an entry of a branch that is not below: %v", err)
	}
}

func (w *world) headOf(t *testing.T, id chela.ThreadID) chela.EntryID {
	t.Helper()
	thread, err := store.Find(t.Context(), w.store, func(r *store.Read) (chela.Thread, error) { return r.Thread(t.Context(), id) })
	if err != nil {
		t.Fatal(err)
	}
	return thread.Head
}

func TestCheckpoints(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mark := func(name string) (chela.Checkpoint, error) {
		return w.Checkpoint(t.Context(), w.thread, api.NewCheckpoint{Name: name})
	}
	for i, name := range []string{"", "", "mark", "mark", "3"} {
		c, err := mark(name)
		if wanted := []string{"1", "2", "mark", "mark", "3"}[i]; err != nil || c.Name != wanted || c.Entry != "" {
			t.Errorf("%q: %+v, %v", name, c, err)
		}
	}
	w.say(t, "1")
	if c, err := mark(""); err != nil || c.Name != "5" || c.Entry == "" {
		t.Errorf("%+v, %v", c, err)
	}
	for name, kind := range map[string]chela.Kind{
		"mark": chela.Conflict, "two words": chela.Invalid, "ent_x": chela.Invalid, "-x": chela.Invalid, "a\nb": chela.Invalid,
		strings.Repeat("é", 65): chela.Invalid, strings.Repeat("é", 64): "",
	} {
		_, err := mark(name)
		want(t, name, kind, chela.KindOf(err))
	}
	w.restore(t, "mark")
	want(t, "conversation", nil, w.said(t))
	w.begin(t, "2")
	_, err := mark("late")
	want(t, "while a turn runs", chela.Conflict, chela.KindOf(err))
	_, err = w.Branch(t.Context(), w.thread, api.NewBranch{})
	want(t, "while a turn runs", chela.Conflict, chela.KindOf(err))
	if places, err := w.Places(t.Context(), w.thread); err != nil || len(places.Checkpoints) != 6 || places.Redo != nil {
		t.Errorf("%+v, %v", places, err)
	}
}

// TestFreeNamesOfCheckpoints: a checkpoint without a name gets the first free
// number from the count of those that are there.
func TestFreeNamesOfCheckpoints(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ name, want string }{{"2", "2"}, {"", "3"}, {"5", "5"}, {"", "4"}, {"", "6"}} {
		w.say(t, "on")
		got, err := w.Checkpoint(t.Context(), w.thread, api.NewCheckpoint{Name: c.name})
		if err != nil {
			t.Fatal(err)
		}
		want(t, "name", c.want, got.Name)
	}
	again, err := w.Checkpoint(t.Context(), w.thread, api.NewCheckpoint{Name: "6"})
	if err != nil || again.Entry != w.state(t).Head {
		t.Errorf("the same checkpoint: %+v, %v", again, err)
	}
	for _, name := range []string{"2", "5"} {
		_, err := w.Checkpoint(t.Context(), w.thread, api.NewCheckpoint{Name: name})
		if chela.KindOf(err) != chela.Conflict || !strings.Contains(err.Error(), "at another place") {
			t.Errorf("checkpoint %s at another place: %v", name, err)
		}
	}
}

func TestWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "1", writes(file("a", "1")))
	w.say(t, "2", writes(file("a", "2")), writes(file("b", "2")))
	w.say(t, "3")
	undone := writes(file("a", "1"))
	undone.tool = "file_undo"
	cut := writes(file("a", "1"))
	cut.state = chela.CallUnknown
	sum := func(text string) string {
		hash, err := w.blobs.Keep(t.Context(), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	check := func(path, before, now string) {
		t.Helper()
		got, err := w.Written(t.Context(), w.thread, path)
		if err != nil {
			t.Fatal(err)
		}
		if before != "" {
			before = sum(before)
		}
		want(t, path, []string{before, sum(now)}, []string{got.Preimage.Before, got.Now})
	}
	check("a", "1", "2")
	check("b", "", "2")
	w.say(t, "4", undone)
	check("a", "", "1")
	w.say(t, "5", cut)
	check("a", "", "1")
	w.undo(t, 2)
	check("a", "1", "2")
	w.undo(t, 2)
	check("a", "", "1")
	if _, err := w.Written(t.Context(), w.thread, "b"); chela.KindOf(err) != chela.NotFound {
		t.Errorf("a write that is undone: %v", err)
	}
}
