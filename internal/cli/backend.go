package cli

import (
	"context"
	"encoding/json"
	"io"

	"chela"
	"chela/internal/api"
	"chela/internal/approval"
	"chela/internal/cli/documents"
	"chela/internal/cli/jobs"
	"chela/internal/cli/models"
	"chela/internal/cli/rewinds"
	"chela/internal/cli/routines"
	"chela/internal/cli/usage"
)

// A Backend is an open home, by noun. The commands use it from one goroutine.
type Backend struct {
	Conversation conversation
	Sessions     sessions
	Keeper       keeper
	Transcripts  transcriber
	Threads      threads
	Turns        turns
	Approvals    approver
	Grants       grants
	Tools        tools
	Models       models.Home
	Tokens       tokens
	Memory       documents.Home
	Rewinds      rewinds.Home
	Routines     routines.Home
	Usage        usage.Home
	Jobs         jobs.Home // without Approvals and Turn

	// Seed gives an agent its first documents, unless it ever had any, and
	// reports whether it did.
	Seed func(ctx context.Context, agent string) (bool, error)

	// Logs hands the lines of the log to show, oldest first: those that are
	// kept and, where follow is set, each new one until ctx ends, which is no
	// error.
	Logs func(ctx context.Context, follow bool, show func(line string)) error

	// Listen hands what a session announces from now on to show, one after the
	// other, until ctx ends: endings of turns, and notices. Some may be lost.
	Listen func(ctx context.Context, key chela.SessionKey, show func(chela.Event))

	// Notices returns what people are to be told and nobody has seen, the oldest
	// first; SeenNotices says that it was shown.
	Notices     func(ctx context.Context) ([]chela.Outbound, error)
	SeenNotices func(ctx context.Context, ids []chela.OutboxID) error

	// Attach keeps a file for the message it is sent with and returns what to
	// put into Inbound.Attachments.
	Attach func(ctx context.Context, name string, content io.Reader) (chela.Attachment, error)

	// Prompt returns what the next prompt of a thread takes.
	Prompt func(ctx context.Context, id chela.ThreadID) (chela.PromptSize, error)

	// Status counts what is in the home and says who holds it.
	Status func(ctx context.Context) (chela.Status, error)

	// Resume lets the turns go on that an earlier process left. It returns
	// without waiting for them.
	Resume func(ctx context.Context)

	// Close lets turns reach their next commit and closes the home. What did
	// not end goes on with the next Resume.
	Close func() error
}

// conversation is how a person speaks with an agent.
type conversation interface {
	// Ask commits in and follows the turn that takes it, until the turn ended
	// or waits for an answer to an approval. It hands the events of that turn
	// to show, in order and never two at once; it returns after show did for
	// the last time. A message without a MessageID is given one. If ctx ends
	// first, Ask returns its error and the turn goes on; the returned turn is
	// what is known of it then, its ID empty if it was not opened yet. A command
	// has no turn: its reply is the one event, of the kind EventReply, and the
	// ID stays empty.
	Ask(ctx context.Context, in chela.Inbound, show func(chela.Event)) (chela.Turn, error)

	// Follow does the same for a turn that is there, such as one whose
	// approval was just answered. A turn that ended is returned at once.
	Follow(ctx context.Context, id chela.TurnID, show func(chela.Event)) (chela.Turn, error)

	// Stop asks a turn to stop and returns without waiting for that. A turn
	// that ended is a Conflict.
	Stop(ctx context.Context, id chela.TurnID) error
}

// sessions reads sessions. A key that is not well-formed is Invalid, one that
// does not exist NotFound.
type sessions interface {
	// Sessions returns all of them, the last used first.
	Sessions(ctx context.Context) ([]chela.Session, error)
	// Session returns one with what was spent in it.
	Session(ctx context.Context, key chela.SessionKey) (api.Session, error)
}

// keeper changes sessions and their threads. What does not exist is NotFound.
type keeper interface {
	// Change changes settings of a session, or its current thread. What is
	// wrong in the patch is Invalid, and nothing is changed then.
	Change(ctx context.Context, key chela.SessionKey, patch api.SettingsPatch) (chela.Session, error)
	// Begin makes a new thread the current one of a session. The old one stays
	// readable, and what runs in it goes on.
	Begin(ctx context.Context, key chela.SessionKey, title string) (chela.Thread, error)
	// Title gives a thread another title.
	Title(ctx context.Context, id chela.ThreadID, title string) (chela.Thread, error)
}

// transcriber writes threads down and reads them again; see [transcripts.Home].
type transcriber interface {
	Export(ctx context.Context, id chela.ThreadID, how api.Export, to io.Writer) error
	Import(ctx context.Context, key chela.SessionKey, from io.Reader) (api.Imported, error)
}

// threads reads threads.
type threads interface {
	// Threads returns those of a session, the last used first.
	Threads(ctx context.Context, key chela.SessionKey) ([]chela.Thread, error)
	Thread(ctx context.Context, id chela.ThreadID) (chela.Thread, error)
	// Path returns the entries from the root to the head.
	Path(ctx context.Context, id chela.ThreadID) ([]chela.Entry, error)
}

// turns reads turns.
type turns interface {
	Turn(ctx context.Context, id chela.TurnID) (chela.Turn, error)
	// Transcript returns the entries of a turn in order of their sequence,
	// and its tool calls in order of step and index.
	Transcript(ctx context.Context, id chela.TurnID) ([]chela.Entry, []chela.ToolCall, error)
	// Replay runs a turn again from its record and compares; live, it also gives
	// the same messages to the model again, in a thread of their own. A turn that
	// has not ended is a Conflict.
	Replay(ctx context.Context, id chela.TurnID, live bool) (chela.Replay, error)
}

// approver reads and answers approvals.
type approver interface {
	// Approvals returns those in a state, the oldest first; with an empty
	// state all.
	Approvals(ctx context.Context, state chela.ApprovalState) ([]chela.Approval, error)
	Approval(ctx context.Context, id chela.ApprovalID) (chela.Approval, error)
	// Answer answers one. It is a Conflict if somebody else did, and Invalid
	// if a pattern does not cover the call. The turn goes on by itself.
	Answer(ctx context.Context, r approval.Reply) (chela.Approval, error)
}

// grants reads and revokes standing answers.
type grants interface {
	// Grants returns all of them, the oldest first.
	Grants(ctx context.Context) ([]chela.Grant, error)
	// Revoke removes one, or is NotFound.
	Revoke(ctx context.Context, id chela.GrantID) error
}

// tools lists tools and runs one by hand.
type tools interface {
	// Tools returns those of an agent, sorted by name.
	Tools(ctx context.Context, agent string) ([]chela.Tool, error)
	// Call runs a tool in the agent's main session. The arguments are checked
	// against the schema; the policy may deny the call, but does not ask: who
	// types a call wants it.
	Call(ctx context.Context, agent, name string, args json.RawMessage) (chela.ToolResult, error)
}

// tokens makes, lists and ends tokens of the HTTP API.
type tokens interface {
	// CreateToken makes a token and returns its secret, which nobody can find
	// out again. A name or scope that cannot be is Invalid.
	CreateToken(ctx context.Context, name string, scope chela.Scope) (chela.Token, string, error)
	// Tokens returns all of them, the oldest first, those that were revoked
	// among them.
	Tokens(ctx context.Context) ([]chela.Token, error)
	// RevokeToken ends one, or is NotFound.
	RevokeToken(ctx context.Context, id chela.TokenID) error
}

// A Listening says how chela serve can be reached.
type Listening struct {
	Addresses []string `json:"addresses"` // such as "127.0.0.1:7717"; no port is 0
	Tokens    int      `json:"tokens"`    // how many there are that work
}

// A Finding is one thing that doctor looked at.
type Finding struct {
	Subject string `json:"subject"` // such as "database"
	OK      bool   `json:"ok"`
	Text    string `json:"text"`           // what was found
	Cure    string `json:"cure,omitempty"` // what to do, where it is not OK
}
