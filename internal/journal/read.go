// Package journal reads turns out of the store and writes what becomes of them,
// row by row. Who may write, and when, is decided by whoever calls it: the lane
// for a turn that runs, or that waits.
package journal

import (
	"context"
	"slices"

	"chela"
	"chela/internal/store"
	"chela/internal/turn/machine"
)

// Read returns the state of a turn out of what the journal holds.
func Read(ctx context.Context, r *store.Read, t chela.Turn) (machine.State, error) {
	thread, err := r.Thread(ctx, t.Thread)
	if err != nil {
		return machine.State{}, err
	}
	rec := machine.Record{Thread: thread, Turn: t}
	if rec.Path, err = r.PromptPath(ctx, thread.Head); err != nil {
		return machine.State{}, err
	}
	return resume(ctx, r, rec)
}

// Paused returns the state of a turn that does not run, without the
// conversation: enough to decide about its calls.
func Paused(ctx context.Context, r *store.Read, t chela.Turn) (machine.State, error) {
	thread, err := r.Thread(ctx, t.Thread)
	if err != nil {
		return machine.State{}, err
	}
	return resume(ctx, r, machine.Record{Thread: thread, Turn: t})
}

// resume returns the state of a turn of which thread, path and turn are known.
func resume(ctx context.Context, r *store.Read, rec machine.Record) (_ machine.State, err error) {
	if rec.Entries, err = r.TurnEntries(ctx, rec.Turn.ID); err != nil {
		return machine.State{}, err
	}
	if rec.Calls, err = r.Calls(ctx, rec.Turn.ID); err != nil {
		return machine.State{}, err
	}
	if rec.Approvals, err = r.TurnApprovals(ctx, rec.Turn.ID); err != nil {
		return machine.State{}, err
	}
	return machine.Resume(rec), nil
}

// HandedOut returns the state of the turn of a thread that waits for results of
// offered tools, and whether there is one.
func HandedOut(ctx context.Context, r *store.Read, thread chela.Thread) (s machine.State, ok bool, err error) {
	if thread.State != chela.ThreadAwaiting {
		return s, false, nil
	}
	live, err := r.LiveTurns(ctx, thread.Session)
	if err != nil {
		return s, false, err
	}
	i := slices.IndexFunc(live, func(t chela.Turn) bool { return t.Thread == thread.ID })
	if i < 0 {
		return s, false, nil
	}
	s, err = Paused(ctx, r, live[i])
	return s, s.Waits(), err
}
