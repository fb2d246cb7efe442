package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"chela"
	"chela/internal/call"
	"chela/internal/tool"
	"chela/internal/turn"
)

// agent is who takes the turn again.
func (p *player) agent() turn.Agent {
	return turn.Agent{
		Name: p.cfg.Agent, Provider: p, Model: p.rec.Turn.Model, Frame: p.cfg.Frame, Tools: tools{p}, Policy: p.rule,
	}
}

// tools are those that the turn called, and do nothing.
type tools struct{ *player }

// notRun is what the model reads before the reason why a call did not run.
const notRun = "not run: "

// Get implements turn.Toolbox: every tool is there, but for one that a dead run
// had used and the next one did not find.
func (t tools) Get(name string) (chela.Tool, bool) {
	if name == t.gone {
		return chela.Tool{}, false
	}
	return chela.Tool{Name: name, Judge: t.judge(name), Prepare: t.prepare, Run: t.run, Happened: t.happened}, true
}

// Check implements turn.Toolbox. Arguments that were found wrong are so again,
// in the same words.
func (t tools) Check(name string, args json.RawMessage) (json.RawMessage, error) {
	for _, e := range t.rec.Entries {
		for _, spec := range e.Body.Calls {
			c, ok := t.byID(spec.ID)
			if !ok || c.Step != t.step || spec.Tool != name || string(spec.Args) != string(args) {
				continue
			}
			if c.Effect == "" && c.State == chela.CallFailed {
				return nil, chela.E(chela.Invalid, strings.TrimPrefix(c.Why, notRun))
			}
			return c.Args, nil
		}
	}
	return args, nil
}

func (p *player) byID(id chela.CallID) (chela.ToolCall, bool) {
	i := slices.IndexFunc(p.rec.Calls, func(c chela.ToolCall) bool { return c.ID == id })
	if i < 0 {
		return chela.ToolCall{}, false
	}
	return p.rec.Calls[i], true
}

// Hash implements turn.Toolbox.
func (t tools) Hash(name string, args json.RawMessage) string { return tool.Hash(name, args) }

// judge tells what a call was found to do, and what was shown of it.
func (t tools) judge(name string) func(json.RawMessage) chela.Judgement {
	return func(args json.RawMessage) chela.Judgement {
		for _, c := range t.rec.Calls {
			if c.Step != t.step || c.Tool != name || string(c.Args) != string(args) {
				continue
			}
			j := chela.Judgement{Effect: c.Effect, Resume: c.Resume}
			if a, ok := t.asked[placeOf(c)]; ok {
				j.Preview, j.Subjects, j.Exact = a.Preview, a.Subjects, a.Exact
				if a.Floor {
					j.Risk = a.Reason
				}
			}
			return j
		}
		return chela.Judgement{Effect: chela.EffectRead}
	}
}

// rule rules as the policy did. A call that was to be asked about, and then was
// not as an earlier answer covered it, still has the reason why.
func (p *player) rule(_ context.Context, _ chela.Turn, c chela.ToolCall, _ chela.Judgement) (turn.Ruling, error) {
	then, ok := p.calls[placeOf(c)]
	if !ok {
		return turn.Ruling{Verdict: chela.Allow}, nil
	}
	if a, ok := p.asked[placeOf(c)]; ok {
		return turn.Ruling{Verdict: chela.Ask, Reason: a.Reason}, nil
	}
	switch {
	case then.State == chela.CallDenied:
		return turn.Ruling{Verdict: chela.Deny, Reason: strings.TrimPrefix(then.Why, "denied: ")}, nil
	case then.Why != "" && c.State == chela.CallRequested && !never(then, p.results[placeOf(c)]):
		return turn.Ruling{Verdict: chela.Ask, Reason: then.Why}, nil
	}
	return turn.Ruling{Verdict: chela.Allow}, nil
}

// prepare gives back what was known of a call before it ran, or why it did not.
func (t tools) prepare(_ context.Context, c chela.ToolCall) (chela.Prepared, error) {
	then := t.calls[placeOf(c)]
	if then.State == chela.CallFailed && then.StartedAt.IsZero() && strings.HasPrefix(then.Why, notRun) {
		return chela.Prepared{}, chela.E(chela.Invalid, strings.TrimPrefix(then.Why, notRun))
	}
	return chela.Prepared{Intent: then.Intent, Changes: then.Changes}, nil
}

// run returns what the call came to then, or lets happen what kept it from
// coming to an end.
func (t tools) run(ctx context.Context, c chela.ToolCall) (chela.ToolResult, error) {
	then, ok := t.results[placeOf(c)]
	if !ok {
		t.cut(errLost)
		return chela.ToolResult{}, fmt.Errorf("%w: it runs %s", errLost, c.Tool)
	}
	switch text := then.Body.Text; {
	case text == call.StoppedText, text == call.TimeUpText:
		t.end()
		<-ctx.Done()
		return chela.ToolResult{}, ctx.Err()
	case text == call.LeftText:
		t.end()
		<-t.left
		return chela.ToolResult{}, ctx.Err()
	case text == turn.NotDoneText, then.Body.Status == chela.CallUnknown:
		t.died(c, text == turn.NotDoneText)
		t.cut(errDied)
		<-ctx.Done()
		return chela.ToolResult{}, ctx.Err()
	}
	return chela.ToolResult{
		Text: then.Body.Text, Failed: then.Body.Status != chela.CallDone, Attachments: then.Body.Attachments, Whole: then.Body.Whole,
	}, nil
}

// died readies what the next run is to find of a call during which the process
// died. One that may be repeated was not: the turn was stopped meanwhile, or the
// tool is gone.
func (t tools) died(c chela.ToolCall, notDone bool) {
	repeatable := t.calls[placeOf(c)].Resume == chela.ResumeRepeat && !t.gaveUp()
	stopped := t.rec.Turn.State == chela.TurnInterrupted
	t.book.turn.Stop = notDone || repeatable && stopped
	if repeatable && !stopped {
		t.gone = c.Tool
	}
}

// happened answers as the tool did, of a call that a run had begun which died.
func (t tools) happened(_ context.Context, c chela.ToolCall) (*chela.ToolResult, error) {
	if then := t.results[placeOf(c)]; then.Body.Text == turn.NotDoneText {
		return nil, nil
	}
	return nil, chela.E(chela.Unavailable, "nobody could tell")
}
