package replay

import (
	"context"
	"fmt"
	"slices"

	"chela"
	"chela/internal/store"
)

// A Record is all that the journal holds of a turn, and of the conversation
// before it.
type Record struct {
	Turn      chela.Turn
	Before    []chela.Entry // what of the path to the turn's base can be in a prompt
	Entries   []chela.Entry // of the turn, in order
	Calls     []chela.ToolCall
	Approvals []chela.Approval
	Usage     []chela.Usage
}

// Read returns the record of a turn. It is NotFound if there is no such turn,
// and a Conflict if it has not ended.
func Read(ctx context.Context, r *store.Read, id chela.TurnID) (rec Record, err error) {
	if rec.Turn, err = r.Turn(ctx, id); err != nil {
		return rec, err
	}
	if !rec.Turn.State.Ended() {
		return rec, chela.E(chela.Conflict, fmt.Sprintf("turn %s is %s; only what has ended can be run again", id, rec.Turn.State)).
			WithHint("wait for its end, or stop it with chela turns cancel " + string(id))
	}
	if rec.Before, err = r.PromptPath(ctx, rec.Turn.Base); err != nil {
		return rec, err
	}
	if rec.Entries, err = r.TurnEntries(ctx, id); err != nil {
		return rec, err
	}
	if rec.Calls, err = r.Calls(ctx, id); err != nil {
		return rec, err
	}
	if rec.Approvals, err = r.TurnApprovals(ctx, id); err != nil {
		return rec, err
	}
	rec.Usage, err = r.TurnUsage(ctx, rec.Turn)
	rec.Usage = slices.DeleteFunc(rec.Usage, func(u chela.Usage) bool { return u.State != chela.UsageSettled }) // no answer is known
	return rec, err
}

// opening returns how many of the entries were there when the turn began: they
// were written together with it.
func (r *Record) opening() int {
	n := 0
	for n < len(r.Entries) && r.Entries[n].CreatedAt.Equal(r.Turn.CreatedAt) && !answered(r.Entries[n]) {
		n++
	}
	return n
}

// answered reports whether a model of the turn said an entry.
func answered(e chela.Entry) bool { return e.Kind == chela.EntryAssistant && e.Body.Model != "" }

// ending returns how the turn ended.
func ending(t chela.Turn, entries []chela.Entry) chela.Ending {
	end := chela.Ending{State: t.State, Failure: t.Failure, Steps: t.Steps}
	for _, e := range entries {
		if answered(e) {
			end.Answer = e.Body.Text
		}
	}
	return end
}

// A place is where a call stands in its turn. It is the same in a record and in
// its replay, while ids are not.
type place struct{ step, index int }

func placeOf(c chela.ToolCall) place { return place{c.Step, c.Index} }

// calls returns the calls of the record by place.
func (r *Record) calls() map[place]chela.ToolCall {
	byPlace := make(map[place]chela.ToolCall, len(r.Calls))
	for _, c := range r.Calls {
		byPlace[placeOf(c)] = c
	}
	return byPlace
}

// never reports whether a call never ran here, and its result says only why.
func never(c chela.ToolCall, result chela.Entry) bool {
	return (c.StartedAt.IsZero() || c.Resume == chela.ResumeWait) && c.Why != "" && result.Body.Text == c.Why
}
