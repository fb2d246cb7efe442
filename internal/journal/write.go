package journal

import (
	"context"

	"chela"
	"chela/internal/store"
	"chela/internal/turn/machine"
)

// Write stores a change row by row. Its events are for the caller to announce.
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
	for _, u := range ch.Usage {
		charge := w.Charge
		if u.Node != "" { // it was reserved
			charge = w.Settle
		}
		if err := charge(ctx, u); err != nil {
			return err
		}
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
