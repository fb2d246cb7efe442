// Package journal reads turns out of the store and writes what becomes of them,
// row by row. Who may write, and when, is decided by whoever calls it: the lane
// for a turn that runs, or that waits.
package journal

import (
	"context"
	"slices"

	"chela"
	"chela/internal/store"
	"chela/internal/turn"
)

// Read returns the state of a turn out of what the journal holds.
func Read(ctx context.Context, r *store.Read, t chela.Turn) (turn.State, error) {
	thread, err := r.Thread(ctx, t.Thread)
	if err != nil {
		return turn.State{}, err
	}
	path, err := r.PromptPath(ctx, thread.Head)
	if err != nil {
		return turn.State{}, err
	}
	calls, err := r.Calls(ctx, t.ID)
	if err != nil {
		return turn.State{}, err
	}
	approvals, err := r.TurnApprovals(ctx, t.ID)
	if err != nil {
		return turn.State{}, err
	}
	return turn.Resume(thread, t, path, calls, approvals), nil
}

// Paused returns the state of a turn that does not run, without the
// conversation before it: enough to decide about its calls.
func Paused(ctx context.Context, r *store.Read, t chela.Turn) (turn.State, error) {
	thread, err := r.Thread(ctx, t.Thread)
	if err != nil {
		return turn.State{}, err
	}
	entries, err := r.TurnEntries(ctx, t.ID)
	if err != nil {
		return turn.State{}, err
	}
	calls, err := r.Calls(ctx, t.ID)
	if err != nil {
		return turn.State{}, err
	}
	approvals, err := r.TurnApprovals(ctx, t.ID)
	return turn.Resume(thread, t, entries, calls, approvals), err
}

// HandedOut returns the state of the turn of a thread that waits for results of
// offered tools, and whether there is one.
func HandedOut(ctx context.Context, r *store.Read, thread chela.Thread) (s turn.State, ok bool, err error) {
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
