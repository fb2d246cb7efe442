package rule

import (
	"fmt"
	"strings"
	"time"

	"chela"
	"chela/internal/cue"
	"chela/internal/excerpt"
)

const (
	maxPost    = 8_000 // characters of what a run said, in the main session
	maxSummary = 300   // characters of the line about it
)

// An Ending is how a run ended, before anybody decided what comes of it.
type Ending struct {
	State  chela.RunState
	Reason string // why it failed or was skipped
	Output string // what the run said last, whole
	Tell   string // what people are told whatever the run said, of an action that is nothing else
	At     time.Time
}

// A Told is what people were told of a routine last.
type Told struct {
	Text string
	At   time.Time
}

// A Verdict is what comes of the Ending of a run. Routine is how the routine fares
// from then on.
type Verdict struct {
	Routine chela.Routine
	Tell    string // people; empty for nothing
	Post    string // the main session; empty for nothing
}

// Judge decides what comes of the Ending of a run of a routine, whose notices are
// filled in, where people were told last something else.
func Judge(v chela.Routine, run chela.RoutineRun, e Ending, last Told) Verdict {
	out := Verdict{Routine: v}
	switch e.State {
	case chela.RunSkipped:
		return out
	case chela.RunFailed:
		return failed(out, e)
	}
	out.Routine.Failures = 0
	report := saidBy(v, run, e)
	if v.Action.Kind != chela.ActionEvent {
		out.Tell = report.tell
	}
	if v.Notify.Repeat > 0 && cue.Repeats(out.Tell, last.Text, e.At.Sub(last.At), v.Notify.Repeat) {
		out.Tell = ""
	}
	out.Post = posted(v, report.said)
	if v.DeleteAfterRun && !v.Builtin {
		out.Routine.Enabled, out.Routine.NextAt, out.Routine.DeletedAt = false, time.Time{}, e.At
	}
	return out
}

// said is what a run that went well has to say.
type said struct {
	said string // without cues; empty if it said that there is nothing
	tell string // what people are told of it, repeats not counted
}

func saidBy(v chela.Routine, run chela.RoutineRun, e Ending) said {
	if e.Tell != "" {
		return said{tell: e.Tell}
	}
	c := cue.Read(e.Output, v.Notify.AckMax)
	s := said{said: c.Text}
	if c.Silent {
		s.said = ""
	}
	worth := !c.Silent
	text := c.Text
	if run.Report != nil {
		worth = run.Report.Notify
		if run.Report.Text != "" {
			text = run.Report.Text
		}
	}
	switch v.Notify.Policy {
	case chela.NotifyNever:
		return s
	case chela.NotifyConditional:
		if !worth {
			return s
		}
	}
	s.tell = text
	return s
}

// failed is Judge for a run that failed.
func failed(out Verdict, e Ending) Verdict {
	v := &out.Routine
	v.Failures++
	n := v.Notify
	switch {
	case n.Disable > 0 && v.Failures >= n.Disable && !v.Builtin:
		v.Enabled, v.NextAt = false, time.Time{}
		v.Reason = fmt.Sprintf("it failed %s in a row: %s", times(v.Failures), e.Reason)
		out.Tell = "it is disabled: " + v.Reason
	case n.AfterFailures > 0 && v.Failures == n.AfterFailures:
		out.Tell = fmt.Sprintf("it failed %s in a row: %s", times(v.Failures), e.Reason)
	case n.Policy == chela.NotifyAlways:
		out.Tell = "it failed: " + e.Reason
	}
	if v.Action.Post != chela.PostNone && out.Tell != "" {
		out.Post = posted(*v, "failed: "+e.Reason)
	}
	return out
}

// posted is what the main session hears of an isolated run that said something.
func posted(v chela.Routine, text string) string {
	if text == "" || v.Action.Main || v.Action.Kind == chela.ActionEvent || v.Action.Kind == chela.ActionNotify {
		return ""
	}
	switch v.Action.Post {
	case chela.PostFull:
		return excerpt.Runes(text, v.Action.PostMax)
	case chela.PostSummary:
		line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		return excerpt.Runes(line, maxSummary)
	default:
		return ""
	}
}
