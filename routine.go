package chela

import (
	"encoding/json"
	"time"
)

// A Routine is a stored trigger with an action: when it fires, a message enters a
// lane.
type Routine struct {
	ID          RoutineID     `json:"id"`
	Name        string        `json:"name"` // unique in the home; as ValidName wants it
	Description string        `json:"description,omitempty"`
	Agent       string        `json:"agent"`
	Builtin     bool          `json:"builtin,omitempty"` // chela keeps it as the configuration says; it cannot be deleted
	Enabled     bool          `json:"enabled"`
	Reason      string        `json:"reason,omitempty"` // why it is not enabled, where nobody asked for that
	Trigger     Trigger       `json:"trigger"`
	Action      RoutineAction `json:"action"`
	Guards      RoutineGuards `json:"guards,omitzero"`
	Notify      RoutineNotify `json:"notify,omitzero"`

	// Origin is where it was made: results go there by default. Owner says
	// whether the owner made it, whose rights its turns have then.
	Origin  Origin     `json:"origin,omitzero"`
	Session SessionKey `json:"session,omitempty"` // in which it was made

	DeleteAfterRun bool `json:"delete_after_run,omitempty"`

	// What became of it so far.
	NextAt    time.Time `json:"next_at,omitzero"` // when it is due; zero if no time makes it fire
	LastAt    time.Time `json:"last_at,omitzero"` // the due time, or the moment, of its newest run
	Failures  int       `json:"failures"`         // in a row
	Version   int       `json:"version"`          // grows with each change of what it is
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	DeletedAt time.Time `json:"deleted_at,omitzero"` // its runs stay readable
}

// TriggerKind says what makes a routine fire.
type TriggerKind string

// The kinds of triggers.
const (
	TriggerCron    TriggerKind = "cron"
	TriggerEvery   TriggerKind = "every"
	TriggerAt      TriggerKind = "at"
	TriggerEvent   TriggerKind = "event"        // a message that matches
	TriggerSystem  TriggerKind = "system_event" // something that chela announces of itself
	TriggerWebhook TriggerKind = "webhook"
	TriggerManual  TriggerKind = "manual"
)

// A Trigger is what makes a routine fire. Which fields are set follows from its
// kind. Every routine can be fired by hand, too.
type Trigger struct {
	Kind TriggerKind `json:"kind"`

	Cron string `json:"cron,omitempty"` // cron: 5 or 6 fields
	Zone string `json:"zone,omitempty"` // cron: an IANA name; empty for the home's

	Every  time.Duration `json:"every,omitempty"` // every: in nanoseconds
	Anchor time.Time     `json:"anchor,omitzero"` // every: one of the times at which it fires

	At time.Time `json:"at,omitzero"` // at

	// Missed says what becomes of due times that nobody was there for; empty is
	// left to the configuration.
	Missed Missed `json:"missed,omitempty"`

	Channel string `json:"channel,omitempty"` // event: only messages of this channel
	Pattern string `json:"pattern,omitempty"` // event: an expression (RE2) that the text matches

	Source string            `json:"source,omitempty"` // system_event: such as "job" or "routine"
	Event  string            `json:"event,omitempty"`  // system_event: such as "failed"
	Filter map[string]string `json:"filter,omitempty"` // system_event: fields that must be equal

	Path   string `json:"path,omitempty"`   // webhook: what follows /hooks/
	Scheme string `json:"scheme,omitempty"` // webhook: how requests are signed
	Secret string `json:"secret,omitempty"` // webhook: env:NAME or secret:NAME; the value is never kept here
}

// Missed says what becomes of due times that nobody was there for.
type Missed string

// The policies for missed due times.
const (
	MissedSkip Missed = "skip" // none fires; each is recorded as skipped, or counted
	MissedOnce Missed = "once" // the newest fires, once
	MissedAll  Missed = "all"  // each fires, oldest first
)

// ActionKind says what a routine does when it fires.
type ActionKind string

// The kinds of actions.
const (
	ActionLight  ActionKind = "lightweight"  // one call of the model, without tools
	ActionTurn   ActionKind = "turn"         // a turn with tools
	ActionJob    ActionKind = "job"          // a job
	ActionEvent  ActionKind = "system_event" // a note for the main session
	ActionNotify ActionKind = "notify"       // a text for people, without any model
)

// A RoutineAction is what a routine does when it fires. Which fields are set
// follows from its kind.
type RoutineAction struct {
	Kind ActionKind `json:"kind"`
	Text string     `json:"text"` // the prompt, what is to be done, the note or the notice

	Documents []string      `json:"documents,omitempty"`  // lightweight, turn: paths of documents that the prompt shows
	MaxTokens int           `json:"max_tokens,omitempty"` // lightweight: of the answer
	Main      bool          `json:"main,omitempty"`       // turn: in the agent's main session, not one of its own
	Model     string        `json:"model,omitempty"`
	Thinking  ThinkingLevel `json:"thinking,omitempty"`
	Steps     int           `json:"steps,omitempty"`
	Timeout   time.Duration `json:"timeout,omitempty"` // of one run, in nanoseconds
	Title     string        `json:"title,omitempty"`   // job
	Plan      bool          `json:"plan,omitempty"`    // job
	Priority  int           `json:"priority,omitempty"`

	// Post says what of an isolated run is told to the main session.
	Post    PostMode `json:"post,omitempty"`
	PostMax int      `json:"post_max,omitempty"` // characters of the output, of PostFull; 0 is 8,000
	Wake    WakeMode `json:"wake,omitempty"`     // when the main session reads what it is told
}

// PostMode says what of an isolated run is told to the main session.
type PostMode string

// The ways to post.
const (
	PostNone    PostMode = "none"
	PostSummary PostMode = "summary" // a line; the default
	PostFull    PostMode = "full"    // all that was said, up to a bound
)

// WakeMode says when a session reads a note.
type WakeMode string

// The ways to wake.
const (
	WakeNow           WakeMode = "now"            // at once, in a turn
	WakeNextHeartbeat WakeMode = "next-heartbeat" // with the next heartbeat, or the next turn if that is sooner
)

// RoutineGuards keep a routine from firing too often. Zero values are left to the
// configuration; negative ones mean no bound.
type RoutineGuards struct {
	Cooldown    time.Duration `json:"cooldown,omitempty"`     // between runs that no clock made fire, in nanoseconds
	Concurrent  int           `json:"concurrent,omitempty"`   // runs at once
	Dedup       time.Duration `json:"dedup,omitempty"`        // for how long the same cause does not fire again, in nanoseconds
	PerHour     int           `json:"per_hour,omitempty"`     // runs in any hour
	PerDay      int           `json:"per_day,omitempty"`      // runs in any 24 hours
	ActiveHours ActiveHours   `json:"active_hours,omitzero"`  // outside of them due times are skipped
	Idle        bool          `json:"idle,omitempty"`         // it is skipped while a turn of the main session is in flight
	Unless      string        `json:"unless_blank,omitempty"` // it is skipped while this document has nothing in it
}

// ActiveHours are a part of each day. The zero value is the whole day.
type ActiveHours struct {
	Start string `json:"start,omitempty"` // HH:MM
	End   string `json:"end,omitempty"`   // HH:MM, up to 24:00; before Start for hours over midnight
	Zone  string `json:"zone,omitempty"`  // an IANA name; empty for the home's
}

// NotifyPolicy says whether people are told of a run.
type NotifyPolicy string

// The policies.
const (
	NotifyAlways      NotifyPolicy = "always"
	NotifyConditional NotifyPolicy = "conditional" // where the run says that there is something to report; the default
	NotifyNever       NotifyPolicy = "never"
)

// A RoutineNotify says who is told of a run, and when.
type RoutineNotify struct {
	Policy        NotifyPolicy  `json:"policy,omitempty"`
	AfterFailures int           `json:"after_failures,omitempty"` // failures in a row of which people are told whatever the policy is; 0 is left to the configuration, -1 for never
	Disable       int           `json:"disable,omitempty"`        // failures in a row after which it is disabled; likewise
	Target        NotifyTarget  `json:"target,omitempty"`
	Channel       string        `json:"channel,omitempty"` // TargetExplicit
	To            string        `json:"to,omitempty"`      // TargetExplicit
	AckMax        int           `json:"ack_max,omitempty"` // characters beside HEARTBEAT_OK that still mean nothing to report
	Repeat        time.Duration `json:"repeat,omitempty"`  // for how long the same text is not told again, in nanoseconds
}

// NotifyTarget says where people are told.
type NotifyTarget string

// The targets. Where the one that is named cannot be found, the next is taken.
const (
	TargetExplicit  NotifyTarget = "explicit"
	TargetOrigin    NotifyTarget = "origin"    // where the routine was made; the default
	TargetLast      NotifyTarget = "last"      // where the main session was last spoken to
	TargetBroadcast NotifyTarget = "broadcast" // wherever the owner was last seen, on each channel
	TargetNone      NotifyTarget = "none"
)

// A RoutineRun is one firing of a routine and what came of it.
type RoutineRun struct {
	ID      RunID       `json:"id"`
	Routine RoutineID   `json:"routine"`
	Due     time.Time   `json:"due"` // when it was due, or the moment of its cause
	Key     string      `json:"key"` // unique in its routine: a due time or a cause fires once
	State   RunState    `json:"state"`
	Reason  string      `json:"reason,omitempty"` // why it was skipped or failed, for people
	Waits   string      `json:"waits,omitempty"`  // for what, for people: a person, or its job does; it takes no place meanwhile
	Cause   TriggerKind `json:"cause"`            // TriggerManual where it was fired by hand
	Input   string      `json:"input,omitempty"`  // what fired it: a message, the body of a request
	Missed  int         `json:"missed,omitempty"` // due times before it that did not fire, as the policy wants

	Session SessionKey `json:"session,omitempty"`
	Thread  ThreadID   `json:"thread,omitempty"`
	Turn    TurnID     `json:"turn,omitempty"`
	Job     JobID      `json:"job,omitempty"`

	Report   *Report `json:"report,omitempty"`   // what the run said of itself through the report tool
	Output   string  `json:"output,omitempty"`   // whole
	Notified string  `json:"notified,omitempty"` // what people were told; empty for nothing

	CreatedAt  time.Time `json:"created_at"`
	StartedAt  time.Time `json:"started_at,omitzero"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
}

// RunState says how far a run of a routine is.
type RunState string

// The states of a run. The last three are endings.
const (
	RunPending RunState = "pending" // waits for a place
	RunRunning RunState = "running"
	RunOK      RunState = "ok"
	RunFailed  RunState = "failed"
	RunSkipped RunState = "skipped" // a guard did not let it run
)

var runMoves = map[RunState][]RunState{
	RunPending: {RunRunning, RunFailed, RunSkipped},
	RunRunning: {RunOK, RunFailed, RunSkipped},
}

// CanMove reports whether a run may go from s to to.
func (s RunState) CanMove(to RunState) bool { return canMove(runMoves, s, to) }

// Ended reports whether s is an ending.
func (s RunState) Ended() bool { return s != "" && len(runMoves[s]) == 0 }

// A Report is what a run says of itself: whether there is something that people
// should be told.
type Report struct {
	Notify bool            `json:"notify"`
	Text   string          `json:"text,omitempty"` // what they are told
	Facts  json.RawMessage `json:"facts,omitempty"`
}

// A Note is something that a session is told by chela: with its next turn, or in
// one of its own.
type Note struct {
	Key       string     `json:"key"` // unique: the same note is kept once
	Session   SessionKey `json:"session"`
	From      string     `json:"from"` // such as "routine daily"
	Text      string     `json:"text"`
	Turn      TurnID     `json:"turn,omitempty"` // that was told of it; empty while it waits
	CreatedAt time.Time  `json:"created_at"`
}
