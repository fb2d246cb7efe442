package storetest

import (
	"fmt"
	"testing"

	"chela"
	"chela/internal/store"
)

func checkThreadRows(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	whole := full[chela.Thread]()
	whole.Session = f.key
	bare := chela.Thread{ID: "thr_bare", Session: f.key, State: chela.ThreadIdle}
	for _, want := range []chela.Thread{whole, bare} {
		write(t, s, func(w *store.Write) error { return w.CreateThread(ctx, want) })
		same(t, want, read(t, s, func(r *store.Read) (chela.Thread, error) { return r.Thread(ctx, want.ID) }))
		refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.CreateThread(ctx, want) })
	}
	miss(t, s, func(r *store.Read) (chela.Thread, error) { return r.Thread(ctx, "thr_nothing") })

	lost := f.newThread("thr_lost")
	lost.Session = "nobody"
	refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.CreateThread(ctx, lost) })
}

func checkThreadLists(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f, other := found(t, s, "f"), found(t, s, "other")
	write(t, s, func(w *store.Write) error {
		for i, id := range []chela.ThreadID{"thr_c", "thr_b", "thr_a"} {
			thread := f.newThread(id)
			thread.CreatedAt = at(1 + i/2) // the first two at the same time
			if err := w.CreateThread(ctx, thread); err != nil {
				return err
			}
		}
		return nil
	})
	got := read(t, s, func(r *store.Read) ([]chela.Thread, error) { return r.Threads(ctx, f.key) })
	same(t, []chela.ThreadID{f.thread, "thr_b", "thr_c", "thr_a"}, ids(got, func(t chela.Thread) chela.ThreadID { return t.ID }))

	current := func(key chela.SessionKey) chela.Thread {
		return read(t, s, func(r *store.Read) (chela.Thread, error) { return r.CurrentThread(ctx, key) })
	}
	same(t, f.newThread(f.thread), current(f.key))
	write(t, s, func(w *store.Write) error {
		return w.SaveSession(ctx, chela.Session{Key: f.key, Thread: "thr_a"})
	})
	same(t, "thr_a", current(f.key).ID)
	same(t, other.thread, current(other.key).ID)
	miss(t, s, func(r *store.Read) (chela.Thread, error) { return r.CurrentThread(ctx, "nobody") })
	write(t, s, func(w *store.Write) error { return w.SaveSession(ctx, chela.Session{Key: f.key}) })
	miss(t, s, func(r *store.Read) (chela.Thread, error) { return r.CurrentThread(ctx, f.key) })
}

var threadStates = []chela.ThreadState{
	chela.ThreadProcessing, chela.ThreadIdle, chela.ThreadAwaiting, chela.ThreadInterrupted, chela.ThreadRewinding,
}

func checkThreadMoves(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	id := func(n int) chela.ThreadID { return chela.ThreadID(fmt.Sprint("thr_", n)) }
	mover[chela.ThreadState]{
		states: threadStates,
		from:   threadStates,
		legal:  func(from, to chela.ThreadState) bool { return from == to || from.CanMove(to) },
		add: func(w *store.Write, n int, state chela.ThreadState) error {
			thread := f.newThread(id(n))
			thread.State = state
			return w.CreateThread(ctx, thread)
		},
		move: func(w *store.Write, n int, from, to chela.ThreadState) error {
			before := f.newThread(id(n))
			before.State = from
			after := before
			after.State = to
			return w.MoveThread(ctx, before, after)
		},
		state: func(r *store.Read, n int) (chela.ThreadState, error) {
			thread, err := r.Thread(ctx, id(n))
			return thread.State, err
		},
	}.check(t, s)
}

func checkThreadRaces(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	before := f.newThread(f.thread)
	after := full[chela.Thread]()
	after.ID, after.State = before.ID, chela.ThreadProcessing
	write(t, s, func(w *store.Write) error { return w.MoveThread(ctx, before, after) })
	want := after
	want.Session, want.CreatedAt = before.Session, before.CreatedAt
	same(t, want, read(t, s, func(r *store.Read) (chela.Thread, error) { return r.Thread(ctx, f.thread) }))

	write(t, s, func(w *store.Write) error { return w.TitleThread(ctx, f.thread, "taxes") })
	again := want
	again.Title, again.Head = "what a run remembers", "ent_other"
	write(t, s, func(w *store.Write) error { return w.MoveThread(ctx, want, again) })
	want = again
	want.Title = "taxes"
	same(t, want, read(t, s, func(r *store.Read) (chela.Thread, error) { return r.Thread(ctx, f.thread) }))
	refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.TitleThread(ctx, "thr_gone", "x") })

	stale := want
	stale.Seq--
	refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.MoveThread(ctx, stale, want) })
	gone := f.newThread("thr_gone")
	refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.MoveThread(ctx, gone, gone) })
}
