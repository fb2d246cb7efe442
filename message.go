package chela

import (
	"cmp"
	"fmt"
	"time"
)

// MaxMessageBytes is the largest text accepted in one message.
const MaxMessageBytes = 100_000

// The most that queue settings may ask for.
const (
	MaxWaiting  = 256              // messages that wait in a session
	MaxDebounce = 60 * time.Second // of quiet before what waits becomes a turn
)

// An Inbound is a message on its way in. Channel, Account and MessageID
// together name the delivery: the same name is accepted once.
type Inbound struct {
	Session     SessionKey   `json:"session"`
	Thread      ThreadID     `json:"thread,omitempty"` // empty: the session's current thread
	Agent       string       `json:"agent"`
	Origin      Origin       `json:"origin"`
	MessageID   string       `json:"message_id"`
	Text        string       `json:"text"`
	Attachments []Attachment `json:"attachments,omitempty"`
	Model       string       `json:"model,omitempty"` // for this turn only

	// Overrides and Queue hold for this message and its turn only.
	Overrides Overrides     `json:"overrides,omitzero"`
	Queue     QueueSettings `json:"queue,omitzero"`

	// Command makes the turn carry out a command instead of asking the model
	// for an answer; Text is what was said with it.
	Command Command `json:"command,omitempty"`

	// History is what was said before, elsewhere: user and assistant messages
	// without calls. Only the first message of a thread may bring it; its entries
	// come before the message's own.
	History []Message `json:"history,omitempty"`

	// Offers are tools that the sender runs itself: a call of one is handed to
	// the sender, and the turn waits for a message with its result. They hold for
	// the turn that takes the message. An offer goes before a tool of the same
	// name that the agent has.
	Offers []ToolSpec `json:"offers,omitempty"`

	// Results are what calls of offered tools came to. Text may be empty then.
	Results []OfferResult `json:"results,omitempty"`
}

// An OfferResult is what a call of an offered tool came to, told by the sender
// who ran it.
type OfferResult struct {
	Call   CallID `json:"call"`
	Text   string `json:"text"`
	Failed bool   `json:"failed,omitempty"`
}

// A Waiting is an inbound message as stored in the inbox.
type Waiting struct {
	ID        InboxID    `json:"id"`
	State     InboxState `json:"state"`
	Turn      TurnID     `json:"turn,omitempty"`    // the turn that took it, or that began with a line of it
	Dropped   QueueDrop  `json:"dropped,omitempty"` // how, once it is
	Node      NodeID     `json:"node,omitempty"`    // the process that accepted it
	Reply     string     `json:"reply,omitempty"`   // what a command was answered with
	Tokens    int        `json:"-"`                 // what its entry takes in a prompt
	CreatedAt time.Time  `json:"created_at"`
	Inbound
}

// InboxState says whether a message was taken.
type InboxState string

// The states of an inbox message.
const (
	InboxWaiting  InboxState = "waiting"
	InboxTaken    InboxState = "taken"    // it is in a turn
	InboxDropped  InboxState = "dropped"  // the queue was full, or it was withdrawn
	InboxAnswered InboxState = "answered" // it was a command, carried out as it came
)

var inboxMoves = map[InboxState][]InboxState{
	InboxWaiting: {InboxTaken, InboxDropped},
}

// CanMove reports whether an inbox message may go from s to to.
func (s InboxState) CanMove(to InboxState) bool { return canMove(inboxMoves, s, to) }

// A Command is something that a turn does instead of answering.
type Command string

// The commands of turns.
const (
	CommandCompact Command = "compact" // puts a summary in the place of what was said; Text says what to keep in it
)

// QueueMode says what becomes of a message that arrives while a turn runs.
type QueueMode string

// The queue modes.
const (
	QueueCollect      QueueMode = "collect"       // everything that waits becomes one turn
	QueueFollowup     QueueMode = "followup"      // one turn after the other
	QueueSteer        QueueMode = "steer"         // it enters the running turn after the current batch; too late for that, it is collected
	QueueSteerBacklog QueueMode = "steer-backlog" // as steer; too late for that, it has a turn of its own
	QueuePlain        QueueMode = "queue"         // first in, first out: no debounce, nothing is dropped
	QueueInterrupt    QueueMode = "interrupt"     // the running turn is stopped for it
)

// QueueDrop says what becomes of messages when more wait than may.
type QueueDrop string

// The ways to drop.
const (
	DropOld       QueueDrop = "old"       // the oldest go, and their senders are told
	DropNew       QueueDrop = "new"       // the new one is refused
	DropSummarize QueueDrop = "summarize" // the oldest go, and the next prompt has a line of each
)

// QueueSettings say how messages wait while a turn runs. What is zero is left
// to the settings below: those of a message go before its session's, then the
// channel's, then the home's.
type QueueSettings struct {
	Mode       QueueMode `json:"mode,omitempty"`
	DebounceMS int       `json:"debounce_ms,omitempty"` // how long it must be quiet before what waits becomes a turn; -1 for no time
	Cap        int       `json:"cap,omitempty"`         // messages that may wait
	Drop       QueueDrop `json:"drop,omitempty"`
}

// Over returns q with what it leaves open taken from below.
func (q QueueSettings) Over(below QueueSettings) QueueSettings {
	return QueueSettings{
		Mode: cmp.Or(q.Mode, below.Mode), DebounceMS: cmp.Or(q.DebounceMS, below.DebounceMS),
		Cap: cmp.Or(q.Cap, below.Cap), Drop: cmp.Or(q.Drop, below.Drop),
	}
}

// DefaultQueue returns how messages wait in a home that says nothing of it.
func DefaultQueue() QueueSettings {
	return QueueSettings{Mode: QueueCollect, DebounceMS: 1000, Cap: 20, Drop: DropSummarize}
}

// Debounce returns how long it must be quiet before what waits becomes a turn.
func (q QueueSettings) Debounce() time.Duration {
	return max(0, time.Duration(q.DebounceMS)*time.Millisecond)
}

// Check returns an Invalid error if something in q is not a setting.
func (q QueueSettings) Check() error {
	switch q.Mode {
	case "", QueueCollect, QueueFollowup, QueueSteer, QueueSteerBacklog, QueuePlain, QueueInterrupt:
	default:
		return E(Invalid, fmt.Sprintf("%.40q is not a queue mode", q.Mode)).
			WithHint("use collect, followup, steer, steer-backlog, queue or interrupt")
	}
	switch q.Drop {
	case "", DropOld, DropNew, DropSummarize:
	default:
		return E(Invalid, fmt.Sprintf("%.40q is no way to drop", q.Drop)).WithHint("use old, new or summarize")
	}
	if q.DebounceMS < -1 || q.DebounceMS > int(MaxDebounce/time.Millisecond) {
		return E(Invalid, fmt.Sprintf("a debounce of %d ms is out of bounds", q.DebounceMS)).
			WithHint(fmt.Sprintf("use 1 to %d, or -1 for none", MaxDebounce/time.Millisecond))
	}
	if q.Cap < 0 || q.Cap > MaxWaiting {
		return E(Invalid, fmt.Sprintf("a cap of %d is out of bounds", q.Cap)).WithHint(fmt.Sprintf("use 1 to %d", MaxWaiting))
	}
	return nil
}

// A Class is a kind of lane with a concurrency of its own.
type Class string

// The lane classes.
const (
	ClassMain     Class = "main"
	ClassJob      Class = "job"
	ClassSubagent Class = "subagent"
	ClassCron     Class = "cron"
)

// A Lease is a node's claim on a session's lane. Token only grows; every write
// of a turn carries it and is refused once a higher one exists.
type Lease struct {
	Session   SessionKey
	Owner     NodeID
	Token     int64
	ExpiresAt time.Time
}

// An Outbound is a reply owed to a channel until it confirmed it. ID is the
// idempotency key of its delivery.
type Outbound struct {
	ID        OutboxID    `json:"id"`
	Session   SessionKey  `json:"session"`
	Turn      TurnID      `json:"turn,omitempty"`  // empty for a notice that is of no turn
	Entry     EntryID     `json:"entry,omitempty"` // the entry it delivers; empty for a notice
	To        Origin      `json:"to"`
	Text      string      `json:"text"`
	State     OutboxState `json:"state"`
	Attempts  int         `json:"attempts"`
	Error     string      `json:"error,omitempty"` // of the last attempt
	CreatedAt time.Time   `json:"created_at"`
	SentAt    time.Time   `json:"sent_at,omitzero"`
}

// OutboxState says whether a reply was delivered.
type OutboxState string

// The states of an outbox message.
const (
	OutboxPending OutboxState = "pending"
	OutboxSent    OutboxState = "sent"
	OutboxFailed  OutboxState = "failed" // given up; the owner is told
)

var outboxMoves = map[OutboxState][]OutboxState{
	OutboxPending: {OutboxSent, OutboxFailed},
}

// CanMove reports whether an outbox message may go from s to to.
func (s OutboxState) CanMove(to OutboxState) bool { return canMove(outboxMoves, s, to) }

// From returns who spoke, as the model should see it: empty for the owner and
// for origins that tell no sender.
func (in Inbound) From() string {
	if in.Origin.Owner {
		return ""
	}
	return in.Origin.Sender
}
