package storetest

import (
	"testing"

	"chela"
	"chela/internal/store"
)

// checkCounts adds one more of each than of the one before, and one that does
// not count.
func checkCounts(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	for i, state := range []chela.TurnState{chela.TurnProcessing, chela.TurnAwaiting} {
		g := f
		g.thread = chela.ThreadID([]string{"thr_1", "thr_2"}[i])
		write(t, s, func(w *store.Write) error {
			if err := w.CreateThread(ctx, f.newThread(g.thread)); err != nil {
				return err
			}
			return w.OpenTurn(ctx, g.newTurn(chela.TurnID("turn_"+state), state))
		})
	}
	for i, id := range []string{"1", "2", "3", "answered"} {
		write(t, s, func(w *store.Write) error { return f.ask(t, w, i+1, f.newApproval(id)) })
	}
	write(t, s, func(w *store.Write) error {
		return w.MoveApproval(ctx, chela.Approval{ID: "apr_answered", State: chela.ApprovalDenied})
	})
	for i, id := range []string{"1", "2", "3", "4", "dropped"} {
		accept(t, s, f.newMessage(id), int64(i+1))
	}
	write(t, s, func(w *store.Write) error {
		return w.MoveMessage(ctx, chela.InboxMessage{ID: "in_dropped", State: chela.InboxDropped})
	})
	for _, id := range []string{"1", "2", "3", "4", "5", "sent"} {
		owe(t, s, f.newOutbound(id))
	}
	write(t, s, func(w *store.Write) error {
		return w.MoveOutbound(ctx, chela.Outbound{ID: "out_sent", State: chela.OutboxSent})
	})
	want := store.Counts{Sessions: 1, TurnsLive: 2, ApprovalsPending: 3, InboxWaiting: 4, OutboxPending: 5}
	same(t, want, read(t, s, func(r *store.Read) (store.Counts, error) { return r.Counts(ctx) }))
}
