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

// lease is how long claims of these tests hold.
const lease = time.Millisecond

// claim hands work of the kind of these tests that is due at now to node.
func claim(t testing.TB, s *store.Store, node chela.NodeID, now time.Time, limit int) []chela.Work {
	t.Helper()
	return claimAs(t, s, store.WorkClaim{Node: node, Kind: workKind, Now: now, Until: now.Add(lease), Limit: limit})
}

func claimAs(t testing.TB, s *store.Store, c store.WorkClaim) (mine []chela.Work) {
	t.Helper()
	write(t, s, func(w *store.Write) (err error) {
		mine, err = w.ClaimWork(t.Context(), c)
		return err
	})
	return mine
}

// live returns unfinished work.
func live(t testing.TB, s *store.Store, kind, key string) (chela.Work, bool) {
	t.Helper()
	var is bool
	k := read(t, s, func(r *store.Read) (k chela.Work, err error) {
		k, is, err = r.LiveWork(t.Context(), kind, key)
		return k, err
	})
	return k, is
}

func next(t testing.TB, s *store.Store) map[string]time.Time {
	t.Helper()
	return read(t, s, func(r *store.Read) (map[string]time.Time, error) { return r.NextWork(t.Context()) })
}

func move(t testing.TB, s *store.Store, k chela.Work) {
	t.Helper()
	write(t, s, func(w *store.Write) error { return w.MoveWork(t.Context(), k) })
}

func set(t testing.TB, s *store.Store, k chela.Work) {
	t.Helper()
	write(t, s, func(w *store.Write) error { return w.SetWork(t.Context(), k) })
}

func drop(t testing.TB, s *store.Store, k chela.Work) {
	t.Helper()
	write(t, s, func(w *store.Write) error { return w.DropWork(t.Context(), k.Kind, k.Key) })
}

func checkWorkRows(t *testing.T, s *store.Store) {
	whole := full[chela.Work]()
	whole.State = chela.WorkDue
	bare := chela.Work{ID: "work_bare", Kind: "k", Key: "k", State: chela.WorkDue}
	for _, want := range []chela.Work{whole, bare} {
		same(t, true, add(t, s, want))
		got, is := live(t, s, want.Kind, want.Key)
		same(t, true, is)
		same(t, want, got)

		// A claim changes what it says and nothing else.
		now := want.DueAt
		mine := claimAs(t, s, store.WorkClaim{Node: "node_a", Kind: want.Kind, Now: now, Until: now.Add(lease), Limit: 1})
		want.State, want.Owner, want.Until = chela.WorkRunning, "node_a", now.Add(lease)
		want.Attempts++
		want.Token++
		same(t, []chela.Work{want}, mine)
		got, _ = live(t, s, want.Kind, want.Key)
		same(t, want, got)
	}
	refuse(t, s, chela.Conflict, func(w *store.Write) error {
		_, err := w.AddWork(t.Context(), chela.Work{ID: bare.ID, Kind: "other", Key: "other", State: chela.WorkDue})
		return err
	})
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
	same(t, []chela.WorkID{"work_a"}, ids(mine, workID))
	same(t, false, add(t, s, again)) // running is unfinished too
	done := mine[0]
	done.State = chela.WorkDone
	move(t, s, done)
	_, is := live(t, s, done.Kind, done.Key)
	same(t, false, is)
	same(t, true, add(t, s, again))
}

func workID(k chela.Work) chela.WorkID { return k.ID }

func checkClaims(t *testing.T, s *store.Store) {
	same(t, map[string]time.Time{}, next(t, s))
	for id, n := range map[string]int{"a": 3, "b": 1, "c": 2, "d": 1, "e": 1000} {
		k := newWork(id)
		k.DueAt = at(n)
		add(t, s, k)
	}
	for _, kind := range []string{"a kind", "zzz"} {
		other := newWork(kind)
		other.Kind, other.DueAt = kind, at(500)
		add(t, s, other)
	}
	same(t, map[string]time.Time{"a kind": at(500), workKind: at(1), "zzz": at(500)}, next(t, s))

	same(t, nil, ids(claim(t, s, "node_a", at(0), 10), workID))
	same(t, []chela.WorkID{"work_b", "work_d"}, sorted(claim(t, s, "node_a", at(2), 2)))
	same(t, []chela.WorkID{"work_c"}, sorted(claim(t, s, "node_b", at(2), 10)))
	same(t, nil, sorted(claim(t, s, "node_b", at(2), 10)))
	same(t, map[string]time.Time{"a kind": at(500), workKind: at(3), "zzz": at(500)}, next(t, s))

	byKey := store.WorkClaim{Node: "node_b", Kind: workKind, Key: "e", Now: at(999), Until: at(2000)}
	same(t, nil, sorted(claimAs(t, s, byKey)))
	byKey.Now = at(1000)
	same(t, []chela.WorkID{"work_e"}, sorted(claimAs(t, s, byKey)))
	same(t, []chela.WorkID{"work_a"}, sorted(claim(t, s, "node_b", at(3), 10)))
	same(t, map[string]time.Time{"a kind": at(500), "zzz": at(500)}, next(t, s))
}

func checkWorkOwners(t *testing.T, s *store.Store) {
	ctx := t.Context()
	owners := func() map[chela.NodeID]time.Time {
		return read(t, s, func(r *store.Read) (map[chela.NodeID]time.Time, error) { return r.WorkOwners(ctx) })
	}
	owned := func(node chela.NodeID) []chela.Work {
		return read(t, s, func(r *store.Read) ([]chela.Work, error) { return r.OwnedWork(ctx, node) })
	}
	same(t, map[chela.NodeID]time.Time{}, owners())
	for _, id := range []string{"a", "b", "c"} {
		add(t, s, newWork(id))
	}
	claim(t, s, "node_a", at(0), 1)
	claim(t, s, "node_a", at(1), 1)
	claim(t, s, "node_b", at(2), 1)
	same(t, map[chela.NodeID]time.Time{"node_a": at(0).Add(lease), "node_b": at(2).Add(lease)}, owners())
	mine := owned("node_a")
	same(t, []chela.WorkID{"work_a", "work_b"}, ids(mine, workID))

	write(t, s, func(w *store.Write) error { return w.RenewWork(ctx, "node_a", at(0).Add(time.Hour)) })
	same(t, map[chela.NodeID]time.Time{"node_a": at(0).Add(time.Hour), "node_b": at(2).Add(lease)}, owners())

	// What was renewed since it was read stays where it is.
	renewed := owned("node_a")
	mine[0].Error, renewed[1].Error, renewed[1].DueAt = "lost", "lost", at(7)
	write(t, s, func(w *store.Write) error { return w.FreeWork(ctx, mine[0]) })
	write(t, s, func(w *store.Write) error { return w.FreeWork(ctx, renewed[1]) })
	same(t, []chela.WorkID{"work_a"}, ids(owned("node_a"), workID))
	freed, _ := live(t, s, workKind, "b")
	want := newWork("b")
	want.Attempts, want.Token, want.Error, want.DueAt = 1, 1, "lost", at(7)
	same(t, want, freed)
	// Its owner cannot end what somebody else may have now.
	mine[1].State = chela.WorkDone
	refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.MoveWork(ctx, mine[1]) })
	same(t, []chela.WorkID{"work_b"}, sorted(claim(t, s, "node_a", at(7), 10)))
	refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.MoveWork(ctx, mine[1]) })
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
		k.State, k.Error, k.DueAt, k.Attempts = to, "é\n", now.Add(time.Minute), 7

		if !chela.WorkRunning.CanMove(to) {
			refuse(t, s, chela.Internal, func(w *store.Write) error { return w.MoveWork(ctx, k) })
			continue
		}
		for _, change := range []func(*chela.Work){
			func(k *chela.Work) { k.Owner = "node_b" },
			func(k *chela.Work) { k.Token-- },
		} {
			foreign := k
			change(&foreign)
			refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.MoveWork(ctx, foreign) })
		}
		move(t, s, k)
		refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.MoveWork(ctx, k) })
		k.Owner, k.Until = "", time.Time{}
		got, is := live(t, s, k.Kind, k.Key)
		same(t, to == chela.WorkDue, is)
		if is {
			same(t, k, got)
		}
		if to == chela.WorkFailed {
			defer func() { // under its id it can be tried once more
				set(t, s, newWork(fmt.Sprint(i)))
				same(t, nil, read(t, s, func(r *store.Read) ([]chela.Work, error) { return r.FailedWork(ctx, 10) }))
			}()
		}
		failed := read(t, s, func(r *store.Read) ([]chela.Work, error) { return r.FailedWork(ctx, 10) })
		if to == chela.WorkFailed {
			same(t, []chela.Work{k}, failed)
		} else {
			same(t, nil, failed)
		}
	}
}

func checkWorkSet(t *testing.T, s *store.Store) {
	k := newWork("a")
	k.Args = []byte(`{"n":1}`)
	set(t, s, k)
	got, _ := live(t, s, k.Kind, k.Key)
	same(t, k, got)

	// An attempt that failed is forgotten by what is set anew.
	mine := claim(t, s, "node_a", at(0), 1)[0]
	mine.State, mine.Error, mine.DueAt = chela.WorkDue, "no", at(50)
	move(t, s, mine)
	anew := newWork("b")
	anew.Key, anew.DueAt, anew.Args = "a", at(20), []byte(`{"n":2}`)
	set(t, s, anew)
	want := anew
	want.ID, want.Token = k.ID, 1
	got, _ = live(t, s, k.Kind, k.Key)
	same(t, want, got)

	// What is set while it runs is due once more afterwards, whatever its end.
	for i, c := range []struct {
		to        chela.WorkState
		due       int // as the attempt wants
		set, want int
	}{
		{chela.WorkDone, 0, 400, 400},
		{chela.WorkFailed, 0, 300, 300},
		{chela.WorkDue, 500, 200, 200},
		{chela.WorkDue, 300, 400, 300},
	} {
		mine := claim(t, s, "node_a", at(400), 1)[0]
		anew.DueAt, anew.Args = at(c.set), fmt.Appendf(nil, `{"n":%d}`, i)
		set(t, s, anew)
		same(t, false, add(t, s, anew))
		mine.State, mine.DueAt = c.to, at(c.due)
		move(t, s, mine)
		want.DueAt, want.Args, want.Token = at(c.want), anew.Args, mine.Token
		got, _ = live(t, s, k.Kind, k.Key)
		same(t, want, got)
	}
}

func checkWorkDropped(t *testing.T, s *store.Store) {
	k := newWork("a")
	drop(t, s, k) // what is not there
	add(t, s, k)
	drop(t, s, k)
	_, is := live(t, s, k.Kind, k.Key)
	same(t, false, is)

	for _, to := range []chela.WorkState{chela.WorkDue, chela.WorkDone, chela.WorkFailed} {
		add(t, s, k)
		mine := claim(t, s, "node_a", at(0), 1)[0]
		drop(t, s, k)
		mine.State = to
		move(t, s, mine)
		_, is := live(t, s, k.Kind, k.Key)
		same(t, false, is)
	}
	same(t, nil, read(t, s, func(r *store.Read) ([]chela.Work, error) { return r.FailedWork(t.Context(), 10) }))

	// What was dropped while it runs can be added anew, and is then due once more.
	for _, again := range []func(k chela.Work){
		func(k chela.Work) { same(t, true, add(t, s, k)) },
		func(k chela.Work) { set(t, s, k) },
	} {
		add(t, s, k)
		mine := claim(t, s, "node_a", at(0), 1)[0]
		drop(t, s, k)
		anew := newWork("b")
		anew.Key, anew.DueAt = "a", at(9)
		again(anew)
		mine.State = chela.WorkDone
		move(t, s, mine)
		got, _ := live(t, s, k.Kind, k.Key)
		want := k
		want.DueAt, want.Token = at(9), mine.Token
		same(t, want, got)
		drop(t, s, k)
	}

	// Neither is done by a node that is gone.
	add(t, s, k)
	mine := claim(t, s, "node_a", at(0), 1)[0]
	drop(t, s, k)
	write(t, s, func(w *store.Write) error { return w.FreeWork(t.Context(), mine) })
	_, is = live(t, s, k.Kind, k.Key)
	same(t, false, is)
}

func checkWorkForgotten(t *testing.T, s *store.Store) {
	for i := range 4 {
		k := newWork(fmt.Sprint(i))
		add(t, s, k)
		if i < 3 {
			mine := claim(t, s, "node_a", at(0), 1)[0]
			mine.State, mine.DueAt = chela.WorkFailed, at(i)
			move(t, s, mine)
		}
	}
	var gone int64
	write(t, s, func(w *store.Write) (err error) {
		gone, err = w.ForgetWork(t.Context(), at(2))
		return err
	})
	same(t, 2, gone)
	failed := read(t, s, func(r *store.Read) ([]chela.Work, error) { return r.FailedWork(t.Context(), 10) })
	same(t, []chela.WorkID{"work_2"}, ids(failed, workID))
	_, is := live(t, s, workKind, "3")
	same(t, true, is)
}
