package rewind

import (
	"cmp"
	"slices"

	"chela"
)

// A Part is the calls of a turn that lie on the way, in the order in which they
// ran.
type Part []chela.ToolCall

// A Way leads from the head of a thread to another entry.
type Way struct {
	Undone []Part // the newest first
	Redone []Part // the oldest first
}

// A Step makes a file or document what it is to be. Before is what the journal
// says it is now. Where a call was cut off, Or is what it may be instead.
type Step struct {
	chela.Preimage
	Or *string
}

// A Gap is a file or document that a turn did not find as the one before it on
// the way had left it: somebody else has changed it in between.
type Gap struct {
	Kind        chela.PreimageKind
	Path        string
	Left, Found string // SHA-256; empty for nothing
}

// Plan works out what becomes of files and documents on a way: one step for
// each that is to change, in the order in which they come up.
func Plan(w Way) (steps []Step, gaps []Gap) {
	p := planner{at: map[place]int{}}
	for _, part := range w.Undone {
		for _, c := range sum(part) {
			left := c.Step
			left.Before, left.After = c.After, c.Before
			p.add(left)
		}
	}
	for _, part := range w.Redone {
		for _, c := range sum(part) {
			if c.failed {
				continue // most likely it never was
			}
			c.Or, c.Made = nil, ""
			p.add(c.Step)
		}
	}
	return slices.DeleteFunc(p.steps, Step.isNothing), p.gaps
}

// isNothing reports whether a step changes nothing: neither the file nor the
// folders that were made for it.
func (s Step) isNothing() bool {
	return s.Before == s.After && s.Or == nil && (s.After != "" || s.Made == "")
}

// A place is where a step happens.
type place struct {
	kind chela.PreimageKind
	path string
}

type planner struct {
	steps []Step
	at    map[place]int // index into steps
	gaps  []Gap
}

// add lets another step follow on what is planned already.
func (p *planner) add(s Step) {
	here := place{s.Kind, s.Path}
	i, known := p.at[here]
	if !known {
		p.at[here] = len(p.steps)
		p.steps = append(p.steps, s)
		return
	}
	whole := &p.steps[i]
	if whole.After != s.Before && (s.Or == nil || whole.After != *s.Or) {
		p.gaps = append(p.gaps, Gap{Kind: s.Kind, Path: s.Path, Left: s.Before, Found: whole.After})
	}
	whole.After = s.After
	whole.Mode = cmp.Or(s.Mode, whole.Mode)
	whole.Made = s.Made
}

// A change is what a part came to for one file or document: Before and After
// are as in a pre-image, Or is what may be there instead of After.
type change struct {
	Step
	failed bool // the only call failed
}

// sum returns the changes of a part. What happened to a file between two calls
// of one turn is that turn's.
func sum(part Part) []change {
	var changes []change
	at := map[place]int{}
	for _, c := range part {
		for _, p := range c.Changes {
			here := place{p.Kind, p.Path}
			i, known := at[here]
			if !known {
				i = len(changes)
				at[here] = i
				changes = append(changes, change{Step: Step{Preimage: p}})
			}
			whole := &changes[i]
			whole.After, whole.Or, whole.failed = p.After, nil, false
			whole.Mode = cmp.Or(p.Mode, whole.Mode)
			if c.State != chela.CallDone { // it may or may not have come so far
				whole.Or = &p.Before
				whole.failed = c.State == chela.CallFailed && !known
			}
		}
	}
	return changes
}

// Left returns what stays of the undone calls: whatever they did beyond what
// they wrote, and what they wrote too if the files are kept.
func Left(w Way, keepFiles bool) []chela.NotUndone {
	var left []chela.NotUndone
	for _, part := range w.Undone {
		for _, c := range slices.Backward(part) {
			putBack := c.Effect == chela.EffectWrite && len(c.Changes) > 0 && !keepFiles
			if c.StartedAt.IsZero() || c.Effect == chela.EffectRead || putBack {
				continue
			}
			left = append(left, chela.NotUndone{Call: c.ID, Turn: c.Turn, Tool: c.Tool, Effect: c.Effect, Text: string(c.Args)})
		}
	}
	return left
}

// reversed returns what takes changes back that a rewind made.
func reversed(changes []chela.Preimage) []Step {
	var steps []Step
	for _, p := range slices.Backward(changes) {
		p.Before, p.After = p.After, p.Before
		steps = append(steps, Step{Preimage: p})
	}
	return steps
}
