package chela

import "time"

// A Rewind is one move of a thread's head along its tree, together with the
// restoration of the files and documents written by the turns in between. It
// changes and removes no entry.
type Rewind struct {
	ID        RewindID    `json:"id"`
	Session   SessionKey  `json:"session"`
	Thread    ThreadID    `json:"thread"`
	Kind      RewindKind  `json:"kind"`
	State     RewindState `json:"state"`
	Key       string      `json:"key,omitempty"`        // idempotency key of the request within its session
	From      EntryID     `json:"from,omitempty"`       // the head before
	To        EntryID     `json:"to,omitempty"`         // the head after; empty: the start of the thread
	KeepFiles bool        `json:"keep_files,omitempty"` // only the conversation moves
	Changes   []Preimage  `json:"changes,omitempty"`    // restored pre-images: Before is the state found, After the state left
	NotUndone []NotUndone `json:"not_undone,omitempty"`
	Turns     int         `json:"turns,omitempty"` // turns that left the conversation, or else joined it; filled in on request, not stored
	First     string      `json:"first,omitempty"` // the beginning of the message of the oldest of them; filled in with Turns
	Node      NodeID      `json:"node"`            // the process that performs it
	CreatedAt time.Time   `json:"created_at"`
	RenewedAt time.Time   `json:"-"` // when that process last renewed its claim
	DoneAt    time.Time   `json:"done_at,omitzero"`
}

// RewindKind is the kind of a rewind request.
type RewindKind string

// The kinds of rewinds.
const (
	RewindUndo    RewindKind = "undo"    // to before the last turns
	RewindRedo    RewindKind = "redo"    // reverses the last undo or restore
	RewindRestore RewindKind = "restore" // to a checkpoint or an entry
)

// RewindState is the state of a rewind.
type RewindState string

// The states of a rewind. The last two are endings.
const (
	RewindAsked   RewindState = "asked"   // waits for the turn it stopped to end
	RewindPlanned RewindState = "planned" // files are being restored; it completes even after a crash
	RewindDone    RewindState = "done"    // the head has moved
	RewindRefused RewindState = "refused" // nothing was changed
)

var rewindMoves = map[RewindState][]RewindState{
	RewindAsked:   {RewindPlanned, RewindRefused},
	RewindPlanned: {RewindDone},
}

// CanMove reports whether the transition from s to to is legal.
func (s RewindState) CanMove(to RewindState) bool { return canMove(rewindMoves, s, to) }

// Ended reports whether s is a final state.
func (s RewindState) Ended() bool { return s != "" && len(rewindMoves[s]) == 0 }

// A NotUndone is an effect of an undone turn that remains: a side effect beyond
// the recorded writes, or a file that could not be restored.
type NotUndone struct {
	Call   CallID `json:"call,omitempty"`
	Turn   TurnID `json:"turn,omitempty"`
	Tool   string `json:"tool,omitempty"`
	Effect Effect `json:"effect"`
	Text   string `json:"text"` // the effect, or the file and why it was not restored
}

// A Checkpoint names a position in a thread as a target of Restore.
type Checkpoint struct {
	Session   SessionKey `json:"session"`
	Thread    ThreadID   `json:"thread"`
	Name      string     `json:"name"`            // unique within the thread
	Entry     EntryID    `json:"entry,omitempty"` // the head at its creation; empty: the start of the thread
	Key       string     `json:"key,omitempty"`   // idempotency key of the request within its session
	CreatedAt time.Time  `json:"created_at"`
}

// A Branch records where a thread branched off another one: both share the
// entries up to there.
type Branch struct {
	Session   SessionKey `json:"session"`
	Thread    ThreadID   `json:"thread"`          // the new one
	Origin    ThreadID   `json:"origin"`          // the one it branched off
	Entry     EntryID    `json:"entry,omitempty"` // the last shared entry
	Key       string     `json:"key,omitempty"`   // idempotency key of the request within its session
	CreatedAt time.Time  `json:"created_at"`
}
