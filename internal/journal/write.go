package journal

import (
	"context"

	"chela"
	"chela/internal/store"
	"chela/internal/turn/machine"
)

// Write stores a change row by row, but for what was paid, which Pay does. Its
// events are for the caller to announce.
func Write(ctx context.Context, w *store.Write, ch machine.Change) error {
	if ch.Turn != nil {
		if err := w.MoveTurn(ctx, *ch.Turn, ch.TurnFrom); err != nil {
			return err
		}
	}
	for _, e := range ch.Entries {
		if err := w.AppendEntry(ctx, e); err != nil {
			return err
		}
	}
	if ch.Thread != nil {
		if err := w.MoveThread(ctx, ch.ThreadFrom, *ch.Thread); err != nil {
			return err
		}
	}
	if err := writeCalls(ctx, w, ch); err != nil {
		return err
	}
	for _, m := range ch.Absorbed {
		if err := w.MoveMessage(ctx, m); err != nil {
			return err
		}
	}
	for _, o := range ch.Owed {
		if err := w.Owe(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// Pay stores what the model calls of a change cost. It is the last thing before the
// commit, so that the budgets of the home, which everybody needs, are locked for no
// longer than that takes. Late is filled with the rows that somebody else had given
// up as lost, and stay so, once the transaction is committed.
func Pay(ctx context.Context, w *store.Write, rows []chela.Usage, late map[chela.UsageID]bool) error {
	clear(late)
	for _, u := range rows {
		var err error
		if u.Node == "" {
			err = w.Charge(ctx, u)
		} else { // it was reserved
			late[u.ID] = true
			err = w.SettleIfOpen(ctx, u, func() { delete(late, u.ID) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeCalls stores the calls of a change and the questions about them.
func writeCalls(ctx context.Context, w *store.Write, ch machine.Change) error {
	for _, m := range ch.Calls {
		var err error
		if m.From == "" {
			err = w.AddCall(ctx, m.Call)
		} else {
			err = w.MoveCall(ctx, m.Call, m.From)
		}
		if err != nil {
			return err
		}
	}
	for _, a := range ch.Approvals {
		var err error
		if a.State == chela.ApprovalPending {
			err = w.AddApproval(ctx, a)
		} else {
			err = w.MoveApproval(ctx, a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
