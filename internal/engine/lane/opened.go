package lane

import (
	"chela"
	"chela/internal/engine/prompt"
	"chela/internal/engine/turn/machine"
	"chela/internal/store"
)

// An OpenedTurn is ready to run in this process: fresh, or left by an earlier
// run.
type OpenedTurn struct {
	Lease   store.Lease
	Class   chela.Class
	Turn    chela.Turn
	Thread  chela.Thread  // fresh turn: before its first entry
	Session chela.Session // fresh turn
	Entries []chela.Entry // fresh turn: its first entries; nil means to read the journal
	Earlier []chela.Entry // fresh turn: entries of the message's history, if computed already
	Untold  bool          // fresh turn: dropped messages or notes may have to be reported to it
	Left    bool          // its previous process died
	Counted bool          // that crash is counted
	GivenUp error         // why the next run is the last; nil if more may follow
}

// Afresh returns a copy of o whose state is read from the journal.
func (o *OpenedTurn) Afresh() *OpenedTurn {
	c := *o
	c.Entries = nil
	return &c
}

// Fresh returns the state of a fresh turn after a conversation.
func (o *OpenedTurn) Fresh(conversation prompt.Conversation) machine.State {
	s := machine.Begin(o.Thread, nil)
	s.Conversation = conversation
	s.Thread.State, s.Thread.UpdatedAt = chela.ThreadProcessing, o.Turn.CreatedAt
	return machine.Fold(s, machine.Change{Turn: &o.Turn, Entries: o.Entries})
}

// Suspect reports whether a turn must run alone. When a process dies, any of
// its turns may be the cause. Turns with two crashes therefore run one at a
// time: the one running at the third crash is the cause.
func (o *OpenedTurn) Suspect() bool { return o.Left && o.Turn.Crashes+1 == machine.MaxCrashes-1 }
