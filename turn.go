package chela

import (
	"slices"
	"strings"
	"time"
)

// A Turn is one input and everything until the agent yields.
type Turn struct {
	ID         TurnID     `json:"id"`
	Session    SessionKey `json:"session"`
	Thread     ThreadID   `json:"thread"`
	State      TurnState  `json:"state"`
	Origin     Origin     `json:"origin"`
	Model      string     `json:"model"` // provider/model chosen when it opened
	Overrides  Overrides  `json:"overrides,omitzero"`
	Base       EntryID    `json:"base,omitempty"`    // the thread's head when the turn opened; undo moves there
	Crashes    int        `json:"crashes"`           // runs of this turn that died with their process, or by a fault of chela
	Steps      int        `json:"steps"`             // model answers so far
	Stop       bool       `json:"stop"`              // somebody asked to stop it
	Failure    *Failure   `json:"failure,omitempty"` // set when failed, interrupted or limited
	CreatedAt  time.Time  `json:"created_at"`
	FinishedAt time.Time  `json:"finished_at,omitzero"`
	Activity   Activity   `json:"activity,omitempty"` // what it does right now, where somebody asks; not stored
}

// Payer returns on whose account the next model call of the turn goes.
func (t *Turn) Payer(purpose string) Payer {
	p := Payer{Session: t.Session, Turn: t.ID, Step: t.Steps + 1, Purpose: purpose}
	switch {
	case !t.Origin.Followed():
	case t.Origin.Channel == ChannelJob:
		p.Job = JobID(t.Origin.Account)
	case t.Origin.Channel == ChannelRoutine:
		p.Routine = RoutineID(t.Origin.Account)
	}
	if key := string(t.Session); !strings.HasPrefix(key, "cron:") && !strings.Contains(key, ":job:") {
		return p
	}
	switch key, _ := ParseSessionKey(t.Session); key.Kind { // others have neither
	case KeyJob:
		p.Job = JobID(key.ID)
	case KeyCron:
		p.Routine = RoutineID(key.ID)
	}
	return p
}

// An Activity is what a turn that has not ended is doing.
type Activity string

// The activities of turns.
const (
	ActivityWaiting    Activity = "waiting"    // for a person, for results of offered tools, or for its place
	ActivityThinking   Activity = "thinking"   // the model was asked and has not said anything yet
	ActivityStreaming  Activity = "streaming"  // the model's answer arrives
	ActivityTools      Activity = "tools"      // tools run
	ActivityCompacting Activity = "compacting" // the prompt is made smaller
)

// Overrides are what directives in a message set for its turn, instead of the
// session's settings. The zero value overrides nothing.
type Overrides struct {
	Thinking  ThinkingLevel `json:"thinking,omitempty"`
	Verbose   string        `json:"verbose,omitempty"`   // "off", "on" or "full"
	Reasoning string        `json:"reasoning,omitempty"` // "off", "on" or "stream"
	Elevated  string        `json:"elevated,omitempty"`  // "off", "ask", "on" or "full"

	// Bounds below those of the home, for turns that chela begins itself. What is
	// zero, or above the home's, does not count.
	Steps  int           `json:"steps,omitempty"`
	Time   time.Duration `json:"time,omitempty"`   // of one run, in nanoseconds
	Tokens int64         `json:"tokens,omitempty"` // that its model calls may take together
	Answer int           `json:"answer,omitempty"` // tokens of one answer
}

// TurnState says how far a turn is, and once it ended, how.
type TurnState string

// The states of a turn. The last four are endings.
const (
	TurnProcessing  TurnState = "processing"        // may run
	TurnAwaiting    TurnState = "awaiting_approval" // waits for a person, or for the result of an offered tool; holds no lane
	TurnCompleted   TurnState = "completed"         // the model gave its final answer
	TurnFailed      TurnState = "failed"            // Failure says what kind of trouble
	TurnInterrupted TurnState = "interrupted"       // a person stopped it
	TurnLimited     TurnState = "limited"           // Failure.Limit says which limit
)

var turnMoves = map[TurnState][]TurnState{
	TurnProcessing: {TurnAwaiting, TurnCompleted, TurnFailed, TurnInterrupted, TurnLimited},
	TurnAwaiting:   {TurnProcessing, TurnFailed, TurnInterrupted, TurnLimited},
}

// CanMove reports whether a turn may go from s to to.
func (s TurnState) CanMove(to TurnState) bool { return canMove(turnMoves, s, to) }

// Ended reports whether s is an ending.
func (s TurnState) Ended() bool { return s != "" && len(turnMoves[s]) == 0 }

// A Failure says why a turn did not complete.
type Failure struct {
	Kind    Kind   `json:"kind,omitempty"`
	Limit   Limit  `json:"limit,omitempty"` // set when a limit ended the turn
	Message string `json:"message"`         // may be shown to people
}

// Limit names a limit that can end a turn.
type Limit string

// The limits of a turn.
const (
	LimitSteps Limit = "steps" // provider requests in one turn
	LimitTime  Limit = "time"  // wall clock of one turn, waiting for people not counted

	LimitPrompt Limit = "prompt" // tokens that fit the model
	LimitLoop   Limit = "loop"   // doing the same again and again
	LimitTokens Limit = "tokens" // that the model calls of a job may take

	// Money, and how often a model is asked; see config.Limits.
	LimitDay     Limit = "usd_per_day"
	LimitSession Limit = "usd_per_session"
	LimitTurn    Limit = "usd_per_turn"
	LimitJob     Limit = "usd_per_job"
	LimitRoutine Limit = "usd_per_routine"
	LimitActions Limit = "actions_per_hour"
)

// LimitsOfCost returns the limits of how many model calls there are and of what
// they cost, in the order in which their budgets are changed.
func LimitsOfCost() []Limit {
	return []Limit{LimitActions, LimitDay, LimitSession, LimitTurn, LimitJob, LimitRoutine}
}

// IsOfCost reports whether l is a limit of what model calls cost, or of how many
// there are.
func (l Limit) IsOfCost() bool { return slices.Contains(LimitsOfCost(), l) }

// IsOfHome reports whether l is one limit for all of the home, not one for each
// session, turn and so on.
func (l Limit) IsOfHome() bool { return l == LimitDay || l == LimitActions }

// An Origin says where a turn came from and where its answer goes.
type Origin struct {
	Channel string `json:"channel"`            // such as "terminal" or "telegram"
	Account string `json:"account,omitempty"`  // which account of the channel
	To      string `json:"to,omitempty"`       // chat or peer the answer goes to
	Thread  string `json:"thread,omitempty"`   // topic or thread on the channel
	Sender  string `json:"sender,omitempty"`   // who spoke
	Owner   bool   `json:"owner,omitempty"`    // the sender owns this home
	ReplyBy string `json:"reply_by,omitempty"` // how the answer gets there; empty where the asker reads it
}

// How answers get to where their turn came from.
const (
	ReplyByOutbox = "outbox" // it is owed as an outbox row
	ReplyByFollow = "follow" // chela itself follows the turn: each of its moves leaves work of kind WorkFollow
)

// The channels of messages that chela sends itself. Account is whose they are.
const (
	ChannelJob     = "job"     // Account is the id of the job
	ChannelRoutine = "routine" // Account is the id of the routine, To that of the run
)

// Followed reports whether chela itself wants to know what becomes of a turn
// that comes from o.
func (o *Origin) Followed() bool { return o.ReplyBy == ReplyByFollow }
