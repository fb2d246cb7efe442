package replay

import (
	"context"
	"fmt"
	"strings"
	"time"

	"chela"
	"chela/internal/call"
	"chela/internal/prompt"
	"chela/internal/turn"
	"chela/internal/turn/machine"
)

// Config is what a replay needs beside the record: who takes the turn, and what
// turns have in common.
type Config struct {
	Agent string
	Frame prompt.Frame
	Turns turn.Config // what a replay plays itself is not used
}

// grace is how long calls are waited for where one was left behind then; all
// others end by themselves, at once.
const grace = 100 * time.Millisecond

// Run runs a turn again and compares what comes of it with the record. The
// error is ctx's.
func Run(ctx context.Context, rec Record, cfg Config) (chela.Replay, error) {
	p := newPlayer(&rec, cfg)
	turns := cfg.Turns
	turns.Emit, turns.Before = func(chela.Event) {}, p.before
	turns.Bound = nil // results are played as they were recorded
	turns.Compact, turns.Flush = p.compact, flushed(&rec)
	turns.Limits, turns.Grace = limits(&rec, turns.Limits), graceOf(&rec)
	p.runner = turn.NewRunner(turns)
	err := p.play(ctx)
	if ctx.Err() != nil {
		return chela.Replay{}, ctx.Err()
	}
	r := chela.Replay{
		Turn: rec.Turn.ID, Recorded: ending(rec.Turn, rec.Entries), Entries: len(rec.Entries), Difference: p.compare(),
		Prompts: make([]chela.StepSize, len(p.asks)),
	}
	for i, a := range p.asks {
		r.Prompts[i] = a.size
	}
	if d := r.Difference; err != nil && (d == nil || d.Replayed == "") {
		r.Difference = &chela.Difference{Place: fmt.Sprintf("entry %d", p.at+1), Replayed: "(" + err.Error() + ")"}
		if d != nil {
			r.Difference.Place, r.Difference.Recorded = d.Place, d.Recorded
		}
	}
	r.Same = r.Difference == nil
	return r, nil
}

func graceOf(rec *Record) time.Duration {
	for _, e := range rec.Entries {
		if e.Body.Text == call.LeftText {
			return grace
		}
	}
	return time.Minute
}

// limits returns the limits of the turn as far as the record tells which it
// met; else those that are given, if the turn stayed within them.
func limits(rec *Record, given machine.Limits) machine.Limits {
	t := rec.Turn
	given.Time = 0
	if f := t.Failure; f != nil && f.Limit == chela.LimitSteps {
		given.Steps = t.Steps
		return given
	}
	if f := t.Failure; f != nil && f.Limit == chela.LimitTime {
		if _, after, ok := strings.Cut(f.Message, machine.TookLonger); ok {
			given.Time, _ = time.ParseDuration(after) // one that is none is no limit, and the difference is told
		}
	}
	if given.Steps <= t.Steps {
		given.Steps = t.Steps + 3 // so that nothing is said of steps that run out
	}
	return given
}
