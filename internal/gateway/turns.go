package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/approval"
	"chela/internal/gateway/edge"
)

// maxWait is how many milliseconds a client may wait for a turn in one request.
const maxWait = 120_000

func turnOf(v *edge.Visit) chela.TurnID { return chela.TurnID(v.Request.PathValue("id")) }

// getTurn shows a turn. Who waits for it gets it as it is when the time is up.
func (g *Gateway) getTurn(v *edge.Visit) error {
	ms, err := v.Number("wait_ms", 0, maxWait)
	if err != nil {
		return err
	}
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

// steerTurn says something into a turn that runs; one that ended takes nothing
// any more.
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

func (g *Gateway) getApprovals(v *edge.Visit) error {
	state := chela.ApprovalState(v.Query.Get("state"))
	switch state {
	case "", chela.ApprovalPending, chela.ApprovalGranted, chela.ApprovalDenied, chela.ApprovalExpired, chela.ApprovalWithdrawn:
	default:
		return chela.E(chela.Invalid, fmt.Sprintf("an approval cannot be %.40q", state)).
			WithHint("use pending, granted, denied, expired or withdrawn")
	}
	approvals, err := g.cfg.Home.Approvals.Approvals(v.Request.Context(), state)
	return listed(v, approvals, err)
}

func (g *Gateway) getApproval(v *edge.Visit) error {
	a, err := g.cfg.Home.Approvals.Approval(v.Request.Context(), chela.ApprovalID(v.Request.PathValue("id")))
	return found(v, a, err)
}

func (g *Gateway) answerApproval(v *edge.Visit) error {
	var said api.Answer
	if err := v.Decode(&said); err != nil {
		return err
	}
	a, err := g.decide(v, chela.ApprovalID(v.Request.PathValue("id")), said)
	return found(v, a, err)
}

// decide answers an approval in the name of whoever asks, and of whom they
// answer for.
func (g *Gateway) decide(v *edge.Visit, id chela.ApprovalID, said api.Answer) (chela.Approval, error) {
	if err := checkName("by", said.By); err != nil {
		return chela.Approval{}, err
	}
	by := v.Who()
	if said.By != "" {
		by += " for " + said.By
	}
	return g.cfg.Home.Approvals.Answer(v.Request.Context(), approval.Reply{
		ID: id, Answer: said.Answer, Pattern: said.Pattern, Comment: said.Reason, By: by,
	})
}

func (g *Gateway) getGrants(v *edge.Visit) error {
	grants, err := g.cfg.Home.Grants.Grants(v.Request.Context())
	return listed(v, grants, err)
}

func (g *Gateway) revokeGrant(v *edge.Visit) error {
	return done(v, g.cfg.Home.Grants.Revoke(v.Request.Context(), chela.GrantID(v.Request.PathValue("id"))))
}
