package cli

import (
	"fmt"
	"slices"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/cli/console"
	"chela/internal/surface/terminal"
)

// A traced is one item of a turn with a duration or a cost: a response of the
// model, another model call, or a tool call.
type traced struct {
	Step  int               `json:"step"`
	Call  chela.CallID      `json:"call,omitempty"` // empty for a response
	What  string            `json:"what"`           // the model or the tool
	State string            `json:"state"`          // its outcome, or its progress
	Began time.Time         `json:"began"`
	Ended time.Time         `json:"ended,omitzero"` // zero while it runs
	Usage *chela.TokenUsage `json:"usage,omitempty"`
	Cost  chela.MicroUSD    `json:"cost,omitempty"`
}

func (c *commands) turnTrace(journal api.Trace) error {
	t, steps := journal.Turn, trace(journal)
	if c.p.JSON {
		return c.p.Document(struct {
			chela.Turn
			Trace []traced `json:"trace"`
		}{t, steps})
	}
	c.turnFields(t)
	c.p.Line("")
	head := []string{"STEP", "WHAT", "STATE", "AFTER", "TOOK", "INPUT", "CACHED", "OUTPUT", "COST"}
	return console.List(c.p, steps, head, func(s traced) []string {
		row := []string{fmt.Sprint(s.Step), s.What, s.State, terminal.Lasting(s.Began.Sub(t.CreatedAt)), took(s.Began, s.Ended)}
		if u := s.Usage; u != nil {
			row = append(row, fmt.Sprint(u.Input), fmt.Sprint(u.CacheRead+u.CacheWrite), fmt.Sprint(u.Output))
		}
		if s.Cost > 0 {
			row = append(slices.Concat(row, make([]string, max(len(head)-1-len(row), 0))), s.Cost.String())
		}
		return row
	})
}

// trace orders the responses of a turn and the calls of each. A model call
// starts once the entry before its response exists.
func trace(journal api.Trace) []traced {
	steps := []traced{}
	step, before := 0, journal.Turn.CreatedAt
	for _, e := range journal.Entries {
		if b, ok := e.Body.(chela.AnswerBody); ok {
			step++
			answer, others := paid(journal.Usage, step)
			steps = append(steps, others...)
			steps = append(steps, traced{
				Step: step, What: b.Model, State: string(b.Stop), Usage: b.Usage, Cost: answer.Cost,
				Began: before, Ended: e.CreatedAt,
			})
			for _, call := range journal.Calls {
				if call.Step == step {
					steps = append(steps, tracedCall(call))
				}
			}
		}
		before = e.CreatedAt
	}
	_, others := paid(journal.Usage, step+1)
	return append(steps, others...)
}

// paid returns the ledger row of a step's response, and the other model calls
// that were charged to it, or may have to be.
func paid(rows []chela.Usage, step int) (answer chela.Usage, others []traced) {
	for _, u := range rows {
		switch {
		case u.Step != step || u.State == chela.UsageReleased:
		case u.State == chela.UsageSettled && u.Purpose == "turn":
			answer = u
		default:
			tokens := u.Tokens
			others = append(others, traced{
				Step: step, What: u.Model + ", " + u.Purpose, State: string(u.State), Usage: &tokens, Cost: u.Cost, Began: u.CreatedAt,
			})
		}
	}
	return answer, others
}

func tracedCall(call chela.ToolCall) traced {
	s := traced{
		Step: call.Step, Call: call.ID, What: call.Tool, State: string(call.State), Began: call.StartedAt, Ended: call.FinishedAt,
	}
	if s.Began.IsZero() { // it has not been started, or never was
		s.Began = call.CreatedAt
	}
	return s
}
