package openai

import (
	"context"
	"io"
	"net/http"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/model/provider"
	"chela/internal/platform/local"
	"chela/internal/surface/gateway/openai/wire"
)

// Config holds the dependencies of the API. All fields are required.
type Config struct {
	local.Process // without Emit

	Conversation conversation
	Turns        turns
	Models       models
	Responses    responses
	API          api.Local // the operations of the home
	Agents       agents

	// Image fetches an image from an http or https address.
	Image func(ctx context.Context, address string) (mediaType string, content []byte, err error)

	// Attach stores a file for a message.
	Attach func(ctx context.Context, name string, content io.Reader) (chela.Attachment, error)

	// Client returns the caller of an authorized request.
	Client func(*http.Request) Client
}

// agents are the agents of a home.
type agents interface {
	// Names returns the names of the agents, including "main".
	Names() []string
	// Candidates returns the models that may answer a message, the first choice first.
	Candidates(ctx context.Context, in chela.Inbound) ([]string, error)
}

// A Client is the caller of a request.
type Client struct {
	Origin chela.Origin
	Scope  chela.Scope // an admin may name any session by its key
	Once   string      // the same for every retry; empty if unknown

	// Visit is the request's idempotency, if it is keyed.
	Visit keyed
}

// keyed is a request that may be retried.
type keyed interface {
	// Alone waits for the same request, if it is being served, and replays its
	// response. It reports whether it did.
	Alone() (answered bool, err error)
	// Keep reports that the response is complete.
	Keep()
}

// conversation accepts messages.
type conversation interface {
	// Say commits a message and follows the turn that takes it, until the turn
	// ends, waits for a person, or waits for the result of an offered tool.
	// Events go to show sequentially and in order, and none after Say returns.
	// If ctx ends first, the turn continues. The id of the turn is returned as
	// soon as it is known, also beside an error.
	Say(ctx context.Context, in chela.Inbound, show func(chela.Event)) (chela.TurnID, error)
}

// turns reads turns. Missing ones are NotFound.
type turns interface {
	// Output returns the output of a turn so far: the turn, its entries, and if
	// it called tools its calls and approvals.
	Output(ctx context.Context, id chela.TurnID) (api.Trace, error)
	Call(ctx context.Context, id chela.CallID) (chela.ToolCall, error)
	// Message returns an accepted message.
	Message(ctx context.Context, id chela.InboxID) (chela.InboxMessage, error)
}

// models knows the models behind the agents.
type models interface {
	Models(ctx context.Context) (api.Models, error)

	// Serve returns the provider of provider/model and the model's name there.
	Serve(model string) (chela.Provider, string, error)

	// Lacks returns the subset of parameters that the provider of
	// provider/model does not support.
	Lacks(model string, set []provider.Parameter) []provider.Parameter

	// Embed returns the embeddings of a request by provider/model. It fails with an
	// Unsupported error for a provider without embeddings, and with
	// [provider.ErrTextsOnly] for token ids that the provider does not read.
	Embed(ctx context.Context, model string, req provider.EmbeddingRequest) (*provider.EmbeddingAnswer, error)
}

// An API serves requests. It is safe for concurrent use.
type API struct {
	cfg   Config
	began time.Time // reported creation time of its models
}

// New returns an API. It makes no requests.
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

// serve serves a request by the agent or the model that it names. An error
// means that no response was written.
func (a *API) serve(w http.ResponseWriter, r *http.Request, q *wire.Request) error {
	agent, bare, err := a.target(q.Model)
	if err == nil {
		err = checkImages(q)
	}
	switch {
	case err != nil:
		return err
	case bare:
		return a.serveModel(w, r, q)
	}
	v, err := a.visit(q, agent, r)
	if err != nil {
		return err
	}
	return a.serveAgent(w, r, v)
}

// refuse answers a request that was not fulfilled.
func (a *API) refuse(w http.ResponseWriter, r *http.Request, err error) {
	err = wire.Because(r.Context(), err)
	if chela.KindOf(err) == chela.Internal {
		a.cfg.Log.Error("request failed", "path", r.URL.Path, "request", w.Header().Get(api.RequestIDHeader), "err", err)
	}
	WriteError(w, 0, err)
}

// WriteError answers a request with an error in OpenAI's form, for requests
// refused before they get here. Status 0 means the status of the error's kind;
// a Retry-After that is set stays.
func WriteError(w http.ResponseWriter, status int, err error) { wire.WriteError(w, status, err) }
