package storetest

import (
	"testing"

	"chela"
	"chela/internal/store"
)

func checkEntryRows(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	whole := full[chela.Entry]()
	whole.Thread, whole.Turn = f.thread, f.turn
	bare := chela.Entry{ID: "ent_bare", Thread: f.thread, Turn: f.turn, Seq: 1, Kind: chela.EntryNote}
	empty := f.newEntry(2)
	empty.Body = chela.Body{
		Attachments: []chela.Attachment{{}},
		Calls:       []chela.CallSpec{{ID: "call_1", Raw: "{not json"}, {ID: "call_2", Args: []byte(`[]`)}},
		Usage:       &chela.TokenUsage{},
	}
	for _, want := range []chela.Entry{whole, bare, empty} {
		write(t, s, func(w *store.Write) error { return w.AppendEntry(ctx, want) })
		same(t, want, read(t, s, func(r *store.Read) (chela.Entry, error) { return r.Entry(ctx, want.ID) }))
		refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.AppendEntry(ctx, want) })
	}
	taken := f.newEntry(2)
	taken.ID = "ent_other"
	refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.AppendEntry(ctx, taken) })
	miss(t, s, func(r *store.Read) (chela.Entry, error) { return r.Entry(ctx, "ent_nothing") })
}

// grow appends entries from place first to last, in one transaction.
func (f family) grow(t testing.TB, s *store.Store, first, last int64) {
	t.Helper()
	write(t, s, func(w *store.Write) error {
		for seq := first; seq <= last; seq++ {
			if err := w.AppendEntry(t.Context(), f.newEntry(seq)); err != nil {
				return err
			}
		}
		return nil
	})
}

func checkEntryPages(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f, other := found(t, s, "f"), found(t, s, "other")
	f.grow(t, s, 1, 5)
	other.grow(t, s, 1, 7)
	for _, page := range []struct {
		after int64
		limit int
		want  []int64
	}{
		{0, 2, []int64{1, 2}},
		{2, 2, []int64{3, 4}},
		{4, 2, []int64{5}},
		{5, 2, nil},
		{-1, 100, []int64{1, 2, 3, 4, 5}},
		{0, 0, nil},
	} {
		got := read(t, s, func(r *store.Read) ([]chela.Entry, error) { return r.Entries(ctx, f.thread, page.after, page.limit) })
		same(t, page.want, ids(got, entrySeq))
	}
}

func checkTurnEntries(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	second := f
	second.turn = "turn_second"
	write(t, s, func(w *store.Write) error {
		if err := w.OpenTurn(ctx, second.newTurn(second.turn, chela.TurnProcessing)); err != nil {
			return err
		}
		for seq, g := range []family{f, second, f, second, f} {
			if err := w.AppendEntry(ctx, g.newEntry(int64(5-seq))); err != nil {
				return err
			}
		}
		return nil
	})
	of := func(turn chela.TurnID) []int64 {
		return ids(read(t, s, func(r *store.Read) ([]chela.Entry, error) { return r.TurnEntries(ctx, turn) }), entrySeq)
	}
	same(t, []int64{1, 3, 5}, of(f.turn))
	same(t, []int64{2, 4}, of(second.turn))
	same(t, nil, of("turn_nothing"))
}

func entrySeq(e chela.Entry) int64 { return e.Seq }

// checkPath walks a tree of two branches:
//
//	1 ─ 2 ─ 3 ─ 6
//	     └─ 4 ─ 5
func checkPath(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f, other := found(t, s, "f"), found(t, s, "other")
	f.grow(t, s, 1, 3)
	other.grow(t, s, 1, 3)
	write(t, s, func(w *store.Write) error {
		for seq, parent := range map[int64]int64{4: 2, 5: 4, 6: 3} {
			e := f.newEntry(seq)
			e.Parent = f.entryID(parent)
			if err := w.AppendEntry(ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
	for head, want := range map[int64][]int64{1: {1}, 3: {1, 2, 3}, 5: {1, 2, 4, 5}, 6: {1, 2, 3, 6}} {
		got := read(t, s, func(r *store.Read) ([]chela.Entry, error) { return r.Path(ctx, f.thread, f.entryID(head)) })
		same(t, want, ids(got, entrySeq))
	}
	none := read(t, s, func(r *store.Read) ([]chela.Entry, error) { return r.Path(ctx, f.thread, "") })
	same(t, nil, none)
}

// checkLongPath has more entries than Path reads at once, most of them on a
// branch that is left.
func checkLongPath(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	const last = 1025
	f.grow(t, s, 1, last)
	branch := f.newEntry(last + 1)
	branch.Parent = f.entryID(2)
	write(t, s, func(w *store.Write) error { return w.AppendEntry(ctx, branch) })

	short := read(t, s, func(r *store.Read) ([]chela.Entry, error) { return r.Path(ctx, f.thread, branch.ID) })
	same(t, []int64{1, 2, last + 1}, ids(short, entrySeq))
	long := read(t, s, func(r *store.Read) ([]chela.Entry, error) { return r.Path(ctx, f.thread, f.entryID(last)) })
	if len(long) != last {
		t.Fatalf("path of %d entries, want %d", len(long), last)
	}
	for i, e := range long {
		if e.Seq != int64(i+1) {
			t.Fatalf("entry %d of the path has sequence %d", i+1, e.Seq)
		}
	}
}

func checkBrokenPath(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f, other := found(t, s, "f"), found(t, s, "other")
	f.grow(t, s, 1, 1)
	other.grow(t, s, 1, 1)
	orphan := f.newEntry(2)
	orphan.Parent = "ent_lost"
	stray := f.newEntry(3)
	stray.Parent = other.entryID(1) // which is in another thread
	write(t, s, func(w *store.Write) error {
		if err := w.AppendEntry(ctx, orphan); err != nil {
			return err
		}
		return w.AppendEntry(ctx, stray)
	})
	for _, head := range []chela.EntryID{"ent_lost", orphan.ID, stray.ID} {
		err := s.Read(ctx, func(r *store.Read) error {
			_, err := r.Path(ctx, f.thread, head)
			return err
		})
		if kind := chela.KindOf(err); kind != chela.Internal {
			t.Errorf("path to %s: error of kind %q, want %q: %v", head, kind, chela.Internal, err)
		}
	}
}
