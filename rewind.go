package chela

import "time"

// A Rewind is one move of a thread's head along its tree, and what it does to
// the files and documents that the turns in between have written. No entry is
// changed or removed by it.
type Rewind struct {
	ID        RewindID    `json:"id"`
	Session   SessionKey  `json:"session"`
	Thread    ThreadID    `json:"thread"`
	Kind      RewindKind  `json:"kind"`
	State     RewindState `json:"state"`
	Key       string      `json:"key,omitempty"`        // names the request within its session; it is carried out once
	From      EntryID     `json:"from,omitempty"`       // the head before
	To        EntryID     `json:"to,omitempty"`         // the head after; empty: nothing was said yet
	KeepFiles bool        `json:"keep_files,omitempty"` // only the conversation moves
	Changes   []Preimage  `json:"changes,omitempty"`    // what is put back: Before is how it was found, After how it is left
	NotUndone []NotUndone `json:"not_undone,omitempty"`
	Node      NodeID      `json:"node"` // the process that carries it out
	CreatedAt time.Time   `json:"created_at"`
	RenewedAt time.Time   `json:"-"` // when that process last said that it does
	DoneAt    time.Time   `json:"done_at,omitzero"`
}

// RewindKind says what was asked for.
type RewindKind string

// The kinds of rewinds.
const (
	RewindUndo    RewindKind = "undo"    // to before the last turns
	RewindRedo    RewindKind = "redo"    // back to where the last undo or restore came from
	RewindRestore RewindKind = "restore" // to a checkpoint or an entry
)

// RewindState says how far a rewind is.
type RewindState string

// The states of a rewind. The last two are endings.
const (
	RewindAsked   RewindState = "asked"   // waits for the end of a turn that was stopped for it
	RewindPlanned RewindState = "planned" // files are put back; whatever happens, it comes to its end
	RewindDone    RewindState = "done"    // the head has moved
	RewindRefused RewindState = "refused" // nothing was changed
)

var rewindMoves = map[RewindState][]RewindState{
	RewindAsked:   {RewindPlanned, RewindRefused},
	RewindPlanned: {RewindDone},
}

// CanMove reports whether a rewind may go from s to to.
func (s RewindState) CanMove(to RewindState) bool { return canMove(rewindMoves, s, to) }

// Ended reports whether s is an ending.
func (s RewindState) Ended() bool { return s != "" && len(rewindMoves[s]) == 0 }

// A NotUndone is an effect of an undone turn that stays: what a call did beyond
// what it wrote, or a file that could not be put back.
type NotUndone struct {
	Call   CallID `json:"call,omitempty"`
	Turn   TurnID `json:"turn,omitempty"`
	Tool   string `json:"tool,omitempty"`
	Effect Effect `json:"effect"`
	Text   string `json:"text"` // what was done, or which file and why it stays
}

// A Checkpoint is a name for a place in a thread, to which it can be restored.
type Checkpoint struct {
	Session   SessionKey `json:"session"`
	Thread    ThreadID   `json:"thread"`
	Name      string     `json:"name"`            // unique within the thread
	Entry     EntryID    `json:"entry,omitempty"` // the head when it was made; empty: nothing was said yet
	Key       string     `json:"key,omitempty"`   // names the request within its session
	CreatedAt time.Time  `json:"created_at"`
}

// A Branch says where a thread branched off another one: the entries up to
// there are part of both.
type Branch struct {
	Session   SessionKey `json:"session"`
	Thread    ThreadID   `json:"thread"`          // the new one
	Origin    ThreadID   `json:"origin"`          // the one it branched off
	Entry     EntryID    `json:"entry,omitempty"` // the last one that both have
	Key       string     `json:"key,omitempty"`   // names the request within its session
	CreatedAt time.Time  `json:"created_at"`
}
