package openai

import (
	"context"
	"io"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/model/provider"
	"chela/internal/surface/gateway/edge"
	"chela/internal/surface/gateway/openai/wire"
)

// Config holds the dependencies of the API. All fields are required.
type Config struct {
	Home
	IDs *chela.IDs
	Now func() time.Time
}

// A Home is what the API needs of a home.
type Home struct {
	Conversation conversation
	Turns        turns
	Models       models
	Responses    responses
	Agents       agents
	Files        files
	Operations   []api.Bound

	// Image fetches an image from an http or https address.
	Image func(ctx context.Context, address string) (mediaType string, content []byte, err error)
}

// files keeps the files of messages.
type files interface {
	// Attach stores a file for a message. A file that is too large is Invalid.
	Attach(ctx context.Context, name string, content io.Reader) (chela.Attachment, error)
}

// agents are the agents of a home.
type agents interface {
	// Names returns the names of the agents, including "main".
	Names() []string
	// Candidates returns the models that may answer a message, the first choice first.
	Candidates(ctx context.Context, in chela.Inbound) ([]string, error)
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
	Serve(models ...string) (chela.Provider, string, error)

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

// ChatCompletions serves POST /v1/chat/completions. Like all handlers, it returns an
// error if no response was written.
func (a *API) ChatCompletions(w *edge.Visit) error {
	q, err := wire.Chat(w.Request, a.cfg.Now())
	if err != nil {
		return err
	}
	return a.serve(w, q)
}

// Responses serves POST /v1/responses.
func (a *API) Responses(w *edge.Visit) error {
	q, err := wire.Responses(w.Request, a.cfg.Now())
	if err != nil {
		return err
	}
	return a.serve(w, q)
}

// serve serves a request by the agent or the model that it names.
func (a *API) serve(w *edge.Visit, q *wire.Request) error {
	agent, bare, err := a.target(q.Model)
	if err == nil {
		err = checkImages(q)
	}
	switch {
	case err != nil:
		return err
	case bare:
		return a.serveModel(w, q)
	}
	v, err := newAgentRequest(w, q, agent)
	if err != nil {
		return err
	}
	return wire.Because(w.Request.Context(), a.serveAgent(w, v))
}
