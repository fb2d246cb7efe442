package chela

import "time"

// An Event is notice that something was committed, or a hint about something
// on its way (a delta, progress). It is never the fact itself: readers fetch
// what it names.
type Event struct {
	Cursor   Cursor     `json:"cursor,omitempty"` // empty for hints
	Kind     EventKind  `json:"kind"`
	Session  SessionKey `json:"session,omitempty"`
	Thread   ThreadID   `json:"thread,omitempty"`
	Turn     TurnID     `json:"turn,omitempty"`
	Entry    EntryID    `json:"entry,omitempty"`
	Call     CallID     `json:"call,omitempty"`
	Tool     string     `json:"tool,omitempty"`
	Approval ApprovalID `json:"approval,omitempty"`
	Inbox    InboxID    `json:"inbox,omitempty"`
	Job      JobID      `json:"job,omitempty"`
	Routine  RoutineID  `json:"routine,omitempty"`
	Run      RunID      `json:"run,omitempty"`
	Text     string     `json:"text,omitempty"` // the delta, the progress message, the ending
	Step     int        `json:"step,omitempty"`
	Limit    int        `json:"limit,omitempty"`    // of steps, with progress
	Activity Activity   `json:"activity,omitempty"` // with progress: what the turn does from here on
	Error    Kind       `json:"error,omitempty"`    // with a notice that something went wrong
	At       time.Time  `json:"at"`

	// Until is when a call that starts has to have ended, by its time limit; zero if
	// it has none. Only readers in the same process are told.
	Until time.Time `json:"-"`
}

// EventKind is the name of an event on the wire.
type EventKind string

// The kinds of events.
const (
	EventTurnStarted       EventKind = "turn.started"
	EventTurnProgress      EventKind = "turn.progress" // hint
	EventTurnFinished      EventKind = "turn.finished"
	EventTextDelta         EventKind = "text.delta"     // hint
	EventTextReset         EventKind = "text.reset"     // hint: the answer broke off and is begun anew; the deltas of this step are void
	EventThinkingDelta     EventKind = "thinking.delta" // hint
	EventEntryAppended     EventKind = "entry.appended"
	EventToolRequested     EventKind = "tool.requested"
	EventToolStarted       EventKind = "tool.started" // hint
	EventToolOutput        EventKind = "tool.output"  // hint
	EventToolFinished      EventKind = "tool.finished"
	EventToolOffered       EventKind = "tool.offered" // a call of an offered tool waits for its result; Text is the arguments
	EventApprovalRequested EventKind = "approval.requested"
	EventApprovalAnswered  EventKind = "approval.answered"
	EventMessageDropped    EventKind = "message.dropped" // too many waited; Text is how it was dropped
	EventSessionChanged    EventKind = "session.changed"
	EventJobChanged        EventKind = "job.changed"      // Text is its state; Session that of the job
	EventJobOutput         EventKind = "job.output"       // a step of its plan moved, or its result is there; Text says which
	EventRoutineFired      EventKind = "routine.fired"    // Text is the cause
	EventRoutineFinished   EventKind = "routine.finished" // Text is how the run ended
	EventNotice            EventKind = "notice"           // hint; durable where people are told of what nobody waits for
	EventReply             EventKind = "reply"            // hint; Text is what a command was answered with
	EventHookFired         EventKind = "hook.fired"       // hint: a hook changed or refused what passed, or failed; Text says which and what

	// EventResync tells a reader that events it asked for are not kept any
	// more, or never were: it must read afresh what it shows.
	EventResync EventKind = "resync"
)

// Durable reports whether events of the kind are kept, have a cursor and are
// told again to whoever missed them. The others are hints, told once.
func (k EventKind) Durable() bool {
	switch k {
	case EventTurnStarted, EventTurnFinished, EventEntryAppended, EventToolRequested, EventToolFinished, EventToolOffered,
		EventApprovalRequested, EventApprovalAnswered, EventMessageDropped, EventSessionChanged,
		EventJobChanged, EventJobOutput, EventRoutineFired, EventRoutineFinished:
		return true
	default:
		return false
	}
}
