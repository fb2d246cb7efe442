package machine

import (
	"errors"
	"strings"

	"chela"
	"chela/internal/engine/prompt"
	"chela/internal/model/provider"
)

// flushNeeds is the number of remaining steps required for a memory flush.
const flushNeeds = 8

// flushing decides while a memory flush is in progress, and right after it.
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

// ready precedes a model request with a memory flush or a compaction if one is
// due. A prompt that cannot be made to fit ends the turn.
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

// nextCommand decides in a turn that executes a command.
func nextCommand(s State, f Facts) Action {
	if f.Compacts && s.Compacted == nil {
		if p, ok := s.Conversation.PlanSummary(f.Budget); ok {
			return Action{Kind: Compact, Plan: p}
		}
	}
	return finish(chela.TurnCompleted, nil)
}

// FailureOf converts an error into a turn's failure. A provider's error gets a
// hint on its remedy; an error without a provider name comes from a record,
// whose message already has it.
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
	if hint := provider.Remedy(refused); hint != "" && refused.Provider != "" && chela.HintOf(err) == "" {
		f.Message += "; " + hint
	}
	return f
}
