package turn

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"chela"
	"chela/internal/engine/turn/machine"
	"chela/internal/safety"
)

// judgeOffered judges a client-side call. The client is responsible for
// arguments and permissions on its side: neither the schema nor the policy is
// applied.
func judgeOffered(c chela.ToolCall) chela.ToolCall {
	if len(c.Args) == 0 || string(bytes.TrimSpace(c.Args)) == "null" {
		c.Args = json.RawMessage("{}")
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(c.Args, &object); err != nil {
		c.State, c.Why = chela.CallFailed, "not run: the arguments must be one JSON object"
		return c
	}
	c.State, c.Resume = chela.CallApproved, chela.ResumeWait
	return c
}

// handOut hands calls to the client and releases the lane until the results
// arrive.
func (n *run) handOut(ctx context.Context, calls []chela.ToolCall) error {
	for _, c := range calls {
		if c.State == chela.CallRunning {
			continue // was handed out by an earlier run
		}
		c.State, c.StartedAt = chela.CallRunning, n.Now()
		n.move(c)
		n.announce(chela.Event{Kind: chela.EventToolOffered, Call: c.ID, Tool: c.Tool, Text: string(c.Args)})
	}
	turn := n.state.Turn
	turn.State = chela.TurnAwaiting
	n.state.Thread.State = chela.ThreadAwaiting
	n.add(machine.Change{Turn: &turn})
	return n.flush(ctx, "turn.offer")
}

// Bring returns the change that adds a message with results to the turn waiting
// for them. The turn is ready to run once no call is open: calls without a
// result keep waiting, unless the message has a text or attachments, which
// supersede them and follow the results as an entry of their own. It is Invalid
// if a result belongs to no call of the newest step, and a Conflict if its call
// no longer waits. S must not be used afterwards; the same holds for Supersede
// and Expire.
func (r *Runner) Bring(s machine.State, m chela.InboxMessage) (machine.Change, error) {
	n := r.run(s)
	says := strings.TrimSpace(m.Text) != "" || len(m.Attachments) > 0
	for i, result := range m.Results {
		c, err := n.state.WaitingCall(result.Call)
		if err != nil {
			return machine.Change{}, err
		}
		c.State, c.FinishedAt = chela.CallDone, n.Now()
		if result.Failed {
			c.State = chela.CallFailed
		}
		n.move(c)
		body := chela.ResultBody{Text: result.Text, Inbox: m.ID, Provenance: safety.Outside("the result of " + c.Tool + ", which the client ran")}
		if i == len(m.Results)-1 && !says && !slices.EqualFunc(m.Offers, n.state.Offers, sameSpec) {
			body.Offers = m.Offers
		}
		n.result(c, body, "")
	}
	if says {
		for _, c := range n.state.Open() {
			n.settle(c, chela.CallSkipped, SkippedText)
		}
		n.addEntry(machine.UserBody(m))
	}
	if len(n.state.Open()) == 0 {
		turn := n.state.Turn
		turn.State = chela.TurnProcessing
		if m.Overrides.Sampling != nil || m.Overrides.Answer > 0 { // each client request has its own answer parameters
			turn.Overrides.Sampling, turn.Overrides.Answer = m.Overrides.Sampling, m.Overrides.Answer
		}
		n.state.Thread.State = chela.ThreadProcessing
		n.add(machine.Change{Turn: &turn})
	}
	return n.sealed(), nil
}

func sameSpec(a, b chela.ToolSpec) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Input, b.Input)
}

// Supersede returns the change that ends a turn waiting for client-side
// results, because a new message starts another turn.
func (r *Runner) Supersede(s machine.State) machine.Change {
	return r.giveUp(s, chela.CallSkipped, SkippedText, "superseded by a new message")
}

// Expire returns the change that ends a turn whose client-side results timed
// out. It does not continue, since its client is gone.
func (r *Runner) Expire(s machine.State) machine.Change {
	const why = "no result arrived in time"
	return r.giveUp(s, chela.CallFailed, why, why)
}

// giveUp ends a turn as interrupted, and its handed-out calls in the given
// state.
func (r *Runner) giveUp(s machine.State, state chela.CallState, text, why string) machine.Change {
	n := r.run(s)
	for _, c := range n.state.HandedOut() {
		n.settle(c, state, text)
	}
	n.end(context.Background(), machine.Action{Kind: machine.Finish, Ending: chela.TurnInterrupted, Failure: &chela.Failure{Message: why}})
	return n.sealed()
}
