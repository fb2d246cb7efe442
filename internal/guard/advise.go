package guard

import (
	"fmt"

	"chela"
)

// Limits say when a model is taken to go in circles. What is 0 is not looked
// for.
type Limits struct {
	Repeats int // failures of the same call
	Idle    int // steps in a row without anything new
	Nudges  int // notes about calls that were written out instead of made
}

// Advice is what should happen before the model is asked again. The zero value
// is that nothing should.
type Advice struct {
	Note chela.NoteKind // what the model should be told of
	Text string         // what to tell it, or why the turn ends
	End  bool           // the turn should end
}

// Before says what should happen before the model is asked for another step.
func (r Record) Before(l Limits) Advice {
	what := r.trouble(l)
	switch {
	case what == "":
		return Advice{}
	case r.Warned:
		return Advice{End: true, Text: "the model goes in circles: " + what}
	}
	return Advice{
		Note: chela.NoteLoop,
		Text: "You go in circles: " + what + ". Doing the same again will not help, and ends this turn. " +
			"Find out what is in the way, do something else, or say what you know and what you could not do.",
	}
}

// trouble says what the model has not been told of yet, or nothing.
func (r Record) trouble(l Limits) string {
	for _, f := range r.Failing {
		if l.Repeats > 0 && f.Count >= l.Repeats && f.Count > f.Told {
			return fmt.Sprintf("this call failed %d times with the same arguments: %s", f.Count, f.Shown)
		}
	}
	if l.Idle > 0 && r.Idle >= l.Idle && r.Idle > r.Told {
		return fmt.Sprintf("%d steps in a row brought nothing new", r.Idle)
	}
	return ""
}

// After says what should happen after an answer without calls. Offered reports
// whether the model is offered a tool of that name.
func (r Record) After(text string, l Limits, offered func(string) bool) Advice {
	if r.Nudged >= l.Nudges || offered == nil {
		return Advice{}
	}
	name, ok := announced(text, offered)
	if !ok {
		return Advice{}
	}
	return Advice{
		Note: chela.NoteCall,
		Text: fmt.Sprintf("Your answer ends with a call of %s that is written out as text, so nothing was called. "+
			"If you want it to happen, call the tool. If the text is your answer, give it again as it is.", name),
	}
}
