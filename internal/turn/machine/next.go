package machine

import (
	"fmt"
	"time"

	"chela"
	"chela/internal/guard"
	"chela/internal/prompt"
)

// Limits bound a turn.
type Limits struct {
	Steps int           // model answers in a turn, at least 1
	Time  time.Duration // wall clock of one run; 0 for none
	Guard guard.Limits

	// Tokens is how many the model calls of the turn may take together; 0 for no
	// limit. It is looked at between steps: the last one may go beyond.
	Tokens int64
}

// Under returns the limits of a turn with overrides: those that bound it
// further hold instead of the home's.
func (l Limits) Under(o chela.Overrides) Limits {
	if o.Steps > 0 {
		l.Steps = min(l.Steps, o.Steps)
	}
	if o.Time > 0 && (l.Time == 0 || o.Time < l.Time) {
		l.Time = o.Time
	}
	l.Tokens = o.Tokens
	return l
}

// Facts are what Next must know beside the record.
type Facts struct {
	Limits   Limits
	Stop     bool             // somebody asked to stop the turn
	TimeUp   bool             // the run took longer than it may
	Steering bool             // messages wait to enter the turn
	Failure  *chela.Failure   // why the model could not be asked
	Tools    []chela.ToolSpec // what the model is offered, beside what the sender offers

	Budget   prompt.Budget
	Compacts bool           // what leaves a prompt can be kept
	Flushes  bool           // the agent can write notes for its memory
	Tried    chela.Strategy // the strongest that did not work out for this request
	Refused  *chela.Failure // what the provider said of a prompt that it found too large
}

// ActionKind says what to do.
type ActionKind string

// The kinds of actions. The last two end a run.
const (
	CallModel ActionKind = "call_model"
	Judge     ActionKind = "judge"
	RunTools  ActionKind = "run_tools"
	Resolve   ActionKind = "resolve"
	Compact   ActionKind = "compact"
	Absorb    ActionKind = "absorb"
	Ask       ActionKind = "ask"
	HandOut   ActionKind = "hand_out"
	Finish    ActionKind = "finish"
	Wait      ActionKind = "wait"
	Done      ActionKind = "done"
)

// An Action is what a turn does next.
type Action struct {
	Kind    ActionKind
	Calls   []chela.ToolCall // Judge, RunTools, Resolve, Ask, HandOut: which
	Note    string           // CallModel: what the host tells the model first
	About   chela.NoteKind   // CallModel: of the note
	Plan    prompt.Plan      // Compact
	NoTools bool             // CallModel: the last step, in which only text helps
	Ending  chela.TurnState  // Finish
	Failure *chela.Failure   // Finish, but for completed
}

// Next decides what a turn does next. It is a pure function.
func Next(s State, f Facts) Action {
	if s.Turn.State.Ended() {
		return Action{Kind: Done}
	}
	if s.Turn.Crashes >= MaxCrashes {
		return finish(chela.TurnFailed, &chela.Failure{
			Kind: chela.Internal, Message: fmt.Sprintf("chela broke down %d times in this turn; it is given up", s.Turn.Crashes),
		})
	}
	if s.GivenUp != nil {
		return finish(chela.TurnFailed, &chela.Failure{Kind: chela.KindOf(s.GivenUp), Message: GaveUp + chela.MessageOf(s.GivenUp)})
	}
	open := s.Open()
	if running := withState(ours(open), chela.CallRunning); len(running) > 0 {
		return Action{Kind: Resolve, Calls: running}
	}
	if end, ok := forcedEnding(s, f); ok {
		return end
	}
	if len(open) > 0 {
		return nextForCalls(s, f, open)
	}
	if s.Command != "" {
		return nextCommand(s, f)
	}
	if f.Steering && s.Turn.Steps < f.Limits.Steps {
		return Action{Kind: Absorb}
	}
	if most := f.Limits.Tokens; most > 0 && s.Tokens >= most && s.Last != chela.EntryAssistant {
		return finish(chela.TurnLimited, &chela.Failure{
			Kind: chela.Exhausted, Limit: chela.LimitTokens, Message: fmt.Sprintf("the turn took %d tokens, and was given %d", s.Tokens, most),
		})
	}
	if a, ok := flushing(s, f); ok {
		return a
	}
	if a, ok := guarded(s, f); ok {
		return ready(s, f, a)
	}
	if s.Last == chela.EntryAssistant {
		return finishAnswered(s, f)
	}
	if s.Turn.Steps >= f.Limits.Steps {
		return finish(chela.TurnLimited, &chela.Failure{
			Kind: chela.Exhausted, Limit: chela.LimitSteps, Message: fmt.Sprintf("the turn used its %d steps", f.Limits.Steps),
		})
	}
	return ready(s, f, nextStep(s, f))
}

// TookLonger goes before the limit in the words of a turn whose time was up.
const TookLonger = "the turn took longer than "

// GaveUp goes before the reason in the words of a turn that was given up.
const GaveUp = "the turn is given up: "

// forcedEnding is the ending that something outside the conversation asks for.
func forcedEnding(s State, f Facts) (Action, bool) {
	switch {
	case f.Stop || s.Turn.Stop:
		return finish(chela.TurnInterrupted, &chela.Failure{Message: "interrupted"}), true
	case f.TimeUp:
		return finish(chela.TurnLimited, &chela.Failure{
			Kind: chela.Exhausted, Limit: chela.LimitTime, Message: TookLonger + f.Limits.Time.String(),
		}), true
	case f.Failure != nil:
		if f.Failure.Limit.IsOfCost() {
			return finish(chela.TurnLimited, f.Failure), true
		}
		return finish(chela.TurnFailed, f.Failure), true
	}
	return Action{}, false
}

// nextForCalls decides while calls have no result.
func nextForCalls(s State, f Facts, open []chela.ToolCall) Action {
	if unjudged := withState(open, chela.CallRequested); len(unjudged) > 0 {
		return Action{Kind: Judge, Calls: unjudged}
	}
	ours := ours(open)
	if s.Pending != nil || len(ours) == 0 && s.Turn.State == chela.TurnAwaiting {
		return Action{Kind: Wait}
	}
	if f.Steering && s.Turn.Steps < f.Limits.Steps && !justGranted(s, ours) {
		return Action{Kind: Absorb}
	}
	if len(ours) == 0 {
		return Action{Kind: HandOut, Calls: open}
	}
	if ours[0].State == chela.CallAwaiting {
		return Action{Kind: Ask, Calls: ours[:1]}
	}
	return Action{Kind: RunTools, Calls: batch(ours)}
}

// justGranted reports whether the first call is one that a person allowed: it
// runs, whatever else was said meanwhile.
func justGranted(s State, ours []chela.ToolCall) bool {
	return len(ours) > 0 && ours[0].State == chela.CallApproved && ours[0].ID == s.Granted
}

// ours returns the calls that are not the sender's to run.
func ours(calls []chela.ToolCall) []chela.ToolCall {
	var found []chela.ToolCall
	for _, c := range calls {
		if c.Resume != chela.ResumeWait || c.State.Ended() {
			found = append(found, c)
		}
	}
	return found
}

// batch returns the calls at the front that go together: reads and calls that
// are settled already, or one call with an effect.
func batch(open []chela.ToolCall) []chela.ToolCall {
	n := 0
	for n < len(open) && Harmless(open[n]) {
		n++
	}
	return open[:max(n, 1)]
}

// Harmless reports whether performing a call needs no mark in the journal
// first: it reads, or there is only its outcome to be told.
func Harmless(c chela.ToolCall) bool {
	return c.State.Ended() || c.State == chela.CallApproved && c.Effect == chela.EffectRead
}

// finishAnswered ends a turn whose newest entry is an answer without calls.
func finishAnswered(s State, f Facts) Action {
	switch {
	case s.Answer.Text == "" && len(s.Answer.Calls) == 0:
		return finish(chela.TurnFailed, &chela.Failure{Kind: chela.Unavailable, Message: silence(s.Answer.Stop)})
	case s.Turn.Steps >= f.Limits.Steps && s.Turn.Steps > 1:
		return finish(chela.TurnLimited, &chela.Failure{
			Kind: chela.Exhausted, Limit: chela.LimitSteps,
			Message: fmt.Sprintf("the turn used its %d steps; the answer is what the model could say by then", f.Limits.Steps),
		})
	}
	return finish(chela.TurnCompleted, nil)
}

// silence says why an answer has no words.
func silence(stop chela.StopReason) string {
	switch stop {
	case chela.StopRefusal:
		return "the model, or a filter of its provider, refused to answer"
	case chela.StopLength:
		return "the model used up the length of its answer before the first word"
	default:
		return "the model answered nothing"
	}
}

// nextStep asks the model, and tells it when its steps run out: the step before
// the last comes with a note, and the last without tools, so that the person
// gets an answer.
func nextStep(s State, f Facts) Action {
	a := Action{Kind: CallModel}
	switch left := f.Limits.Steps - s.Turn.Steps; {
	case left == 1:
		a.NoTools = true
	case left == 2 && s.Last != chela.EntryNote:
		a.Note = "This turn may take two more steps. Use tools now if you still need them; the step after this one is for your answer only."
	}
	return a
}

func finish(ending chela.TurnState, failure *chela.Failure) Action {
	return Action{Kind: Finish, Ending: ending, Failure: failure}
}

func withState(calls []chela.ToolCall, state chela.CallState) []chela.ToolCall {
	var found []chela.ToolCall
	for _, c := range calls {
		if c.State == state {
			found = append(found, c)
		}
	}
	return found
}
