package gateway

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/approval"
	"chela/internal/event"
	"chela/internal/gateway/documents"
	"chela/internal/gateway/edge"
	"chela/internal/gateway/jobs"
	"chela/internal/gateway/notices"
	"chela/internal/gateway/rewinds"
	"chela/internal/gateway/routines"
	"chela/internal/gateway/usages"
)

// Config is what a gateway needs. The limits and lists may be zero; a limit
// that is zero is none.
type Config struct {
	Home Home
	IDs  *chela.IDs // for request ids
	Now  func() time.Time
	Log  *slog.Logger

	Version           string
	Hosts             []string // further names in the Host header, besides loopback and the address listened on
	Origins           []string // further origins of pages, besides the gateway's own
	MessagesPerMinute int      // for each token
	LoginsPerMinute   int      // for each address
	HooksPerMinute    int      // likewise
	HookBytes         int64    // of the body of a request to a webhook
	Connections       int      // open at once
	Times             edge.Times
}

// Home is what the gateway serves, by noun. All methods may be called by
// several goroutines at once. Errors are those of the root package.
type Home struct {
	Conversation conversation
	Events       events
	Sessions     sessions
	Keeper       keeper
	Transcripts  transcripts
	Threads      threads
	Turns        turns
	Approvals    approvals
	Grants       grants
	Tools        tools
	Models       models
	Tokens       tokens
	Logins       logins
	Memory       documents.Home
	Rewinds      rewinds.Home
	Routines     routines.Home
	Usage        usages.Home
	Jobs         jobs.Home
	Notices      notices.Home

	// Attach keeps a file for the message it is sent with. A file that is too
	// large is Invalid.
	Attach func(ctx context.Context, name string, content io.Reader) (chela.Attachment, error)

	// Place returns a message with the session and the origin of its sender. A
	// sender that cannot be is Invalid.
	Place func(in chela.Inbound, from api.Sender) (chela.Inbound, error)

	// Kept returns the attachment whose bytes have a hash, or NotFound.
	Kept func(ctx context.Context, name, mediaType, sha256 string) (chela.Attachment, error)

	// Prompt returns what the next prompt of a thread takes.
	Prompt func(ctx context.Context, id chela.ThreadID) (chela.PromptSize, error)

	Status    func(ctx context.Context) (chela.Status, error)
	Ready     func(ctx context.Context) error // nil when messages are taken
	Settings  func(ctx context.Context) ([]api.Setting, error)
	Configure func(ctx context.Context, key, value string) error

	// Logs hands lines of the log to show: those that are kept, and then each
	// new one until ctx ends, if follow is set.
	Logs func(ctx context.Context, follow bool, show func(line string)) error

	// Agents returns the names of the agents.
	Agents func() []string
}

// conversation is how messages come in and turns are followed.
type conversation interface {
	// Accept commits a message and returns; a turn begins by itself.
	Accept(ctx context.Context, in chela.Inbound) (api.Receipt, error)

	// Ask commits a message and follows the turn that takes it, until the turn
	// ended, waits for a person, or waits for the result of an offered tool.
	// Events go to show in order, never two at once. If ctx ends first, the
	// turn goes on. Of the returned turn only the id is set, as soon as it is
	// known, also beside an error. A command has no turn: its reply is the one
	// event, of the kind EventReply.
	Ask(ctx context.Context, in chela.Inbound, show func(chela.Event)) (chela.Turn, error)

	// Follow does the same for a turn that is there.
	Follow(ctx context.Context, id chela.TurnID, show func(chela.Event)) (chela.Turn, error)

	// Stop asks a turn to stop. A turn that ended is a Conflict.
	Stop(ctx context.Context, id chela.TurnID) error
}

// events is the stream of what happens; see [event.Stream].
type events interface {
	Subscribe(ctx context.Context, filter event.Filter) (*event.Subscription, error)
}

type sessions interface {
	// Sessions returns up to limit sessions whose keys come after the given one.
	// Archived ones are left out unless asked for.
	Sessions(ctx context.Context, after chela.SessionKey, limit int, archived bool) ([]chela.Session, error)
	// Session returns one with what was spent in it.
	Session(ctx context.Context, key chela.SessionKey) (api.Session, error)
}

// keeper changes sessions and their threads; see [session.Keeper].
type keeper interface {
	Change(ctx context.Context, key chela.SessionKey, patch api.SettingsPatch) (chela.Session, error)
	// Begin makes a new thread the current one of a session.
	Begin(ctx context.Context, key chela.SessionKey, title string) (chela.Thread, error)
	Title(ctx context.Context, id chela.ThreadID, title string) (chela.Thread, error)
}

// transcripts are threads that are written down; see [session.Keeper].
type transcripts interface {
	Export(ctx context.Context, id chela.ThreadID, how api.Export, to io.Writer) error
	// Import makes a transcript a thread of a session. It is taken whole or
	// not at all.
	Import(ctx context.Context, key chela.SessionKey, from io.Reader) (api.Imported, error)
}

type threads interface {
	// Threads returns those of a session, the last used first.
	Threads(ctx context.Context, key chela.SessionKey) ([]chela.Thread, error)
	Thread(ctx context.Context, id chela.ThreadID) (chela.Thread, error)
	// Entries returns up to limit entries of a thread, on every branch, whose
	// sequence is greater than after.
	Entries(ctx context.Context, id chela.ThreadID, after int64, limit int) ([]chela.Entry, error)
	// Path returns the entries from the root to the head.
	Path(ctx context.Context, id chela.ThreadID) ([]chela.Entry, error)
}

type turns interface {
	Turn(ctx context.Context, id chela.TurnID) (chela.Turn, error)
	// Outcome returns a turn with its answer so far and the approvals that wait.
	Outcome(ctx context.Context, id chela.TurnID) (api.Turn, error)
	// Said returns what a turn came to so far, for whoever waited for it: the
	// turn, its entries, and where it called tools its calls and approvals.
	Said(ctx context.Context, id chela.TurnID) (api.Trace, error)
	Trace(ctx context.Context, id chela.TurnID) (api.Trace, error)
	// Replay runs a turn again from its record and compares; live, it also gives
	// the same messages to the model again, in a thread of their own. A turn that
	// has not ended is a Conflict.
	Replay(ctx context.Context, id chela.TurnID, live bool) (chela.Replay, error)
	// Called returns a tool call, by which a client names the turn that it
	// brings a result for.
	Called(ctx context.Context, id chela.CallID) (chela.ToolCall, error)
}

type approvals interface {
	// Approvals returns those in a state, the oldest first; with an empty
	// state all.
	Approvals(ctx context.Context, state chela.ApprovalState) ([]chela.Approval, error)
	Approval(ctx context.Context, id chela.ApprovalID) (chela.Approval, error)
	Answer(ctx context.Context, r approval.Reply) (chela.Approval, error)
}

type grants interface {
	Grants(ctx context.Context) ([]chela.Grant, error)
	Revoke(ctx context.Context, id chela.GrantID) error
}

type tools interface {
	Tools(ctx context.Context, agent string) ([]chela.Tool, error)
	// Call runs a tool by hand in the agent's main session.
	Call(ctx context.Context, agent, name string, args json.RawMessage) (chela.ToolResult, error)
}

type models interface {
	Models(ctx context.Context) (api.Models, error)
	Try(ctx context.Context, model string) ([]chela.Trial, error)
	// Serve returns the provider of provider/model and the model's name there,
	// for requests that go past the agent.
	Serve(model string) (chela.Provider, string, error)
}

type tokens interface {
	// Authenticate returns the token that a secret belongs to. One that is not
	// known or was revoked is Denied.
	Authenticate(ctx context.Context, secret string) (chela.Token, error)
	CreateToken(ctx context.Context, name string, scope chela.Scope) (chela.Token, string, error)
	Tokens(ctx context.Context) ([]chela.Token, error)
	RevokeToken(ctx context.Context, id chela.TokenID) error
}

type logins interface {
	// Login makes a cookie for whoever has a token's secret. It survives a
	// restart and ends with the token.
	Login(ctx context.Context, secret string) (cookie string, in api.LoggedIn, err error)
	LoggedIn(ctx context.Context, cookie string) (chela.Token, api.LoggedIn, error)
	Logout(ctx context.Context, cookie string) error
}
