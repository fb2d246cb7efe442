package storetest

import (
	"fmt"
	"testing"

	"chela"
	"chela/internal/store"
)

func (f family) newRewind(id chela.RewindID, state chela.RewindState) chela.Rewind {
	return chela.Rewind{
		ID: id, Session: f.key, Thread: f.thread, Kind: chela.RewindUndo, State: state, From: "ent_2", To: "ent_1", CreatedAt: at(0),
	}
}

func checkRewindRows(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	whole := full[chela.Rewind]()
	whole.Session, whole.Thread = f.key, f.thread
	whole.Turns, whole.First = 0, "" // which are not stored
	bare := f.newRewind("rew_bare", chela.RewindAsked)
	for _, want := range []chela.Rewind{whole, bare} {
		write(t, s, func(w *store.Write) error { return w.AddRewind(ctx, want) })
		same(t, want, read(t, s, func(r *store.Read) (chela.Rewind, error) { return r.Rewind(ctx, want.ID) }))
		refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.AddRewind(ctx, want) })
	}
	miss(t, s, func(r *store.Read) (chela.Rewind, error) { return r.Rewind(ctx, "rew_nothing") })

	after := full[chela.Rewind]()
	after.ID, after.State = bare.ID, chela.RewindPlanned
	write(t, s, func(w *store.Write) error { return w.MoveRewind(ctx, after, chela.RewindAsked) })
	want := after
	want.Turns, want.First = 0, ""
	want.Session, want.Thread, want.Kind, want.Key, want.To = f.key, f.thread, bare.Kind, bare.Key, bare.To
	want.KeepFiles, want.CreatedAt, want.RenewedAt = bare.KeepFiles, bare.CreatedAt, bare.RenewedAt
	same(t, want, read(t, s, func(r *store.Read) (chela.Rewind, error) { return r.Rewind(ctx, bare.ID) }))
}

func checkRewindHolders(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	for state, want := range map[chela.RewindState]chela.Kind{
		chela.RewindAsked: "", chela.RewindPlanned: "", chela.RewindDone: chela.Conflict, chela.RewindRefused: chela.Conflict,
	} {
		g := f
		g.thread = chela.ThreadID("thr_" + state)
		v := g.newRewind(chela.RewindID("rew_"+state), state)
		v.Node, v.RenewedAt = "node_a", at(1)
		write(t, s, func(w *store.Write) error {
			if err := w.CreateThread(ctx, f.newThread(g.thread)); err != nil {
				return err
			}
			return w.AddRewind(ctx, v)
		})
		renew := func(from, to chela.NodeID, second int) chela.Kind {
			after := v
			after.Node, after.RenewedAt = to, at(second)
			err := s.Write(ctx, "storetest", func(w *store.Write) error { return w.RenewRewind(ctx, after, from) })
			if err == nil {
				v = after
			}
			return chela.KindOf(err)
		}
		same(t, chela.Conflict, renew("node_b", "node_b", 2))
		same(t, want, renew("node_a", "node_a", 3))
		same(t, want, renew("node_a", "node_b", 4))
		same(t, chela.Conflict, renew("node_a", "node_a", 5))
		same(t, v, read(t, s, func(r *store.Read) (chela.Rewind, error) { return r.Rewind(ctx, v.ID) }))
	}
}

func checkOpenRewinds(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f, other := found(t, s, "f"), found(t, s, "other")
	second := f
	second.thread = "thr_second"
	write(t, s, func(w *store.Write) error { return w.CreateThread(ctx, f.newThread(second.thread)) })
	for i, v := range []chela.Rewind{
		f.newRewind("rew_done", chela.RewindDone), f.newRewind("rew_refused", chela.RewindRefused), f.newRewind("rew_b", chela.RewindPlanned),
		second.newRewind("rew_a", chela.RewindAsked), other.newRewind("rew_other", chela.RewindDone),
	} {
		v.CreatedAt = at(i)
		write(t, s, func(w *store.Write) error { return w.AddRewind(ctx, v) })
	}
	open := func(key chela.SessionKey) []chela.RewindID {
		found := read(t, s, func(r *store.Read) ([]chela.Rewind, error) { return r.OpenRewinds(ctx, key) })
		return ids(found, rewindID)
	}
	same(t, []chela.RewindID{"rew_b", "rew_a"}, open(f.key))
	same(t, nil, open(other.key))
	same(t, []chela.RewindID{"rew_b", "rew_a"}, open(""))
	for key, want := range map[chela.SessionKey]bool{f.key: true, other.key: false, "nobody": false} {
		same(t, want, read(t, s, func(r *store.Read) (bool, error) { return r.IsRewinding(ctx, key) }))
		same(t, store.PendingWork{Rewind: want}, read(t, s, func(r *store.Read) (store.PendingWork, error) { return r.HasMore(ctx, key) }))
	}
	for key, want := range map[chela.SessionKey]bool{f.key: true, other.key: false} {
		write(t, s, func(w *store.Write) error {
			a, _, err := w.ArriveAt(ctx, key)
			same(t, want, a.Waits)
			return err
		})
	}
	refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.AddRewind(ctx, f.newRewind("rew_more", chela.RewindAsked)) })
}

func rewindID(v chela.Rewind) chela.RewindID { return v.ID }

func checkRewindKeys(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f, other := found(t, s, "f"), found(t, s, "other")
	add := func(f family, id chela.RewindID, state chela.RewindState, key string) error {
		v := f.newRewind(id, state)
		v.Key = key
		return s.Write(ctx, "storetest", func(w *store.Write) error { return w.AddRewind(ctx, v) })
	}
	for _, c := range []struct {
		f     family
		id    chela.RewindID
		state chela.RewindState
		key   string
		want  chela.Kind
	}{
		{f, "rew_1", chela.RewindDone, "", ""},
		{f, "rew_2", chela.RewindDone, "", ""},
		{f, "rew_3", chela.RewindRefused, "k", ""},
		{f, "rew_4", chela.RewindDone, "k", ""},
		{f, "rew_5", chela.RewindDone, "k", chela.Conflict},
		{other, "rew_6", chela.RewindDone, "k", ""},
	} {
		if err := add(c.f, c.id, c.state, c.key); chela.KindOf(err) != c.want {
			t.Errorf("%s: %v, want kind %q", c.id, err, c.want)
		}
	}
	for key, want := range map[string]chela.RewindID{"k": "rew_4", "": "", "other": ""} {
		got := read(t, s, func(r *store.Read) (chela.Rewind, error) {
			v, ok, err := r.RewindByKey(ctx, f.key, key)
			if ok != (want != "") {
				t.Errorf("key %q is known: %v", key, ok)
			}
			return v, err
		})
		same(t, want, got.ID)
	}
}

func checkLastArrival(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f, other := found(t, s, "f"), found(t, s, "other")
	for i, c := range []struct {
		f     family
		kind  chela.RewindKind
		state chela.RewindState
		to    chela.EntryID
	}{
		{f, chela.RewindUndo, chela.RewindDone, "ent_1"},
		{f, chela.RewindRestore, chela.RewindDone, "ent_1"},
		{f, chela.RewindRedo, chela.RewindDone, "ent_1"},
		{f, chela.RewindUndo, chela.RewindRefused, "ent_1"},
		{f, chela.RewindUndo, chela.RewindDone, ""},
		{other, chela.RewindUndo, chela.RewindDone, "ent_1"},
		{f, chela.RewindUndo, chela.RewindPlanned, "ent_1"},
	} {
		v := c.f.newRewind(chela.RewindID(fmt.Sprint("rew_", i)), c.state)
		v.Kind, v.To, v.CreatedAt = c.kind, c.to, at(-i) // clocks go back
		write(t, s, func(w *store.Write) error { return w.AddRewind(ctx, v) })
	}
	for to, want := range map[chela.EntryID]chela.RewindID{"ent_1": "rew_1", "": "rew_4", "ent_2": ""} {
		got := read(t, s, func(r *store.Read) (chela.Rewind, error) {
			v, ok, err := r.LastArrival(ctx, f.thread, to)
			if ok != (want != "") {
				t.Errorf("somebody arrived at %q: %v", to, ok)
			}
			return v, err
		})
		same(t, want, got.ID)
	}
}

func checkRewindMoves(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	id := func(n int) chela.RewindID { return chela.RewindID(fmt.Sprint("rew_", n)) }
	own := func(n int) family {
		g := f
		g.thread = chela.ThreadID(fmt.Sprint("thr_", n)) // which has no other rewind
		return g
	}
	states := []chela.RewindState{chela.RewindAsked, chela.RewindPlanned, chela.RewindDone, chela.RewindRefused}
	mover[chela.RewindState]{
		states: states,
		from:   states,
		legal:  func(from, to chela.RewindState) bool { return from.CanMove(to) },
		add: func(w *store.Write, n int, state chela.RewindState) error {
			if err := w.CreateThread(ctx, f.newThread(own(n).thread)); err != nil {
				return err
			}
			return w.AddRewind(ctx, own(n).newRewind(id(n), state))
		},
		move: func(w *store.Write, n int, from, to chela.RewindState) error {
			return w.MoveRewind(ctx, own(n).newRewind(id(n), to), from)
		},
		state: func(r *store.Read, n int) (chela.RewindState, error) {
			v, err := r.Rewind(ctx, id(n))
			return v.State, err
		},
	}.check(t, s)
}

// checkStretches walks over three turns, of which the second was left in its
// midst, and into another thread:
//
//	f:      1 ─ 2 │ 3 ─ 4 ─ 5
//	             other: └─ 1 ─ 2
func checkStretches(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f, other := found(t, s, "f"), found(t, s, "other")
	second, third := f, other
	second.turn, third.turn = "turn_2", "turn_3"
	f.grow(t, s, 1, 2)
	write(t, s, func(w *store.Write) error {
		turn := second.newTurn(second.turn, chela.TurnCompleted)
		turn.Base = f.entryID(2)
		if err := w.OpenTurn(ctx, turn); err != nil {
			return err
		}
		turn = third.newTurn(third.turn, chela.TurnCompleted)
		turn.Base = f.entryID(4)
		return w.OpenTurn(ctx, turn)
	})
	second.grow(t, s, 3, 5)
	third.grow(t, s, 1, 2)
	first := store.Segment{Turn: f.turn, Thread: f.thread, Last: f.entryID(2), Seq: 2}
	cut := store.Segment{Turn: "turn_2", Thread: f.thread, Base: f.entryID(2), Last: f.entryID(4), Seq: 4, Cut: true}
	whole := cut
	whole.Last, whole.Seq, whole.Cut = f.entryID(5), 5, false
	branch := store.Segment{Turn: "turn_3", Thread: other.thread, Base: f.entryID(4), Last: other.entryID(2), Seq: 2}
	for _, c := range []struct {
		head  chela.EntryID
		limit int
		want  []store.Segment
	}{
		{"", 10, nil},
		{f.entryID(2), 10, []store.Segment{first}},
		{f.entryID(5), 10, []store.Segment{whole, first}},
		{other.entryID(2), 10, []store.Segment{branch, cut, first}},
		{other.entryID(2), 2, []store.Segment{branch, cut}},
	} {
		same(t, c.want, read(t, s, func(r *store.Read) ([]store.Segment, error) { return r.Stretches(ctx, c.head, c.limit) }))
	}
	got := read(t, s, func(r *store.Read) ([]chela.Entry, error) { return r.TurnEntries(ctx, "turn_3") })
	same(t, []int64{1, 2}, ids(got, entrySeq))
}
