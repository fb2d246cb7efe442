package chela

import "time"

// An Approval is a durable question whether one tool call may proceed. It is
// bound to the exact call by ArgsHash: a call whose arguments changed needs a
// new one.
type Approval struct {
	ID         ApprovalID    `json:"id"`
	Call       CallID        `json:"call"`
	Turn       TurnID        `json:"turn"`
	Thread     ThreadID      `json:"thread"`
	Session    SessionKey    `json:"session"`
	State      ApprovalState `json:"state"`
	Tool       string        `json:"tool"`
	Effect     Effect        `json:"effect"`
	ArgsHash   string        `json:"args_hash"` // SHA-256 of the canonical arguments, hex
	Preview    string        `json:"preview"`   // what would happen: command, diff, method and URL
	Subjects   []string      `json:"subjects"`  // what a pattern is matched against
	Exact      bool          `json:"exact"`     // only a pattern without wildcards covers the call
	Reason     string        `json:"reason"`    // why it is asked
	Floor      bool          `json:"floor"`     // asked even after "always", unless a pattern names it
	Answer     Answer        `json:"answer,omitempty"`
	Pattern    string        `json:"pattern,omitempty"`     // given with AnswerPattern
	Comment    string        `json:"comment,omitempty"`     // said with a no; the model sees it
	AnsweredBy string        `json:"answered_by,omitempty"` // who answered, through which channel
	CreatedAt  time.Time     `json:"created_at"`
	ExpiresAt  time.Time     `json:"expires_at"`
	AnsweredAt time.Time     `json:"answered_at,omitzero"`
}

// ApprovalState says whether a question was answered.
type ApprovalState string

// The states of an approval.
const (
	ApprovalPending   ApprovalState = "pending"
	ApprovalGranted   ApprovalState = "granted"
	ApprovalDenied    ApprovalState = "denied"
	ApprovalExpired   ApprovalState = "expired"   // nobody answered in time; counts as no
	ApprovalWithdrawn ApprovalState = "withdrawn" // its turn ended first
)

var approvalMoves = map[ApprovalState][]ApprovalState{
	ApprovalPending: {ApprovalGranted, ApprovalDenied, ApprovalExpired, ApprovalWithdrawn},
}

// CanMove reports whether an approval may go from s to to.
func (s ApprovalState) CanMove(to ApprovalState) bool { return canMove(approvalMoves, s, to) }

// An Answer is what a person said to an approval.
type Answer string

// The answers. All but AnswerNo grant the call at hand.
const (
	AnswerOnce    Answer = "once"    // this call only
	AnswerSession Answer = "session" // this tool, for the rest of the session
	AnswerPattern Answer = "pattern" // whatever the pattern names, until revoked
	AnswerNo      Answer = "no"
)

// A Grant is a standing answer: it turns an ask into an allow. Session grants
// end with their session; pattern grants stay until revoked.
type Grant struct {
	ID        GrantID    `json:"id"`
	Agent     string     `json:"agent"`
	Session   SessionKey `json:"session,omitempty"` // empty: every session of the agent
	Tool      string     `json:"tool"`
	Pattern   string     `json:"pattern,omitempty"` // empty: whatever the tool does, floor excepted
	Literal   bool       `json:"literal,omitempty"` // "*" in the pattern stands for itself
	Approval  ApprovalID `json:"approval"`          // the question it came from
	CreatedAt time.Time  `json:"created_at"`
}

// A Verdict is what the policy says of a call.
type Verdict string

// The verdicts, strongest first.
const (
	Deny  Verdict = "deny"
	Ask   Verdict = "ask"
	Allow Verdict = "allow"
)
