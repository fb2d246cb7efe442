package chela

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// An Effect is what a tool call may do to the world. It is computed from the
// actual arguments and is what the policy looks at.
type Effect string

// The effects, mildest first.
const (
	EffectRead    Effect = "read"    // looks at the session's own things; changes nothing
	EffectWrite   Effect = "write"   // changes files or notes of the session
	EffectNetwork Effect = "network" // asks another machine
	EffectExecute Effect = "execute" // runs a program
	EffectSend    Effect = "send"    // says something to somebody else, or changes another machine
	EffectSpend   Effect = "spend"   // costs money
)

// A Tier is a coarser view of an effect: how calls are ordered and shown.
type Tier string

// The tiers.
const (
	ReadOnly      Tier = "read_only"
	SideEffecting Tier = "side_effecting"
	Privileged    Tier = "privileged"
)

// Tier returns the tier of e. An unknown effect is privileged.
func (e Effect) Tier() Tier {
	switch e {
	case EffectRead:
		return ReadOnly
	case EffectWrite, EffectNetwork:
		return SideEffecting
	default:
		return Privileged
	}
}

// A Resume says what to do with a call that was running when its process died.
type Resume string

// The ways to resume. The zero value is the safe one.
const (
	ResumeUnknown Resume = ""       // may or may not have happened: tell the model, never repeat
	ResumeRepeat  Resume = "repeat" // idempotent: run again with the same key
	ResumeQuery   Resume = "query"  // ask Tool.Happened and use its answer
	ResumeWait    Resume = "wait"   // whoever offered the tool runs it: wait for the result
)

// A Domain says where a tool runs.
type Domain string

// The domains.
const (
	DomainHost   Domain = "host"   // inside the chela process
	DomainWorker Domain = "worker" // inside a sandbox
)

// A Tool is a value: a name, a schema, and functions. Wrappers (limits,
// redaction, hooks) are func(Tool) Tool.
//
// Judge and Run may be called by several goroutines at once. Judge must be
// pure and quick; the arguments it gets have passed the schema.
type Tool struct {
	Name        string
	Description string          // Markdown that the model reads
	Input       json.RawMessage // JSON Schema of the arguments, an object
	Domain      Domain
	Timeout     time.Duration // of one call; 0 means the default of 60 s
	MaxOutput   int           // bytes of text that go into the prompt; 0 means the default of 50,000

	// Limit returns the time of a call with these arguments, where they say something
	// about that. Nil, and 0, mean Timeout.
	Limit func(args json.RawMessage) time.Duration

	// Judge tells what a call with these arguments would do. Nil means a
	// plain read.
	Judge func(args json.RawMessage) Judgement

	// Prepare returns what must be known before the call changes anything. It
	// is stored in the commit that marks the call running, and handed to Run
	// and Happened in ToolCall. Nil means there is nothing to store. It changes
	// nothing in the world but that it may keep contents in the blob store. An
	// error is a result for the model, but for ErrLater.
	Prepare func(ctx context.Context, call ToolCall) (Prepared, error)

	// Run performs the call. The call's ID is its idempotency key. A failure
	// that the model can learn from is a result with Failed set; an error
	// means chela itself is at fault or ctx ended, or it is ErrLater. When ctx
	// ends, Run returns promptly and has stopped everything it began.
	Run func(ctx context.Context, call ToolCall) (ToolResult, error)

	// Happened tells whether a call that was cut off took effect. It is
	// needed where Judge says ResumeQuery. It returns the result if the call
	// happened, nil if it certainly did not (it is run again), and an error
	// if that cannot be told (the call becomes unknown).
	Happened func(ctx context.Context, call ToolCall) (*ToolResult, error)
}

// LimitOf returns after how long a call with these arguments is ended; 0 if the tool
// names no time.
func (t Tool) LimitOf(args json.RawMessage) time.Duration {
	if t.Limit != nil {
		if limit := t.Limit(args); limit > 0 {
			return limit
		}
	}
	return t.Timeout
}

// ErrLater is in the chain of a tool's error where the store of chela did not do
// what it should. The turn, which meets the same, is tried again with the call, if
// that may run twice; an Internal error is counted as a crash of it.
var ErrLater = errors.New("the store does not work at the moment")

// Prepared is what is stored of a call before it runs.
type Prepared struct {
	// Intent is whatever the tool needs to find out later whether the call
	// happened.
	Intent json.RawMessage

	// Changes are the pre-images of all that the call is going to write, by
	// which it can be undone.
	Changes []Preimage
}

// A Preimage is one file or document that a call writes, as it was before and
// as it is after. The blob store holds the contents by their hashes.
type Preimage struct {
	Kind   PreimageKind `json:"kind"`
	Path   string       `json:"path"`             // within the workspace or among the documents, with "/" and without a leading one
	Before string       `json:"before,omitempty"` // SHA-256 of the content, lower-case hex; empty where there is none
	After  string       `json:"after,omitempty"`

	// Mode has the permission bits of a file that goes or comes back; zero are
	// those of a new one. Made is the topmost folder that did not exist before
	// the file: it goes with it, if nothing else is in it.
	Mode uint32 `json:"mode,omitempty"`
	Made string `json:"made,omitempty"`
}

// PreimageKind says what a pre-image is of.
type PreimageKind string

// The kinds of pre-images.
const (
	PreimageFile     PreimageKind = "file"     // in the agent's workspace
	PreimageDocument PreimageKind = "document" // among the agent's documents
)

// A Judgement is what a tool says of one call before it runs.
type Judgement struct {
	Effect  Effect
	Resume  Resume
	Preview string // what a person is shown when asked; empty means the arguments
	Risk    string // why it is asked even after "always"; empty for none

	// Subjects are what patterns are matched against: each simple command of
	// a shell line, a path, "GET https://…". A pattern grant covers a call
	// only if every subject is matched. Exact marks subjects that could not
	// be taken apart: only a pattern without wildcards matches them.
	Subjects []string
	Exact    bool
}

// Floor reports whether a call is asked about even after "always", unless a
// pattern names it: it has a risk, says something to others or costs money.
func (j Judgement) Floor() bool {
	return j.Risk != "" || j.Effect == EffectSend || j.Effect == EffectSpend
}

// A ToolCall is one request of the model to do something, and its life.
type ToolCall struct {
	ID         CallID          `json:"id"` // also the idempotency key
	Turn       TurnID          `json:"turn"`
	Thread     ThreadID        `json:"thread"`
	Session    SessionKey      `json:"session"`
	Agent      string          `json:"agent,omitempty"` // whose workspace it works in; not stored
	Step       int             `json:"step"`            // step of the turn, from 1
	Index      int             `json:"index"`           // place within the step, from 0
	Ref        string          `json:"ref,omitempty"`
	Tool       string          `json:"tool"`
	Args       json.RawMessage `json:"args"`
	Effect     Effect          `json:"effect"`
	Resume     Resume          `json:"resume,omitempty"`
	State      CallState       `json:"state"`
	Why        string          `json:"why,omitempty"`     // why it was failed or denied before it ran
	Intent     json.RawMessage `json:"intent,omitempty"`  // from Tool.Prepare
	Changes    []Preimage      `json:"changes,omitempty"` // what it writes; the result's, once it ended
	CreatedAt  time.Time       `json:"created_at"`
	StartedAt  time.Time       `json:"started_at,omitzero"`
	FinishedAt time.Time       `json:"finished_at,omitzero"`

	// Output takes what a tool puts out while it runs, for people to watch. It
	// is set while Tool.Run runs in a turn, nil otherwise, and may be called
	// by several goroutines at once.
	Output func(text string) `json:"-"`
}

// CallState says how far a tool call is.
type CallState string

// The states of a tool call. The last five are endings.
const (
	CallRequested CallState = "requested"         // the model asked for it
	CallAwaiting  CallState = "awaiting_approval" // a person is asked
	CallApproved  CallState = "approved"          // may run
	CallRunning   CallState = "running"           // has been started; only calls with an effect get here
	CallDone      CallState = "done"
	CallFailed    CallState = "failed"
	CallDenied    CallState = "denied"
	CallSkipped   CallState = "skipped" // not run: superseded or the turn ended
	CallUnknown   CallState = "unknown" // was running when the process died
)

// A read goes from approved straight to done or failed: it is never marked
// running, because running it again does no harm.
var callMoves = map[CallState][]CallState{
	CallRequested: {CallAwaiting, CallApproved, CallRunning, CallFailed, CallDenied, CallSkipped},
	CallAwaiting:  {CallApproved, CallRunning, CallDenied, CallSkipped},
	CallApproved:  {CallRunning, CallDone, CallFailed, CallDenied, CallSkipped},
	CallRunning:   {CallDone, CallFailed, CallSkipped, CallUnknown},
}

// CanMove reports whether a tool call may go from s to to.
func (s CallState) CanMove(to CallState) bool { return canMove(callMoves, s, to) }

// Ended reports whether s is an ending.
func (s CallState) Ended() bool { return s != "" && len(callMoves[s]) == 0 }

// A ToolHealth says how a tool has done of late.
type ToolHealth struct {
	Tool       string    `json:"tool"`
	Failures   int       `json:"failures"`             // in a row, by its own fault
	DisabledAt time.Time `json:"disabled_at,omitzero"` // since when it is not run, but to probe it
	ProbeAt    time.Time `json:"probe_at,omitzero"`    // from when on a call is let through to see whether it works again
	Probes     int       `json:"probes,omitempty"`     // that failed since then
	Error      string    `json:"error,omitempty"`      // of the newest failure
	UpdatedAt  time.Time `json:"updated_at,omitzero"`
}

// A ToolResult is what a call came to, as the model will read it.
type ToolResult struct {
	Text        string
	Failed      bool // the tool could not do it; Text says why and what to do instead
	Faulty      bool // the failure is the tool's own, not of what it was asked
	Attachments []Attachment
	Whole       *Attachment // the whole text, where Text is only a part of it

	// Changes are what the call has written, where only running it could tell:
	// they go before those of Tool.Prepare.
	Changes []Preimage
}
