package openai

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/gateway/openai/wire"
)

// Config is what the API needs. All fields are required.
type Config struct {
	Conversation conversation
	Turns        turns
	Models       models
	Threads      threads
	IDs          *chela.IDs
	Now          func() time.Time
	Log          *slog.Logger

	// Agents returns the names of the agents; "main" is one of them.
	Agents func() []string

	// Approval returns a question, for answers from clients without a session.
	Approval func(ctx context.Context, id chela.ApprovalID) (chela.Approval, error)

	// Attach keeps a file for the message it is sent with.
	Attach func(ctx context.Context, name string, content io.Reader) (chela.Attachment, error)

	// Origin returns who asks. It is called for requests that are allowed to.
	Origin func(*http.Request) chela.Origin
}

// conversation takes messages.
type conversation interface {
	// Ask commits a message and follows the turn that takes it, until the turn
	// ended, waits for a person, or waits for the result of an offered tool.
	// Events go to show in order, never two at once, and none after Ask
	// returned. If ctx ends first, the turn goes on. The turn has an id as soon
	// as it is known, also beside an error. A command has none: its reply is the
	// one event.
	Ask(ctx context.Context, in chela.Inbound, show func(chela.Event)) (chela.Turn, error)
}

// turns tells what became of turns. What is not there is NotFound.
type turns interface {
	// Said returns what a turn came to so far: the turn, its entries, and where
	// it called tools its calls and approvals.
	Said(ctx context.Context, id chela.TurnID) (api.Trace, error)
	Called(ctx context.Context, id chela.CallID) (chela.ToolCall, error)
}

// threads finds the threads of responses that answered a command.
type threads interface {
	Thread(ctx context.Context, id chela.ThreadID) (chela.Thread, error)
}

// models knows the models behind the agents.
type models interface {
	Models(ctx context.Context) (api.Models, error)

	// Serve returns the provider of provider/model and the model's name there.
	Serve(model string) (chela.Provider, string, error)
}

// An API serves requests. It may be used by several goroutines at once.
type API struct {
	cfg   Config
	began time.Time // when its models came into being, for clients that want to know
}

// New returns an API. It asks nobody.
func New(cfg Config) *API { return &API{cfg: cfg, began: cfg.Now()} }

// ChatCompletions serves POST /v1/chat/completions.
func (a *API) ChatCompletions(w http.ResponseWriter, r *http.Request) {
	q, err := wire.Chat(r, a.cfg.Now())
	if err == nil {
		err = a.serve(w, r, q)
	}
	if err != nil {
		a.refuse(w, r, err)
	}
}

// Responses serves POST /v1/responses.
func (a *API) Responses(w http.ResponseWriter, r *http.Request) {
	q, err := wire.Responses(r, a.cfg.Now())
	if err == nil {
		err = a.serve(w, r, q)
	}
	if err != nil {
		a.refuse(w, r, err)
	}
}

// Embeddings serves POST /v1/embeddings: it tells why there are none.
func (a *API) Embeddings(w http.ResponseWriter, r *http.Request) {
	a.refuse(w, r, chela.E(chela.Unsupported, "embeddings are not served: chela has no memory that would need them").
		WithHint("ask a provider of embeddings itself"))
}

// serve answers a request by the agent or the model that it names. An error is
// one that nothing was written about.
func (a *API) serve(w http.ResponseWriter, r *http.Request, q *wire.Request) error {
	agent, bare, err := a.target(q.Model)
	switch {
	case err != nil:
		return err
	case bare:
		return a.serveModel(w, r, q)
	default:
		return a.serveAgent(w, r, a.visit(q, agent, r))
	}
}

// refuse answers a request that was not fulfilled.
func (a *API) refuse(w http.ResponseWriter, r *http.Request, err error) {
	err = wire.Because(r.Context(), err)
	if chela.KindOf(err) == chela.Internal {
		a.cfg.Log.Error("request failed", "path", r.URL.Path, "request", w.Header().Get(api.RequestIDHeader), "err", err)
	}
	WriteError(w, 0, err)
}

// WriteError answers a request with an error in OpenAI's form, for what is
// refused before a request gets here. Status is that of the error's kind if it
// is 0; a Retry-After that is set stays.
func WriteError(w http.ResponseWriter, status int, err error) { wire.WriteError(w, status, err) }
