package turn

import (
	"context"

	"chela"
	"chela/internal/turn/machine"
)

// finish ends the turn: open calls get their results, a question that waits is
// withdrawn, and the ending, the answer and the reply that is owed are one
// transaction.
func (n *run) finish(ctx context.Context, a machine.Action) error {
	n.end(ctx, a)
	return n.flush(ctx, "turn.end")
}

// end adds the ending of the turn.
func (n *run) end(ctx context.Context, a machine.Action) {
	for _, c := range n.state.Open() {
		switch {
		case c.State != chela.CallRunning:
			n.settle(c, chela.CallSkipped, "not run: "+a.Failure.Message)
		case c.Resume == chela.ResumeWait:
			n.settle(c, chela.CallSkipped, "its result is not waited for: "+a.Failure.Message)
		default: // the turn is given up: nobody asks any more what became of it
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

// reply is what is owed to whoever the turn came from: the answer, or why there
// is none.
func (n *run) reply(t chela.Turn) chela.Outbound {
	text := n.state.Answer.Text
	if len(n.state.Answer.Calls) > 0 || n.state.Answer.Hidden {
		text = "" // what was said on the way is no answer
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
