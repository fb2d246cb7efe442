package rewind_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/rewind"
)

// TestOperations: the operations do what they say, and the key of a request is that of
// its input, or else of its caller.
func TestOperations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, text := range []string{"1", "2", "3"} {
		w.say(t, text)
	}
	home := func(key string) api.Local {
		return api.Local{Operations: w.Operations(), Caller: api.Caller{Key: key, Account: "tok_1"}}
	}
	ref := api.ThreadRef{ID: w.thread}
	for range 2 { // the second time it is the same request
		v, err := api.Call(t.Context(), home("k1"), api.ThreadsUndo, api.ThreadMove{ThreadRef: ref})
		want(t, "key", "k1", moved(t, v, err).Key)
		want(t, "conversation", []string{"1", "2"}, w.said(t))
	}
	v, err := api.Call(t.Context(), home("k2"), api.ThreadsUndo, api.ThreadMove{ThreadRef: ref, To: api.RewindOptions{Key: "mine"}})
	want(t, "key", "tok_1 mine", moved(t, v, err).Key)
	want(t, "conversation", []string{"1"}, w.said(t))

	c, err := api.Call(t.Context(), home("k3"), api.ThreadsCheckpoint, api.CheckpointRequest{ThreadRef: ref})
	if err != nil || c.Key != "k3" || c.Name != "1" {
		t.Errorf("checkpoint %+v, %v", c, err)
	}
	shown, err := api.Call(t.Context(), home(""), api.ThreadsShow, ref)
	if err != nil || shown.ID != w.thread || len(shown.Checkpoints) != 1 || shown.Redo == nil {
		t.Errorf("thread %+v, %v", shown, err)
	}
	if _, err := api.Call(t.Context(), home(""), api.ThreadsShow, api.ThreadRef{ID: "thr_none"}); chela.KindOf(err) != chela.NotFound {
		t.Errorf("a thread that does not exist: %v", err)
	}
	var made [2]chela.Thread
	for i := range made {
		if made[i], err = api.Call(t.Context(), home("k4"), api.ThreadsBranch, api.BranchRequest{ThreadRef: ref}); err != nil {
			t.Fatal(err)
		}
	}
	want(t, "the same branch", made[0].ID, made[1].ID)
}

// TestRewindUndoesOneTurn unless the request says how many.
func TestRewindUndoesOneTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, text := range []string{"1", "2", "3", "4"} {
		w.say(t, text)
	}
	for turns, said := range map[int][]string{0: {"1", "2", "3"}, 2: {"1", "2"}} {
		home := api.Local{Operations: w.Operations(), Caller: api.Caller{Account: "tok_1"}}
		v, err := api.Call(t.Context(), home, api.ThreadsUndo, api.ThreadMove{
			ThreadRef: api.ThreadRef{ID: w.thread}, To: api.RewindOptions{Turns: turns, Key: "with a space"[:4+turns]},
		})
		moved(t, v, err)
		want(t, "conversation", said, w.said(t))
		w.redo(t)
	}
}

// TestBoundOfUndo: a thousand turns can be asked for, and no more.
func TestBoundOfUndo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "1")
	for n, kind := range map[int]chela.Kind{0: chela.Invalid, 1000: chela.Conflict, 1001: chela.Invalid} {
		_, err := w.Undo(t.Context(), w.thread, n, api.RewindOptions{})
		want(t, "error", kind, chela.KindOf(err))
	}
	v, err := w.Undo(t.Context(), w.thread, 1, api.RewindOptions{Key: "a key with spaces"})
	moved(t, v, err)
}

// TestBranchIsAnnounced once, also if it is asked for again.
func TestBranchIsAnnounced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "1")
	var made chela.Thread
	for range 2 {
		var err error
		if made, err = w.Branch(t.Context(), w.thread, api.NewBranch{Key: "k"}); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.told) != 1 || w.told[0].Kind != chela.EventSessionChanged || w.told[0].Thread != made.ID || w.told[0].Session != w.session {
		t.Errorf("events %+v", w.told)
	}
}

// TestSameCheckpoint: asking again for a checkpoint gives the one that exists.
func TestSameCheckpoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, err := w.Checkpoint(t.Context(), w.thread, api.NewCheckpoint{Name: "mark", Key: "k1"})
	if err != nil {
		t.Fatal(err)
	}
	again, err := w.Checkpoint(t.Context(), w.thread, api.NewCheckpoint{Name: "mark", Key: "k2"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("the checkpoint (-first +again)\n%s", diff)
	}
}

// TestNothingIsLoggedOfWhatWentWell, and a refused move changes nothing.
func TestNothingIsLoggedOfWhatWentWell(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "1", writes(file("a", "1")))
	w.say(t, "2", writes(file("a", "2")))
	var log bytes.Buffer
	cfg := w.config(t)
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	w.Rewinds = rewind.New(w.store, cfg)
	w.undo(t, 1)
	want(t, "woken", 1, w.woken)
	w.put(t, "a", "mine")
	_, err := w.Undo(t.Context(), w.thread, 1, api.RewindOptions{})
	if _, joined := err.(interface{ Unwrap() []error }); joined || chela.KindOf(err) != chela.Conflict {
		t.Errorf("undone what was changed since: %v", err)
	}
	want(t, "woken", 1, w.woken)
	want(t, "log", "", log.String())
}

// TestEffectsBeforeThePosition are not told of: only what is undone can be not undone.
func TestEffectsBeforeThePosition(t *testing.T) {
	t.Parallel()
	calls := func() []act {
		return []act{{tool: "http", effect: chela.EffectNetwork, state: chela.CallDone}, writes(file("a", "1"))}
	}
	t.Run("in the turn", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		id := w.say(t, "1", calls()...)
		v := w.restore(t, string(w.entries(t, id)[2].ID)) // the result of the first call
		want(t, "not undone", 0, len(v.NotUndone))
		want(t, "files", map[string]string{}, w.files(t))
	})
	t.Run("in the turn, whose only call it is", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		id := w.say(t, "1", calls()[:1]...)
		want(t, "not undone", 0, len(w.restore(t, string(w.entries(t, id)[2].ID)).NotUndone))
	})
	t.Run("in the turn before", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.say(t, "1", calls()...)
		w.say(t, "2", writes(file("a", "2")))
		want(t, "not undone", 0, len(w.undo(t, 1).NotUndone))
	})
}

// TestReportsNameTheTurn: the report of a move is a sentence that a person can read,
// with the turn by its first words and the command that reverses it.
func TestReportsNameTheTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "write a long list of\nall the things that are still to be done before the release, please")
	w.say(t, "write a file", writes(file("a", "1")))
	home := api.Local{Operations: w.Operations()}
	report := func(o api.Operation[api.ThreadMove, chela.Rewind], to api.RewindOptions, want string) {
		t.Helper()
		v, err := api.Call(t.Context(), home, o, api.ThreadMove{ThreadRef: api.ThreadRef{ID: w.thread}, To: to})
		if err != nil {
			t.Fatal(err)
		}
		if got, _, _ := strings.Cut(rewind.Report(v, "/"), "\n"); got != want {
			t.Errorf("%s: got  %q\nwant %q", v.Kind, got, want)
		}
	}
	const long = `2 turns, from "write a long list of all the things that are still to be do…" on`
	report(api.ThreadsUndo, api.RewindOptions{}, `Undid the turn "write a file", with 1 file changed. /redo reverses this.`)
	report(api.ThreadsRedo, api.RewindOptions{}, `Redid the turn "write a file", with 1 file changed. /undo takes it back again.`)
	report(api.ThreadsUndo, api.RewindOptions{Turns: 2, KeepFiles: true}, "Undid "+long+", with files and documents left as they are. /redo reverses this.")
	report(api.ThreadsRedo, api.RewindOptions{KeepFiles: true}, "Redid "+long+", with files and documents left as they are. /undo takes it back again.")
	if _, err := api.Call(t.Context(), home, api.ThreadsCheckpoint, api.CheckpointRequest{
		ThreadRef: api.ThreadRef{ID: w.thread}, Checkpoint: api.NewCheckpoint{Name: "here"},
	}); err != nil {
		t.Fatal(err)
	}
	report(api.ThreadsRestore, api.RewindOptions{To: "here"}, "The conversation stays where it was, with no file changed. /redo reverses this.")
}
