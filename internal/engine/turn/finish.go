package turn

import (
	"context"

	"chela"
	"chela/internal/engine/turn/machine"
)

// finish ends the turn: open calls get results, a pending approval is
// withdrawn, and the final state, the answer and the outbox reply are one
// transaction.
func (n *run) finish(ctx context.Context, a machine.Action) error {
	n.end(ctx, a)
	return n.flush(ctx, "turn.end")
}

// end adds the end of the turn.
func (n *run) end(ctx context.Context, a machine.Action) {
	for _, c := range n.state.Open() {
		switch {
		case c.State != chela.CallRunning:
			n.settle(c, chela.CallSkipped, "not run: "+a.Failure.Message)
		case c.Resume == chela.ResumeWait:
			n.settle(c, chela.CallSkipped, "its result is no longer awaited: "+a.Failure.Message)
		default: // retries are exhausted: the outcome stays unknown
			n.record(c, unknown())
		}
	}
	if p := n.state.Pending; p != nil {
		withdrawn := *p
		withdrawn.State, withdrawn.AnsweredAt = chela.ApprovalWithdrawn, n.Now()
		n.add(machine.Change{Approvals: []chela.Approval{withdrawn}})
		n.announce(chela.Event{Kind: chela.EventApprovalAnswered, Approval: p.ID, Text: string(withdrawn.State)})
	}
	turn := n.state.Turn
	turn.State, turn.Failure, turn.FinishedAt = a.Ending, a.Failure, n.Now()
	n.state.Thread.State = chela.ThreadIdle
	if a.Ending == chela.TurnInterrupted {
		n.state.Thread.State = chela.ThreadInterrupted
	}
	n.add(machine.Change{Turn: &turn, Owed: n.owe(ctx, turn)})
	n.announce(chela.Event{Kind: chela.EventTurnFinished, Text: string(a.Ending)})
}

// reply returns the turn's reply to its origin: the answer, or the reason why
// there is none.
func (n *run) reply(t chela.Turn) chela.Outbound {
	text := n.state.Answer.Text
	if len(n.state.Answer.Calls) > 0 || n.state.Answer.Hidden {
		text = "" // text beside calls is not the answer
	}
	if n.state.Command != "" {
		text = commandReply(n.state.Compacted)
	}
	if t.Failure != nil && t.State != chela.TurnLimited || text == "" {
		text = "(" + string(t.State) + ")"
		if t.Failure != nil {
			text = "(" + string(t.State) + ": " + t.Failure.Message + ")"
		}
	}
	return chela.Outbound{
		ID: n.IDs.Outbox(), Session: t.Session, Turn: t.ID, Entry: n.state.AnswerID, To: t.Origin, Text: text,
		State: chela.OutboxPending, CreatedAt: t.FinishedAt,
	}
}
