package lane

import (
	"context"

	"chela"
	"chela/internal/engine/prompt"
	"chela/internal/engine/turn/machine"
	"chela/internal/store"
)

// load returns the state of an opened turn. For a fresh turn only the preceding
// conversation is read.
func (l *Lanes) load(ctx context.Context, o *OpenedTurn) (machine.State, chela.Session, error) {
	if o.Entries != nil {
		before, err := l.conversation(ctx, o.Thread)
		return o.Fresh(before), o.Session, err
	}
	var state machine.State
	var session chela.Session
	err := l.store.Read(ctx, func(r *store.Read) error {
		t, err := r.Turn(ctx, o.Turn.ID)
		if err != nil {
			return err
		}
		if session, err = r.Session(ctx, t.Session); err != nil {
			return err
		}
		state, err = readState(ctx, r, t)
		return err
	})
	return state, session, err
}

// conversation returns the conversation of a thread up to its head, from the
// cache or else from the journal.
func (l *Lanes) conversation(ctx context.Context, t chela.Thread) (prompt.Conversation, error) {
	if c, ok := l.known.Get(t); ok {
		return c, nil
	}
	path, err := store.Find(ctx, l.store, func(r *store.Read) ([]chela.Entry, error) { return r.PromptPath(ctx, t.Head) })
	return machine.Begin(t, path).Conversation, err
}
