package storetest

import (
	"fmt"
	"testing"
	"time"

	"chela"
	"chela/internal/store"
)

// add stores work and returns whether it was new.
func add(t testing.TB, s *store.Store, k chela.Work) (added bool) {
	t.Helper()
	write(t, s, func(w *store.Write) (err error) {
		added, err = w.AddWork(t.Context(), k)
		return err
	})
	return added
}

// claim hands work that is due at now to node, until a millisecond later.
func claim(t testing.TB, s *store.Store, node chela.NodeID, now time.Time, limit int) (mine []chela.Work) {
	t.Helper()
	write(t, s, func(w *store.Write) (err error) {
		mine, err = w.ClaimWork(t.Context(), node, now, now.Add(time.Millisecond), limit)
		return err
	})
	return mine
}

func checkWorkRows(t *testing.T, s *store.Store) {
	whole := full[chela.Work]()
	whole.State = chela.WorkDue
	bare := chela.Work{ID: "work_bare", Kind: "k", Key: "k", State: chela.WorkDue}
	for _, want := range []chela.Work{whole, bare} {
		same(t, true, add(t, s, want))
	}
	now := whole.DueAt
	// Only a claim returns rows; it changes what it says and nothing else.
	for _, row := range []chela.Work{bare, whole} {
		got := claim(t, s, "node_a", now, 1)
		want := row
		want.State, want.Owner, want.DueAt = chela.WorkRunning, "node_a", now.Add(time.Millisecond)
		want.Attempts++
		same(t, []chela.Work{want}, got)
		want.State = chela.WorkDone
		write(t, s, func(w *store.Write) error { return w.MoveWork(t.Context(), want) })
	}
	same(t, true, add(t, s, bare)) // what is done is gone
	same(t, false, add(t, s, chela.Work{ID: bare.ID, Kind: "other", Key: "other", State: chela.WorkDue}))
}

func checkWorkKeys(t *testing.T, s *store.Store) {
	same(t, true, add(t, s, newWork("a")))
	again := newWork("b")
	again.Key = "a"
	same(t, false, add(t, s, again))
	otherKind := again
	otherKind.ID, otherKind.Kind = "work_c", "expire"
	same(t, true, add(t, s, otherKind))

	mine := claim(t, s, "node_a", at(0), 10)
	same(t, []chela.WorkID{"work_a", "work_c"}, ids(mine, workID))
	same(t, false, add(t, s, again)) // running is unfinished too
	done := mine[0]
	done.State = chela.WorkDone
	write(t, s, func(w *store.Write) error { return w.MoveWork(t.Context(), done) })
	same(t, true, add(t, s, again))
}

func workID(k chela.Work) chela.WorkID { return k.ID }

func checkClaims(t *testing.T, s *store.Store) {
	next := func() (due time.Time, ok bool) {
		read(t, s, func(r *store.Read) (_ bool, err error) {
			due, ok, err = r.NextWork(t.Context())
			return ok, err
		})
		return due, ok
	}
	_, ok := next()
	same(t, false, ok)
	for id, n := range map[string]int{"a": 3, "b": 1, "c": 2, "d": 1, "e": 1000} {
		k := newWork(id)
		k.DueAt = at(n)
		add(t, s, k)
	}
	due, ok := next()
	same(t, true, ok)
	same(t, at(1), due)

	same(t, nil, ids(claim(t, s, "node_a", at(0), 10), workID))
	same(t, []chela.WorkID{"work_b", "work_d"}, ids(claim(t, s, "node_a", at(2), 2), workID))
	same(t, []chela.WorkID{"work_c"}, ids(claim(t, s, "node_b", at(2), 10), workID))
	same(t, nil, ids(claim(t, s, "node_b", at(2), 10), workID))

	// When the time of a claim is over, another node gets the work.
	late := claim(t, s, "node_b", at(1002), 10)
	same(t, []chela.WorkID{"work_a", "work_e", "work_b", "work_c", "work_d"}, ids(late, workID))
	same(t, []int{1, 1, 2, 2, 2}, ids(late, func(k chela.Work) int { return k.Attempts }))
}

func checkWorkMoves(t *testing.T, s *store.Store) {
	ctx := t.Context()
	states := []chela.WorkState{chela.WorkRunning, chela.WorkDue, chela.WorkDone, chela.WorkFailed, "made up"}
	for i, to := range states {
		now := at(i * 10_000)
		k := newWork(fmt.Sprint(i))
		k.DueAt = now
		add(t, s, k)
		mine := claim(t, s, "node_a", now, 1)
		same(t, []chela.WorkID{k.ID}, ids(mine, workID))
		k = mine[0]
		k.State, k.Error, k.DueAt = to, "é\n", now.Add(time.Minute)

		foreign := k
		foreign.Owner = "node_b"
		if !chela.WorkRunning.CanMove(to) {
			refuse(t, s, chela.Internal, func(w *store.Write) error { return w.MoveWork(ctx, k) })
			k.State = chela.WorkDone
			write(t, s, func(w *store.Write) error { return w.MoveWork(ctx, k) })
			continue
		}
		refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.MoveWork(ctx, foreign) })
		write(t, s, func(w *store.Write) error { return w.MoveWork(ctx, k) })
		if to != chela.WorkRunning {
			refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.MoveWork(ctx, k) })
		}
		again := claim(t, s, "node_b", k.DueAt, 1)
		if to == chela.WorkDone || to == chela.WorkFailed {
			same(t, 0, len(again))
			continue
		}
		want := k
		want.State, want.Owner, want.DueAt = chela.WorkRunning, "node_b", k.DueAt.Add(time.Millisecond)
		want.Attempts++
		same(t, []chela.Work{want}, again)
		want.State = chela.WorkFailed
		refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.MoveWork(ctx, k) }) // the old owner's
		write(t, s, func(w *store.Write) error { return w.MoveWork(ctx, want) })
	}
}
