package rewind_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/rewind"
	"chela/internal/store"
)

// left stores a rewind of one turn as a process left it that died in a state.
func (w *world) left(t *testing.T, state chela.RewindState, key string) chela.Rewind {
	t.Helper()
	v := chela.Rewind{
		ID: w.ids.Rewind(), Session: w.session, Thread: w.thread, Kind: chela.RewindUndo, State: state, Key: key, Node: "node_dead", CreatedAt: now(),
	}
	w.dead[v.Node] = true
	w.write(t, func(ctx context.Context, tx *store.Write) error {
		thread, err := tx.Thread(ctx, w.thread)
		if err != nil {
			return err
		}
		stretches, err := tx.Stretches(ctx, thread.Head, 1)
		if err != nil {
			return err
		}
		v.From, v.To = thread.Head, stretches[0].Base
		if state == chela.RewindPlanned {
			calls, err := tx.Calls(ctx, stretches[0].Turn)
			if err != nil {
				return err
			}
			for _, c := range calls {
				for _, p := range c.Changes {
					p.Before, p.After = p.After, p.Before
					v.Changes = append(v.Changes, p)
				}
			}
			after := thread
			after.State = chela.ThreadRewinding
			if err := tx.MoveThread(ctx, thread, after); err != nil {
				return err
			}
		}
		return tx.AddRewind(ctx, v)
	})
	return v
}

func TestFinish(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state  chela.RewindState
		meddle func(t *testing.T, w *world)
		files  map[string]string
		left   int // things not undone
		end    chela.RewindState
	}{
		"nothing was put back": {chela.RewindPlanned, func(*testing.T, *world) {}, map[string]string{"a": "1"}, 0, chela.RewindDone},
		"something was": {
			chela.RewindPlanned, func(t *testing.T, w *world) { w.put(t, "a", "1") }, map[string]string{"a": "1"}, 0, chela.RewindDone,
		},
		"somebody came between": {
			chela.RewindPlanned, func(t *testing.T, w *world) { w.put(t, "b", "mine") }, map[string]string{"a": "1", "b": "mine"}, 1, chela.RewindDone,
		},
		"it was only asked for": {chela.RewindAsked, func(*testing.T, *world) {}, map[string]string{"a": "1"}, 0, chela.RewindDone},
		"it must be refused": {
			chela.RewindAsked, func(t *testing.T, w *world) { w.put(t, "b", "mine") }, map[string]string{"a": "2", "b": "mine"}, 0, chela.RewindRefused,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.say(t, "1", writes(file("a", "1")))
			w.say(t, "2", writes(file("a", "2"), file("b", "2")))
			v := w.left(t, c.state, "k")
			c.meddle(t, w)
			var log bytes.Buffer
			cfg := w.config(t)
			cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
			w.Rewinds = rewind.New(w.store, cfg)
			for range 2 { // the second time there is nothing to do
				if err := w.Finish(t.Context(), w.session); err != nil {
					t.Fatal(err)
				}
			}
			want(t, "files", c.files, w.files(t))
			got, err := store.Find(t.Context(), w.store, func(r *store.Read) (chela.Rewind, error) { return r.Rewind(t.Context(), v.ID) })
			if err != nil || got.State != c.end || len(got.NotUndone) != c.left {
				t.Errorf("it is %+v, %v", got, err)
			}
			want(t, "thread", chela.ThreadIdle, w.state(t).State)
			want(t, "logged", c.end == chela.RewindRefused, strings.Contains(log.String(), "rewind refused"))
		})
	}
}

// TestFinishPutsDocumentsBack: they are those of the session's agent.
func TestFinishPutsDocumentsBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	doc := change{kind: chela.PreimageDocument, path: "MEMORY.md"}
	for _, doc.content = range []string{"1", "2"} {
		w.say(t, doc.content, writes(doc))
	}
	w.left(t, chela.RewindPlanned, "k")
	if err := w.Finish(t.Context(), w.session); err != nil {
		t.Fatal(err)
	}
	is, err := w.docs.Read(t.Context(), "main", doc.path)
	if err != nil || is.Text != "1" {
		t.Errorf("it says %q, %v", is.Text, err)
	}
}

// TestBytesCannotBeHad: a rewind that was planned waits for what it puts back,
// and one that was not is refused.
func TestBytesCannotBeHad(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "1", writes(file("a", "1")))
	w.say(t, "2", writes(file("a", "2")))
	blobs, away := filepath.Join(w.home, "blobs"), filepath.Join(w.home, "away")
	rename := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	rename(blobs, away)
	if _, err := w.Undo(t.Context(), w.thread, 1, api.RewindOptions{}); chela.KindOf(err) != chela.NotFound {
		t.Errorf("undone without what is put back: %v", err)
	}
	want(t, "thread", chela.ThreadIdle, w.state(t).State)
	w.left(t, chela.RewindPlanned, "k")
	if err := w.Finish(t.Context(), w.session); chela.KindOf(err) != chela.Unavailable {
		t.Errorf("finished without what is put back: %v", err)
	}
	want(t, "thread", chela.ThreadRewinding, w.state(t).State)
	rename(away, blobs)
	if err := w.Finish(t.Context(), w.session); err != nil {
		t.Fatal(err)
	}
	want(t, "files", map[string]string{"a": "1"}, w.files(t))
	want(t, "thread", chela.ThreadIdle, w.state(t).State)
}

// TestSomebodyWritesInThisMoment: what a document says is never lost.
func TestSomebodyWritesInThisMoment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	doc := change{kind: chela.PreimageDocument, path: "MEMORY.md"}
	for _, doc.content = range []string{"1", "2"} {
		w.say(t, doc.content, writes(doc))
	}
	v := w.left(t, chela.RewindPlanned, "k")
	w.meddle = sync.OnceFunc(func() {
		_, err := w.docs.Write(t.Context(), chela.DocumentEdit{Kind: chela.EditWrite, Agent: "main", Path: doc.path, Text: "mine", Key: "mine"})
		if err != nil {
			t.Error(err)
		}
	})
	if err := w.Finish(t.Context(), w.session); err != nil {
		t.Fatal(err)
	}
	is, err := w.docs.Read(t.Context(), "main", doc.path)
	if err != nil || is.Text != "mine" {
		t.Errorf("it says %q, %v", is.Text, err)
	}
	got, err := store.Find(t.Context(), w.store, func(r *store.Read) (chela.Rewind, error) { return r.Rewind(t.Context(), v.ID) })
	if err != nil || got.State != chela.RewindDone || len(got.NotUndone) != 1 {
		t.Errorf("the rewind is %+v, %v", got, err)
	}
}

// TestAskedAndTheTurnStillRuns: the turn is asked to stop again, and gone on with
// after its end.
func TestAskedAndTheTurnStillRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "1", writes(file("a", "1")))
	runs := w.begin(t, "2", writes(file("a", "2")))
	w.left(t, chela.RewindAsked, "k")
	if err := w.Finish(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	want(t, "stopped", []chela.TurnID{runs}, w.stopped)
	want(t, "files", map[string]string{"a": "2"}, w.files(t))
	w.end(t, runs, chela.TurnInterrupted)
	if err := w.Finish(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	want(t, "files", map[string]string{"a": "1"}, w.files(t))
	want(t, "conversation", []string{"1"}, w.said(t))
}

// TestNextRequestFinishesFirst: whoever asks for a move finds everything at rest.
// A request that was made before is answered with what it came to.
func TestNextRequestFinishesFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, text := range []string{"1", "2", "3"} {
		w.say(t, text, writes(file("a", text)))
	}
	v := w.left(t, chela.RewindPlanned, "k")
	got, err := w.Undo(t.Context(), w.thread, 1, api.RewindOptions{Key: "k"})
	want(t, "the same rewind", v.ID, moved(t, got, err).ID)
	want(t, "conversation", []string{"1", "2"}, w.said(t))
	w.left(t, chela.RewindPlanned, "")
	w.undo(t, 1)
	want(t, "conversation", nil, w.said(t))
}

// TestOthersAreLeftAlone: a rewind that a living process carries out is not
// touched, and nothing else moves in its thread.
func TestOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "1", writes(file("a", "1")))
	w.left(t, chela.RewindPlanned, "k")
	w.dead = map[chela.NodeID]bool{}
	if err := w.Finish(t.Context(), w.session); err != nil {
		t.Fatal(err)
	}
	want(t, "files", map[string]string{"a": "1"}, w.files(t))
	for _, key := range []string{"", "k"} {
		_, err := w.Undo(t.Context(), w.thread, 1, api.RewindOptions{Key: key})
		want(t, "another one", chela.Conflict, chela.KindOf(err))
	}
	want(t, "thread", chela.ThreadRewinding, w.state(t).State)
}

// TestFinishFailsWithTheTurn: a turn that cannot be stopped is left to the next
// attempt, and so is a rewind that cannot be read.
func TestFinishFailsWithTheTurn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stop error
		want chela.Kind
	}{
		"it has ended":       {chela.E(chela.Conflict, "the turn has ended"), ""},
		"it cannot be asked": {chela.E(chela.Unavailable, "the database is busy"), chela.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.begin(t, "1", writes(file("a", "1")))
			w.left(t, chela.RewindAsked, "k")
			cfg := w.config(t)
			cfg.Lanes = lanesOf{w, c.stop, nil}
			err := rewind.New(w.store, cfg).Finish(t.Context(), w.session)
			want(t, "error", c.want, chela.KindOf(err))
			want(t, "thread", chela.ThreadProcessing, w.state(t).State)
		})
	}
}

// TestSessionThatCannotBeWokenIsLogged: the rewind is done all the same.
func TestSessionThatCannotBeWokenIsLogged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "1", writes(file("a", "1")))
	var log bytes.Buffer
	cfg := w.config(t)
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	cfg.Lanes = lanesOf{w, nil, chela.E(chela.Unavailable, "the database is busy")}
	v, err := world{Rewinds: rewind.New(w.store, cfg)}.Undo(t.Context(), w.thread, 1, api.RewindOptions{})
	moved(t, v, err)
	if got := strings.Count(log.String(), "lane not taken"); got != 1 {
		t.Errorf("logged %d times: %s", got, log.String())
	}
}
