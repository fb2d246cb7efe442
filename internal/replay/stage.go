package replay

import (
	"context"

	"chela"
	"chela/internal/prompt"
	"chela/internal/store"
	"chela/internal/turn"
)

// A Stage is where the turns of a home are run again.
type Stage struct {
	Store *store.Store
	Frame func(chela.Session, chela.Turn) (prompt.Frame, error) // what the agent of a session has beside the conversation
	Turns turn.Config

	// Send commits messages for one thread and follows the turn that takes the
	// first one, until it ended or waits for somebody.
	Send func(ctx context.Context, messages []chela.Inbound) (chela.Turn, error)
}

// Replay runs a turn again from its record; live, the same messages also go to
// the model again, in a thread of their own. It is NotFound if there is no such
// turn, and a Conflict if it has not ended.
func (s *Stage) Replay(ctx context.Context, id chela.TurnID, live bool) (chela.Replay, error) {
	var rec Record
	var session chela.Session
	err := s.Store.Read(ctx, func(r *store.Read) (err error) {
		if rec, err = Read(ctx, r, id); err != nil {
			return err
		}
		session, err = r.Session(ctx, rec.Turn.Session)
		return err
	})
	if err != nil {
		return chela.Replay{}, err
	}
	frame, err := s.Frame(session, rec.Turn)
	if err != nil {
		return chela.Replay{}, err
	}
	r, err := Run(ctx, rec, Config{Agent: session.Agent, Frame: frame, Turns: s.Turns})
	if err == nil && live {
		r.Live, err = s.again(ctx, rec, session)
	}
	return r, err
}
