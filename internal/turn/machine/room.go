package machine

import (
	"errors"
	"strings"

	"chela"
	"chela/internal/prompt"
	"chela/internal/provider/cure"
)

// flushNeeds is how many steps a turn must have left to use some of them for
// notes.
const flushNeeds = 8

// flushing is what a turn does while the model writes notes for its memory, and
// right after.
func flushing(s State, f Facts) (Action, bool) {
	switch {
	case !s.Flush.On && !s.Flush.Ended:
		return Action{}, false
	case s.Flush.More() && f.Refused == nil && f.Budget.Fits(s.Conversation):
		return Action{Kind: CallModel}, true
	}
	a := nextStep(s, f)
	a.Note, a.About = strings.TrimSpace(prompt.ResumeNote+"\n\n"+a.Note), chela.NoteResume
	return ready(s, f, a), true
}

// ready puts what must happen first in front of a request to the model: notes
// for the memory, and room for the prompt. A prompt that does not fit and cannot
// be made to ends the turn.
func ready(s State, f Facts, a Action) Action {
	if a.Kind != CallModel {
		return a
	}
	left := f.Limits.Steps - s.Turn.Steps
	if f.Flushes && left >= flushNeeds && f.Refused == nil && f.Budget.FlushDue(s.Conversation) {
		return Action{Kind: CallModel, Note: prompt.FlushNote, About: chela.NoteFlush}
	}
	if f.Compacts {
		tried := prompt.Stronger(s.Conversation.Tried, f.Tried)
		if p, ok := s.Conversation.Plan(f.Budget, tried, f.Refused != nil); ok {
			return Action{Kind: Compact, Plan: p}
		}
	}
	if f.Refused != nil {
		return finish(chela.TurnFailed, f.Refused)
	}
	if err := f.Budget.Check(s.Conversation); err != nil {
		failure := FailureOf(err)
		failure.Limit = chela.LimitPrompt
		return finish(chela.TurnFailed, failure)
	}
	return a
}

// nextCommand decides in a turn that carries out a command.
func nextCommand(s State, f Facts) Action {
	if f.Compacts && s.Compacted == nil {
		if p, ok := s.Conversation.PlanSummary(f.Budget); ok {
			return Action{Kind: Compact, Plan: p}
		}
	}
	return finish(chela.TurnCompleted, nil)
}

// FailureOf returns how a turn tells of an error. What a provider said is told
// with its cure; that of a record has none to name, and tells it already.
func FailureOf(err error) *chela.Failure {
	f := &chela.Failure{Kind: chela.KindOf(err), Message: chela.MessageOf(err)}
	if limited, ok := errors.AsType[*chela.Error](err); ok {
		f.Limit = limited.Limit
	}
	refused, ok := errors.AsType[*chela.ProviderError](err)
	if !ok {
		return f
	}
	if refused.Overflow {
		f.Limit = chela.LimitPrompt
	}
	if hint := cure.Of(refused); hint != "" && refused.Provider != "" && chela.HintOf(err) == "" {
		f.Message += "; " + hint
	}
	return f
}
