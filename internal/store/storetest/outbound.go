package storetest

import (
	"fmt"
	"testing"

	"chela"
	"chela/internal/store"
)

func owe(t testing.TB, s *store.Store, o chela.Outbound) {
	t.Helper()
	write(t, s, func(w *store.Write) error { return w.Owe(t.Context(), o) })
}

// owed returns the replies that a channel has not confirmed.
func owed(t testing.TB, s *store.Store, channel string, limit int) []chela.Outbound {
	t.Helper()
	return read(t, s, func(r *store.Read) ([]chela.Outbound, error) { return r.Owed(t.Context(), channel, limit) })
}

func checkOutboundRows(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	whole := full[chela.Outbound]()
	whole.Session, whole.Turn, whole.State = f.key, f.turn, chela.OutboxPending
	bare := chela.Outbound{ID: "out_bare", Session: f.key, Turn: f.turn, State: chela.OutboxPending}
	bare.To.Channel = "c"
	notice := bare
	notice.ID, notice.Turn, notice.To.Channel = "out_notice", "", "n"
	for _, want := range []chela.Outbound{whole, bare, notice} {
		owe(t, s, want)
		same(t, []chela.Outbound{want}, owed(t, s, want.To.Channel, 10))
		refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.Owe(ctx, want) })
	}
	after := full[chela.Outbound]()
	after.ID, after.State = bare.ID, chela.OutboxPending // an attempt that came to nothing
	write(t, s, func(w *store.Write) error { return w.MoveOutbound(ctx, after) })
	want := bare
	want.Attempts, want.Error, want.SentAt = after.Attempts, after.Error, after.SentAt
	same(t, []chela.Outbound{want}, owed(t, s, "c", 10))
}

func checkOwed(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	for i, id := range []string{"d", "c", "b", "a"} {
		o := f.newOutbound(id)
		o.CreatedAt = at((i + 1) / 2) // 0, 1, 1, 2
		owe(t, s, o)
	}
	elsewhere := f.newOutbound("x")
	elsewhere.To.Channel = "slack"
	owe(t, s, elsewhere)

	id := func(o chela.Outbound) chela.OutboxID { return o.ID }
	same(t, []chela.OutboxID{"out_d", "out_b", "out_c", "out_a"}, ids(owed(t, s, "telegram", 10), id))
	write(t, s, func(w *store.Write) error {
		if err := w.MoveOutbound(ctx, chela.Outbound{ID: "out_b", State: chela.OutboxSent}); err != nil {
			return err
		}
		return w.MoveOutbound(ctx, chela.Outbound{ID: "out_d", State: chela.OutboxFailed})
	})
	same(t, []chela.OutboxID{"out_c"}, ids(owed(t, s, "telegram", 1), id))
	same(t, []chela.OutboxID{"out_x"}, ids(owed(t, s, "slack", 10), id))

	for i, name := range []string{"old", "new", "newer"} {
		o := f.newOutbound(name)
		o.CreatedAt, o.To.Channel = at(10*i), "ntfy"
		owe(t, s, o)
		o.State, o.Attempts, o.Error = chela.OutboxFailed, 3, "refused"
		write(t, s, func(w *store.Write) error { return w.MoveOutbound(ctx, o) })
	}
	dropped := f.newOutbound("dropped")
	dropped.CreatedAt, dropped.To.Channel = at(30), "ntfy"
	owe(t, s, dropped)
	write(t, s, func(w *store.Write) error { return w.DropOwed(ctx, "out_dropped") })
	lost := read(t, s, func(r *store.Read) ([]chela.Outbound, error) { return r.Undelivered(ctx, "ntfy", at(10)) })
	same(t, []chela.OutboxID{"out_newer", "out_new"}, ids(lost, id))
}

// checkOutboundMoves sees of a row only whether it is still owed: nothing else
// can be asked of the outbox.
func checkOutboundMoves(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	states := []chela.OutboxState{chela.OutboxPending, chela.OutboxSent, chela.OutboxFailed, "made up"}
	n := 0
	for _, actual := range states {
		for _, to := range states {
			n++
			o := f.newOutbound(fmt.Sprint(n))
			o.State = actual
			o.To.Channel = fmt.Sprint("channel_", n)
			owe(t, s, o)
			moved := o
			moved.State = to
			move := func(w *store.Write) error { return w.MoveOutbound(ctx, moved) }
			left := 0
			if actual == chela.OutboxPending {
				left = 1
			}
			switch {
			case to == "made up":
				refuse(t, s, chela.Internal, move)
			case actual != chela.OutboxPending:
				refuse(t, s, chela.Conflict, move)
			default:
				write(t, s, move)
				if to != chela.OutboxPending {
					left = 0
				}
			}
			same(t, left, len(owed(t, s, o.To.Channel, 10)))
		}
	}
}

func checkNotices(t *testing.T, s *store.Store) {
	f := found(t, s, "f")
	o := f.newOutbound("a")
	o.Turn = ""
	for _, fresh := range []bool{true, false} {
		write(t, s, func(w *store.Write) error {
			added, err := w.OweOnce(t.Context(), o)
			same(t, fresh, added)
			o.Text = "something else"
			return err
		})
	}
	o.Text = "hello"
	same(t, []chela.Outbound{o}, owed(t, s, "telegram", 9))
}

// checkDroppedOwed sees that what nobody needs any more is not owed, and the rest is.
func checkDroppedOwed(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	for _, id := range []string{"a/1", "a/2", "ab/1", "b/1"} {
		o := f.newOutbound(id)
		o.To.Channel = "c"
		owe(t, s, o)
	}
	write(t, s, func(w *store.Write) error { return w.DropOwed(ctx, "out_a/") })
	left := owed(t, s, "c", 10)
	same(t, []chela.OutboxID{"out_ab/1", "out_b/1"}, ids(left, func(o chela.Outbound) chela.OutboxID { return o.ID }))
}
