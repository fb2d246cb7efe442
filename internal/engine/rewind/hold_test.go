package rewind_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/rewind"
	"chela/internal/store"
)

// slowly undoes a turn while fn comes between the moment in which the putting
// back begins and that in which it ends.
func (w *world) slowly(t *testing.T, fn func(chela.Rewind)) error {
	t.Helper()
	doc := change{kind: chela.PreimageDocument, path: "MEMORY.md"}
	for _, doc.content = range []string{"1", "2"} {
		w.say(t, doc.content, writes(doc))
	}
	w.meddle = func() {
		if open := w.open(t); len(open) == 1 {
			w.meddle = nil
			fn(open[0])
		}
	}
	_, err := w.Undo(t.Context(), w.thread, 1, api.RewindOptions{})
	return err
}

// open returns the rewinds that have not ended.
func (w *world) open(t *testing.T) []chela.Rewind {
	t.Helper()
	open, err := store.Find(t.Context(), w.store, func(r *store.Read) ([]chela.Rewind, error) { return r.OpenRewinds(t.Context(), "") })
	if err != nil {
		t.Fatal(err)
	}
	return open
}

// TestSlowRewindIsLeftAlone: as long as a process puts back, no other machine
// does, however long it takes.
func TestSlowRewindIsLeftAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var log bytes.Buffer
		cfg := w.config(t)
		cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
		w.Rewinds = rewind.New(w.store, cfg)
		err := w.slowly(t, func(v chela.Rewind) {
			<-time.After(10 * time.Minute)
			if err := w.stranger(t).Finish(t.Context(), ""); err != nil {
				t.Error(err)
			}
			if open := w.open(t); len(open) != 1 || open[0].Node != v.Node {
				t.Errorf("a stranger made of it %+v", open)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		want(t, "conversation", []string{"1"}, w.said(t))
		want(t, "log", "", log.String())
	})
}

// TestWaitingRewindIsLeftAlone: neither does one while the turn ends for which
// a rewind waits.
func TestWaitingRewindIsLeftAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.say(t, "1", writes(file("a", "1")))
		w.begin(t, "2", writes(file("a", "2")))
		w.waits = func() {
			<-time.After(10*time.Minute + time.Second) // between two renewals
			before := w.open(t)
			if err := w.stranger(t).Finish(t.Context(), ""); err != nil {
				t.Error(err)
			}
			want(t, "rewinds", before, w.open(t))
		}
		w.undo(t, 1)
		want(t, "files", map[string]string{"a": "1"}, w.files(t))
	})
}

// TestStrangerFinishes: what nobody renewed for a while is taken from a machine
// of which nothing is known. If that lives after all, it leaves it alone.
func TestStrangerFinishes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		err := w.slowly(t, func(v chela.Rewind) {
			if err := w.stranger(t).Finish(t.Context(), ""); err != nil {
				t.Error(err)
			}
			want(t, "rewinds", []chela.Rewind{v}, w.open(t))
			from := v.Node
			v.Node = "node_other"
			w.write(t, func(ctx context.Context, tx *store.Write) error { return tx.RenewRewind(ctx, v, from) })
			<-time.After(time.Minute)
		})
		if err == nil {
			t.Error("it was carried out by who had lost it")
		}
		want(t, "conversation", []string{"1", "2"}, w.said(t))
		for range 2 { // the second time there is nothing to do
			if err := w.stranger(t).Finish(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		}
		want(t, "conversation", []string{"1"}, w.said(t))
		want(t, "rewinds", nil, w.open(t))
	})
}
