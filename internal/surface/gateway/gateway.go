package gateway

import (
	"context"
	"io"
	"log/slog"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/ingress"
	"chela/internal/model/provider"
	"chela/internal/platform/event"
	"chela/internal/surface/gateway/edge"
)

// Config holds the dependencies of a gateway. The limits and lists may be zero;
// a zero limit means none.
type Config struct {
	Home Services
	IDs  *chela.IDs // for request ids
	Now  func() time.Time
	Log  *slog.Logger

	Version           string
	Hosts             []string // additional names in the Host header, besides loopback and the listening address
	Origins           []string // additional origins of pages, besides the gateway's own
	MessagesPerMinute int      // for each token
	LoginsPerMinute   int      // for each address
	HooksPerMinute    int      // same
	HookBytes         int64    // of the body of a request to a webhook
	Connections       int      // open at once
	BodyMemory        int64    // bytes of bodies in memory at once; 0 means 64 MiB
	Times             edge.Times
}

// Services is the interface to the home, grouped by noun. All methods are safe for
// concurrent use. Errors are of the root package's kinds.
type Services struct {
	Conversation conversation
	Events       events
	Transcripts  transcripts
	Turns        turns
	Models       models
	Agents       agents
	Tokens       tokens
	Logins       logins
	Requests     requests
	Responses    responses
	Operations   []api.Bound

	// Hook fires the routine of a webhook. A failed authentication is Denied, and so
	// is an unknown webhook, with the same error.
	Hook func(ctx context.Context, r api.HookRequest) (api.HookReceipt, error)

	// Attach stores a file for a message. A file that is too large is Invalid.
	Attach func(ctx context.Context, name string, content io.Reader) (chela.Attachment, error)

	// Image fetches an image from an http or https address.
	Image func(ctx context.Context, address string) (mediaType string, content []byte, err error)

	// Place fills in the session and the origin of a message's sender. An
	// invalid sender is Invalid.
	Place func(in chela.Inbound, from api.Sender) (chela.Inbound, error)

	// Kept returns the attachment with a hash, or NotFound.
	Kept func(ctx context.Context, name, mediaType, sha256 string) (chela.Attachment, error)

	Ready func(ctx context.Context) error // nil when messages are accepted

	// Logs passes lines of the log to show: existing lines, and then each new
	// one until ctx ends, if follow is set.
	Logs func(ctx context.Context, follow bool, show func(line string)) error
}

// agents are the agents of a home.
type agents interface {
	// Names returns the names of the agents, including "main".
	Names() []string
	// Candidates returns the models that may answer a message, the first choice first.
	Candidates(ctx context.Context, in chela.Inbound) ([]string, error)
}

// conversation accepts messages, and follows and stops their turns; see
// [ingress.Ingress].
type conversation interface {
	// Accept commits a message and returns; its turn starts asynchronously.
	Accept(ctx context.Context, in chela.Inbound) (api.Receipt, error)

	// Taken waits until a turn takes a queued message. It returns the turn, and the
	// last event that the audience read.
	Taken(ctx context.Context, r api.Receipt, from ingress.Audience) (chela.TurnID, chela.Event, error)

	// Attend follows a turn to its end. Missed says that the audience may read events
	// of the turn from before the call.
	Attend(ctx context.Context, id chela.TurnID, missed bool, to ingress.Audience) error

	// Say commits a message and follows the turn that takes it, until the turn
	// ends, waits for a person, or waits for the result of an offered tool.
	// Events go to show sequentially and in order. If ctx ends first, the turn
	// continues. The id of the turn is returned as soon as it is known, also beside
	// an error. A command has no turn: its reply is the only event, of the kind
	// EventReply.
	Say(ctx context.Context, in chela.Inbound, show func(chela.Event)) (chela.TurnID, error)

	// Stop requests the cancellation of a turn. A turn that has ended is a
	// Conflict.
	Stop(ctx context.Context, id chela.TurnID) error
}

// events is the stream of what happens; see [event.Stream].
type events interface {
	Subscribe(ctx context.Context, filter event.Filter) (*event.Subscription, error)
}

// transcripts are threads that are written down; see [session.Sessions].
type transcripts interface {
	Export(ctx context.Context, id chela.ThreadID, how api.Export, to io.Writer) error
	// Import makes a transcript a thread of a session, atomically.
	Import(ctx context.Context, key chela.SessionKey, from io.Reader) (api.ImportResult, error)
}

// turns reads turns for OpenAI's API; see [journal.Turns].
type turns interface {
	Turn(ctx context.Context, id chela.TurnID) (chela.Turn, error)
	Output(ctx context.Context, id chela.TurnID) (api.Trace, error)
	Call(ctx context.Context, id chela.CallID) (chela.ToolCall, error)
	Message(ctx context.Context, id chela.InboxID) (chela.InboxMessage, error)
}

type models interface {
	Models(ctx context.Context) (api.Models, error)
	// Serve returns the provider of provider/model and the model's name there,
	// for requests that go past the agent.
	Serve(model string) (chela.Provider, string, error)
	// Lacks returns the subset of parameters that the provider of
	// provider/model does not support.
	Lacks(model string, set []provider.Parameter) []provider.Parameter
	// Embed returns the embeddings of a request by provider/model.
	Embed(ctx context.Context, model string, req provider.EmbeddingRequest) (*provider.EmbeddingAnswer, error)
}

type tokens interface {
	// Authenticate returns the token of a secret. An unknown or revoked one is
	// Denied.
	Authenticate(ctx context.Context, secret string) (chela.Token, error)
}

// responses records the deleted responses of OpenAI's API.
type responses interface {
	ResponseDeleted(ctx context.Context, id string) (bool, error)
	// DeleteResponse deletes a response of a turn. A response deleted before is
	// NotFound.
	DeleteResponse(ctx context.Context, id string, turn chela.TurnID) error
}

// requests stores requests with an Idempotency-Key.
type requests interface {
	// Claim adds a request as running, or returns the one under its key. It
	// reports whether the caller must execute it. Fresh replaces an earlier
	// one.
	Claim(ctx context.Context, q chela.KeyedRequest, fresh bool) (found chela.KeyedRequest, claimed bool, err error)
	// Settle stores the response of a running request.
	Settle(ctx context.Context, q chela.KeyedRequest) error
}

type logins interface {
	// Login creates a cookie for the holder of a token's secret. It survives a
	// restart and ends with the token.
	Login(ctx context.Context, secret string) (cookie string, in api.LoginState, err error)
	LoggedIn(ctx context.Context, cookie string) (chela.Token, api.LoginState, error)
	Logout(ctx context.Context, cookie string) error
}
