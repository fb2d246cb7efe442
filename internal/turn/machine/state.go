package machine

import (
	"slices"

	"chela"
	"chela/internal/guard"
	"chela/internal/prompt"
)

// MaxCrashes is how many processes may die in one turn before it is failed.
const MaxCrashes = 3

// A Change is what one transaction adds to the record of a turn. The zero
// value changes nothing.
type Change struct {
	Turn       *chela.Turn     // set when it changed
	TurnFrom   chela.TurnState // its state in the journal before
	Thread     *chela.Thread   // set when it changed
	ThreadFrom chela.Thread    // as it is in the journal before
	Entries    []chela.Entry   // appended, in order
	Calls      []CallMove
	Approvals  []chela.Approval // pending: new; otherwise how they are now
	Usage      []chela.Usage
	Owed       []chela.Outbound
	Absorbed   []chela.Waiting // messages taken into the turn
	Events     []chela.Event   // to be kept with the change, and announced once it is committed
}

// A CallMove is a tool call as it is now, and its state in the journal before.
type CallMove struct {
	Call chela.ToolCall
	From chela.CallState // empty for a new call
}

// A State is what a turn's record comes to.
type State struct {
	Turn         chela.Turn
	Thread       chela.Thread
	Conversation prompt.Conversation // the path from the root to the head
	Calls        []Call              // what the newest answer of this turn asked for
	Last         chela.EntryKind     // kind of the newest entry of this turn
	Answer       chela.Body          // the newest answer of this turn
	AnswerID     chela.EntryID
	Tokens       int64            // that the answers of this turn took, prompts included
	Pending      *chela.Approval  // the question that waits for an answer
	Granted      chela.CallID     // the call that a person allowed last
	Offers       []chela.ToolSpec // the tools that the sender runs itself
	Guard        guard.Record     // whether the model goes in circles
	Flush        prompt.Flush
	Command      chela.Command // what the turn does instead of answering
	Wishes       string        // said with the command
	Compacted    *chela.Body   // the newest compaction of this turn
	Left         bool          // the process died that ran the turn before
	GivenUp      error         // why no further run is tried: this one ends the turn
}

// A Call is a tool call and whether it has its result.
type Call struct {
	chela.ToolCall
	Answered bool
}

// Begin returns the state of a conversation in which no turn is open. Path is
// what its next prompt can have.
func Begin(thread chela.Thread, path []chela.Entry) State {
	s := State{Thread: thread}
	for _, e := range path {
		s.Conversation = s.Conversation.Append(e)
	}
	return s
}

// A Record is what the journal holds of a turn.
type Record struct {
	Thread    chela.Thread
	Path      []chela.Entry // what the next prompt can have
	Turn      chela.Turn
	Entries   []chela.Entry // of the turn, whether a prompt can have them or not
	Calls     []chela.ToolCall
	Approvals []chela.Approval
}

// Resume returns the state of a turn that an earlier run began.
func Resume(r Record) State {
	s := Fold(Begin(r.Thread, r.Path), Change{Turn: &r.Turn})
	for _, e := range r.Entries {
		s = s.said(e)
	}
	for _, c := range r.Calls {
		s.setCall(c)
	}
	return Fold(s, Change{Approvals: r.Approvals})
}

// Fold returns the state after a change. Folding changes one by one or joined
// gives the same state. As with the built-in append, the state that was handed
// in must not be used any more; see [State.Clone].
func Fold(s State, ch Change) State {
	if ch.Turn != nil {
		if ch.Turn.ID != s.Turn.ID {
			s = State{Thread: s.Thread, Conversation: s.Conversation}
		}
		s.Turn = *ch.Turn
	}
	if ch.Thread != nil {
		s.Thread = *ch.Thread
	}
	for _, e := range ch.Entries {
		s = s.append(e)
	}
	for _, m := range ch.Calls {
		s.setCall(m.Call)
	}
	for _, a := range ch.Approvals {
		if a.State == chela.ApprovalGranted {
			s.Granted = a.Call
		}
		switch {
		case a.State == chela.ApprovalPending:
			s.Pending = &a
		case s.Pending != nil && s.Pending.ID == a.ID:
			s.Pending = nil
		}
	}
	return s
}

// append adds an entry to the conversation and, if it belongs to the open turn,
// to what is known of that.
func (s State) append(e chela.Entry) State {
	s.Conversation = s.Conversation.Append(e)
	s.Thread.Head, s.Thread.Seq = e.ID, e.Seq
	if e.Turn == s.Turn.ID {
		s = s.said(e)
	}
	return s
}

// said adds an entry of the open turn to what is known of that.
func (s State) said(e chela.Entry) State {
	s.Last = e.Kind
	s.Flush = s.Flush.After(e)
	if len(e.Body.Offers) > 0 {
		s.Offers = e.Body.Offers
	}
	switch e.Kind {
	case chela.EntryAssistant:
		if e.Body.Model == "" {
			return s // said before, elsewhere: no model of this turn answered
		}
		s.Answer, s.AnswerID = e.Body, e.ID
		if e.Body.Usage != nil {
			s.Tokens += e.Body.Usage.Total()
		}
		if e.Body.Hidden {
			s.AnswerID = ""
		}
		s.Calls = make([]Call, len(e.Body.Calls))
		for i, spec := range e.Body.Calls {
			s.Calls[i].ToolCall = Requested(s.Turn, spec, s.Turn.Steps, i)
		}
	case chela.EntryUser:
		s.Command, s.Wishes = e.Body.Command, e.Body.Text
	case chela.EntryCompaction:
		s.Compacted = &e.Body
	case chela.EntryToolResult:
		if i := s.find(e.Body.Call); i >= 0 {
			s.Calls[i].Answered = true
		}
	}
	if !e.Body.Hidden || e.Kind == chela.EntryNote {
		s.watch(e)
	}
	return s
}

// UserBody is the body of the entry that a message becomes.
func UserBody(m chela.Waiting) chela.Body {
	return chela.Body{Text: m.Text, Attachments: m.Attachments, Inbox: m.ID, From: m.From(), Offers: m.Offers, Command: m.Command}
}

// Requested is a call as the answer that asked for it states it.
func Requested(t chela.Turn, spec chela.CallSpec, step, index int) chela.ToolCall {
	return chela.ToolCall{
		ID: spec.ID, Turn: t.ID, Thread: t.Thread, Session: t.Session, Step: step, Index: index,
		Ref: spec.Ref, Tool: spec.Tool, Args: spec.Args, State: chela.CallRequested,
	}
}

// setCall replaces a call of the newest answer; calls of older ones have their
// results and do not matter any more.
func (s *State) setCall(c chela.ToolCall) {
	if i := s.find(c.ID); i >= 0 {
		s.Calls[i].ToolCall = c
	}
}

func (s *State) find(id chela.CallID) int {
	return slices.IndexFunc(s.Calls, func(c Call) bool { return c.ID == id })
}

// Clone returns a state that shares nothing that folding changes.
func (s State) Clone() State {
	s.Conversation.Messages = slices.Clone(s.Conversation.Messages)
	s.Conversation.Parts = slices.Clone(s.Conversation.Parts)
	s.Calls = slices.Clone(s.Calls)
	s.Guard = s.Guard.Clone()
	return s
}

// Open returns the calls of the newest answer that have no result yet, in
// order.
func (s *State) Open() []chela.ToolCall {
	var open []chela.ToolCall
	for _, c := range s.Calls {
		if !c.Answered {
			open = append(open, c.ToolCall)
		}
	}
	return open
}
