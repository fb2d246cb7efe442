package turns

import (
	"chela"
	"chela/internal/prompt"
	"chela/internal/turn/machine"
)

// An Opened turn is one that this process may run: fresh, or left by an earlier
// run.
type Opened struct {
	Lease   chela.Lease
	Class   chela.Class
	Turn    chela.Turn
	Thread  chela.Thread  // of a fresh turn: before its first entry
	Session chela.Session // of a fresh turn
	Entries []chela.Entry // of a fresh turn: its first entries; nil means to read the journal
	Earlier []chela.Entry // of a fresh turn: what was said before, elsewhere, if that was worked out already
	Untold  bool          // of a fresh turn: it may have to be told of dropped messages, or of notes
	Left    bool          // the process that ran it died
	Counted bool          // which is counted
	GivenUp error         // why the next run is the last one; nil if others may follow
	Ended   []chela.Event // of a fresh turn: what announces the end of the one it supersedes
	Events  []chela.Event // of a fresh turn: what announces its opening
}

// Afresh returns o so that the journal is read for it.
func (o *Opened) Afresh() *Opened {
	c := *o
	c.Entries = nil
	return &c
}

// Fresh returns the state of a fresh turn that goes on with a conversation.
func (o *Opened) Fresh(conversation prompt.Conversation) machine.State {
	s := machine.Begin(o.Thread, nil)
	s.Conversation = conversation
	s.Thread.State, s.Thread.UpdatedAt = chela.ThreadProcessing, o.Turn.CreatedAt
	return machine.Fold(s, machine.Change{Turn: &o.Turn, Entries: o.Entries})
}

// Suspect reports whether a turn must not run beside its like. Many turns run in
// a process, and when it dies nobody knows over which of them. So those that
// broke two runs already go one by one: whoever breaks the third is to blame.
func (o *Opened) Suspect() bool { return o.Left && o.Turn.Crashes+1 == machine.MaxCrashes-1 }
