package rewind

import (
	"cmp"
	"slices"

	"chela"
)

// A Part holds the calls of a turn on the way, in execution order.
type Part []chela.ToolCall

// A Path is the path from the head of a thread to another entry.
type Path struct {
	Undone []Part // newest first
	Redone []Part // oldest first
}

// A Step changes one file or document from Before, the recorded current
// content, to After. If a call was cut off, Or is the other possible current
// content.
type Step struct {
	chela.Preimage
	Or *string
}

// Plan combines the changes of files and documents on a way into one step each,
// in order of first occurrence. A gap is a foreign change between two turns: a turn
// found other content, After, than the previous one on the way had left, Before.
func Plan(w Path) (steps []Step, gaps []chela.Preimage) {
	at := map[place]int{} // index into steps
	add := func(s Step) {
		here := place{s.Kind, s.Path}
		i, known := at[here]
		if !known {
			at[here] = len(steps)
			steps = append(steps, s)
			return
		}
		whole := &steps[i]
		if whole.After != s.Before && (s.Or == nil || whole.After != *s.Or) {
			gaps = append(gaps, chela.Preimage{Kind: s.Kind, Path: s.Path, Before: s.Before, After: whole.After})
		}
		whole.followedBy(s.Preimage)
		whole.Made = s.Made
	}
	for _, part := range w.Undone {
		for _, c := range sum(part) {
			c.Preimage = inverse(c.Preimage)
			add(c.Step)
		}
	}
	for _, part := range w.Redone {
		for _, c := range sum(part) {
			if c.failed {
				continue // most likely it never took effect
			}
			c.Or, c.Made = nil, ""
			add(c.Step)
		}
	}
	return slices.DeleteFunc(steps, Step.isNothing), gaps
}

// inverse returns the pre-image of taking a change back.
func inverse(p chela.Preimage) chela.Preimage {
	p.Before, p.After, p.ModeBefore, p.ModeAfter = p.After, p.Before, p.ModeAfter, p.ModeBefore
	return p
}

// followedBy combines a step with the change after it.
func (s *Step) followedBy(p chela.Preimage) {
	if s.ModeBefore == 0 && s.Before != "" && s.After != "" { // until then the mode was kept
		s.ModeBefore = p.ModeBefore
	}
	if p.After == "" {
		s.ModeAfter = 0
	} else if p.ModeAfter != 0 {
		s.ModeAfter = p.ModeAfter
	}
	s.After, s.Mode = p.After, cmp.Or(p.Mode, s.Mode)
}

// isNothing reports whether a step changes neither the content nor the folders
// created for it.
func (s Step) isNothing() bool {
	sameMode := s.After == "" || s.ModeBefore == s.ModeAfter || s.ModeAfter == 0
	return s.Before == s.After && s.Or == nil && sameMode && (s.After != "" || s.Made == "")
}

// A place identifies the file or document of a step.
type place struct {
	kind chela.PreimageKind
	path string
}

// A change is the combined effect of a part on one file or document: Before and
// After as in a pre-image, Or is the alternative to After.
type change struct {
	Step
	failed bool // its only call failed
}

// sum returns the changes of a part. Foreign changes between two calls of one
// turn are attributed to the turn.
func sum(part Part) []change {
	var changes []change
	at := map[place]int{}
	for _, c := range part {
		for _, p := range c.Changes {
			if p.Kind == chela.PreimageTree || p.Kind == chela.PreimageOmitted {
				continue
			}
			here := place{p.Kind, p.Path}
			i, known := at[here]
			if !known {
				i = len(changes)
				at[here] = i
				changes = append(changes, change{Step: Step{Preimage: p}})
			}
			whole := &changes[i]
			whole.Or, whole.failed = nil, false
			whole.followedBy(p)
			if c.State != chela.CallDone && !c.Observed() { // its write may or may not have taken effect
				whole.Or = &p.Before
				whole.failed = c.State == chela.CallFailed && !known
			}
		}
	}
	return changes
}

// Left returns the remaining effects of the undone calls: all effects beyond
// the recorded writes, and with keepFiles the writes as well. What several commands
// did not capture for one reason is told once. Preview describes a call.
func Left(w Path, keepFiles bool, preview func(chela.ToolCall) string) []chela.NotUndone {
	var left []chela.NotUndone
	for _, part := range w.Undone {
		for _, c := range slices.Backward(part) {
			putBack := c.Effect == chela.EffectWrite && len(c.Changes) > 0 && !keepFiles
			if c.Observed() && !keepFiles {
				left = notCaptured(left, c, preview)
				continue
			}
			if c.StartedAt.IsZero() || c.Effect == chela.EffectRead || putBack {
				continue
			}
			text := preview(c)
			if tree := c.Tree(); tree != nil && tree.Why != "" && !keepFiles {
				text += " (" + tree.Why + ")"
			}
			left = append(left, chela.NotUndone{Call: c.ID, Turn: c.Turn, Tool: c.Tool, Effect: c.Effect, Text: text})
		}
	}
	return left
}

// notCaptured adds the effects of a command beyond its pre-images.
func notCaptured(left []chela.NotUndone, c chela.ToolCall, preview func(chela.ToolCall) string) []chela.NotUndone {
	for _, p := range c.Changes {
		n := chela.NotUndone{Call: c.ID, Turn: c.Turn, Tool: c.Tool, Effect: c.Effect, Text: p.Why}
		switch {
		case p.Why == "":
			continue
		case p.Kind == chela.PreimageTree:
			n.Text = preview(c) + " (" + p.Why + ")"
		case slices.ContainsFunc(left, func(o chela.NotUndone) bool { return o.Text == p.Why }):
			continue
		}
		left = append(left, n)
	}
	return left
}

// reversed returns the steps that reverse the changes of a rewind.
func reversed(changes []chela.Preimage) []Step {
	var steps []Step
	for _, p := range slices.Backward(changes) {
		steps = append(steps, Step{Preimage: inverse(p)})
	}
	return steps
}
