package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway/edge"
)

func turnOf(v *edge.Visit) chela.TurnID { return chela.TurnID(v.Request.PathValue("id")) }

// getTurn shows a turn. A waiting client gets its current state at the timeout.
func (g *Gateway) getTurn(v *edge.Visit) error {
	ms := v.Number("wait_ms", 0)
	ctx := v.Request.Context()
	if ms > 0 {
		patient, cancel := context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond)
		_, err := g.cfg.Home.Conversation.Follow(patient, turnOf(v), func(chela.Event) {})
		waited := patient.Err()
		cancel()
		switch {
		case ctx.Err() != nil:
			return edge.Refusal{Err: context.Cause(ctx), Turn: turnOf(v)}
		case errors.Is(waited, context.DeadlineExceeded):
		case chela.KindOf(err) == chela.Unavailable:
			return edge.Refusal{Err: err, Turn: turnOf(v)}
		case err != nil:
			return err
		}
	}
	return g.outcome(v, http.StatusOK)
}

func (g *Gateway) outcome(v *edge.Visit, status int) error {
	t, err := g.cfg.Home.Turns.Outcome(v.Request.Context(), turnOf(v))
	if err != nil {
		return err
	}
	return v.Answer(status, t)
}

func (g *Gateway) cancelTurn(v *edge.Visit) error {
	if err := g.cfg.Home.Conversation.Stop(v.Request.Context(), turnOf(v)); err != nil {
		return err
	}
	return g.outcome(v, http.StatusAccepted)
}

// steerTurn sends a text into a running turn; a turn that has ended accepts
// none.
func (g *Gateway) steerTurn(v *edge.Visit) error {
	var s api.Steer
	if err := v.Decode(&s); err != nil {
		return err
	}
	t, err := g.cfg.Home.Turns.Turn(v.Request.Context(), turnOf(v))
	if err != nil {
		return err
	}
	if t.State.Ended() {
		return chela.E(chela.Conflict, fmt.Sprintf("turn %s is %s", t.ID, t.State)).WithHint("send a message to its session")
	}
	r, err := g.accept(v, api.Message{Session: t.Session, Thread: t.Thread, Text: s.Text, Mode: chela.QueueSteer, MessageID: s.MessageID})
	return accepted(v, r, err)
}

func (g *Gateway) getTrace(v *edge.Visit) error {
	t, err := g.cfg.Home.Turns.Trace(v.Request.Context(), turnOf(v))
	return found(v, t, err)
}

func (g *Gateway) replayTurn(v *edge.Visit) error {
	var how api.Replaying
	if err := v.Decode(&how); err != nil {
		return err
	}
	r, err := g.cfg.Home.Turns.Replay(v.Request.Context(), turnOf(v), how.Live)
	return found(v, r, err)
}
