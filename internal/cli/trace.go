package cli

import (
	"fmt"
	"time"

	"chela"
	"chela/internal/channel/terminal"
	"chela/internal/cli/manners"
)

// A traced is one thing that took time in a turn: an answer of the model, or a
// call of a tool.
type traced struct {
	Step  int               `json:"step"`
	Call  chela.CallID      `json:"call,omitempty"` // empty for an answer
	What  string            `json:"what"`           // the model or the tool
	State string            `json:"state"`          // how it ended, or how far it is
	Began time.Time         `json:"began"`
	Ended time.Time         `json:"ended,omitzero"` // zero while it goes on
	Usage *chela.TokenUsage `json:"usage,omitempty"`
}

func (c *commands) turnTrace(t chela.Turn, entries []chela.Entry, calls []chela.ToolCall) error {
	steps := trace(t, entries, calls)
	if c.p.JSON {
		return c.p.Document(struct {
			chela.Turn
			Trace []traced `json:"trace"`
		}{t, steps})
	}
	c.turnFields(t)
	c.p.Line("")
	head := []string{"STEP", "WHAT", "STATE", "AFTER", "TOOK", "INPUT", "CACHED", "OUTPUT"}
	return manners.List(c.p, steps, head, func(s traced) []string {
		row := []string{fmt.Sprint(s.Step), s.What, s.State, terminal.Lasting(s.Began.Sub(t.CreatedAt)), took(s.Began, s.Ended)}
		if u := s.Usage; u != nil {
			row = append(row, fmt.Sprint(u.Input), fmt.Sprint(u.CacheRead+u.CacheWrite), fmt.Sprint(u.Output))
		}
		return row
	})
}

// trace puts the answers of a turn and the calls that each asked for in order.
// The model is asked as soon as the entry before its answer is there.
func trace(t chela.Turn, entries []chela.Entry, calls []chela.ToolCall) []traced {
	steps := []traced{}
	step, before := 0, t.CreatedAt
	for _, e := range entries {
		if e.Kind == chela.EntryAssistant {
			step++
			steps = append(steps, traced{
				Step: step, What: e.Body.Model, State: string(e.Body.Stop), Usage: e.Body.Usage,
				Began: before, Ended: e.CreatedAt,
			})
			for _, call := range calls {
				if call.Step == step {
					steps = append(steps, tracedCall(call))
				}
			}
		}
		before = e.CreatedAt
	}
	return steps
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
