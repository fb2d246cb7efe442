package lane

import (
	"context"
	"slices"

	"chela"
	"chela/internal/engine/turn/machine"
	"chela/internal/store"
)

// readState loads the state of a turn, including the conversation of its prompt.
func readState(ctx context.Context, r *store.Read, t chela.Turn) (machine.State, error) {
	thread, err := r.Thread(ctx, t.Thread)
	if err != nil {
		return machine.State{}, err
	}
	rec := machine.Record{Thread: thread, Turn: t}
	if rec.Path, err = r.PromptPath(ctx, thread.Head); err != nil {
		return machine.State{}, err
	}
	return resumeState(ctx, r, rec)
}

// readPaused loads the state of a waiting turn without its conversation, which is
// sufficient to decide about its calls.
func readPaused(ctx context.Context, r *store.Read, t chela.Turn) (machine.State, error) {
	thread, err := r.Thread(ctx, t.Thread)
	if err != nil {
		return machine.State{}, err
	}
	return resumeState(ctx, r, machine.Record{Thread: thread, Turn: t})
}

// resumeState loads a turn's entries, calls and approvals and returns its state.
func resumeState(ctx context.Context, r *store.Read, rec machine.Record) (_ machine.State, err error) {
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

// handedOut returns the state of the thread's turn that waits for client-side
// tool results, and whether there is one.
func handedOut(ctx context.Context, r *store.Read, thread chela.Thread) (s machine.State, ok bool, err error) {
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
	s, err = readPaused(ctx, r, live[i])
	return s, s.Waits(), err
}
