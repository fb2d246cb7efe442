package api

import (
	"time"

	"chela"
)

// A TraceStep is one item of a turn with a duration or a cost: a response of the
// model, another model call, or a tool call.
type TraceStep struct {
	Step  int               `json:"step"`
	Call  chela.CallID      `json:"call,omitempty"` // empty for a response
	What  string            `json:"what"`           // the model or the tool
	State string            `json:"state"`          // its outcome, or its progress
	Began time.Time         `json:"began"`
	Ended time.Time         `json:"ended,omitzero"` // zero while it runs
	Usage *chela.TokenUsage `json:"usage,omitempty"`
	Cost  chela.MicroUSD    `json:"cost,omitempty"`
}

// Steps orders the responses of a turn and the calls of each. A model call
// starts once the entry before its response exists.
func (t Trace) Steps() []TraceStep {
	steps := []TraceStep{}
	step, before := 0, t.Turn.CreatedAt
	for _, e := range t.Entries {
		if b, ok := e.Body.(chela.AnswerBody); ok {
			step++
			answer, others := paid(t.Usage, step)
			steps = append(steps, others...)
			steps = append(steps, TraceStep{
				Step: step, What: b.Model, State: string(b.Stop), Usage: b.Usage, Cost: answer.Cost,
				Began: before, Ended: e.CreatedAt,
			})
			for _, call := range t.Calls {
				if call.Step == step {
					steps = append(steps, stepOfCall(call))
				}
			}
		}
		before = e.CreatedAt
	}
	_, others := paid(t.Usage, step+1)
	return append(steps, others...)
}

// paid returns the ledger row of a step's response, and the other model calls
// that were charged to it, or may have to be.
func paid(rows []chela.Usage, step int) (answer chela.Usage, others []TraceStep) {
	for _, u := range rows {
		switch {
		case u.Step != step || u.State == chela.UsageReleased:
		case u.State == chela.UsageSettled && u.Purpose == "turn":
			answer = u
		default:
			tokens := u.Tokens
			others = append(others, TraceStep{
				Step: step, What: u.Model + ", " + u.Purpose, State: string(u.State), Usage: &tokens, Cost: u.Cost, Began: u.CreatedAt,
			})
		}
	}
	return answer, others
}

func stepOfCall(call chela.ToolCall) TraceStep {
	s := TraceStep{
		Step: call.Step, Call: call.ID, What: call.Tool, State: string(call.State), Began: call.StartedAt, Ended: call.FinishedAt,
	}
	if s.Began.IsZero() { // it has not been started, or never was
		s.Began = call.CreatedAt
	}
	return s
}
