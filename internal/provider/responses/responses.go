// Package responses reaches models by Responses, the protocol of OpenAI that
// keeps the reasoning of a model across steps. Nothing is stored at the server:
// each request brings the whole conversation along, and with it the encrypted
// reasoning that the server returned.
package responses

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"
	"regexp"
	"sync/atomic"

	"chela"
	"chela/internal/provider/openaiapi"
	"chela/internal/provider/wire"
)

// kind marks the thinking that this protocol brings, and that is sent back.
const kind = "openai-responses"

// Config says which server is asked, and how.
type Config struct {
	Name       string            // of the provider in errors and model names; empty means "openai-responses"
	BaseURL    string            // up to and including the version; empty means that of OpenAI
	APIKey     string            // sent as bearer token; servers on one's own machine need none
	HTTPClient *http.Client      // nil means one with the defaults of net/http; redirects are never followed
	Headers    map[string]string // sent with each request; their values count as secrets
}

// A Provider is a server that speaks Responses. It may be used by several
// goroutines at once.
type Provider struct {
	server *openaiapi.Server
	guard  wire.Guard
	tools  wire.Toolbox

	// unsummed says that the account gets no summaries of reasoning.
	unsummed atomic.Bool
}

// New returns a provider. It asks nobody. An address that cannot be one is an
// Invalid error, a missing key for OpenAI itself a Denied one.
func New(cfg Config) (*Provider, error) {
	server, err := openaiapi.Reach(openaiapi.Config{
		Name: cmp.Or(cfg.Name, kind), BaseURL: cfg.BaseURL, APIKey: cfg.APIKey, HTTPClient: cfg.HTTPClient, Headers: cfg.Headers,
	})
	if err != nil {
		return nil, err
	}
	return &Provider{server: server, guard: server.Guard}, nil
}

// Stream performs one step of a model; see [chela.Provider].
func (p *Provider) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return wire.Stream(ctx, func(ctx context.Context, emit func(chela.Chunk) bool) (*chela.Finish, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		res, err := p.ask(ctx, req)
		if err != nil {
			return nil, err
		}
		defer res.Body.Close()
		if req.Plain {
			return p.readPlain(ctx, res, emit)
		}
		return p.readStream(ctx, res, emit)
	})
}

// What OpenAI says to organizations that it has not verified, and of reasoning
// that another organization got, or that a model does not have; see
// https://platform.openai.com/docs/guides/reasoning.
var (
	noSummary = regexp.MustCompile(`(?i)verified to \w+ reasoning summar`)
	noSeal    = regexp.MustCompile(`(?i)encrypted.content`)
)

// A manner is what a request asks for beside the answer.
type manner struct {
	summed bool // a summary of the reasoning, for people to read
	sealed bool // encrypted reasoning, old and new
}

// ask makes the request. Where the server refuses to give or to take reasoning,
// it is made again without: an account that gets no summaries is asked without
// them from then on.
func (p *Provider) ask(ctx context.Context, req *chela.Request) (*http.Response, error) {
	m := manner{summed: !p.unsummed.Load(), sealed: !withoutReasoning.MatchString(req.Model)}
	for {
		body, err := p.body(ctx, req, m)
		if err != nil {
			return nil, err
		}
		res, err := p.server.Post(ctx, "responses", body, req.Plain)
		var pe *chela.ProviderError
		switch {
		case !errors.As(err, &pe) || pe.Status != http.StatusBadRequest:
			return res, err
		case m.summed && noSummary.MatchString(pe.Msg):
			p.unsummed.Store(true)
			m.summed = false
		case m.sealed && noSeal.MatchString(pe.Msg):
			m.sealed = false
		default:
			return nil, err
		}
	}
}

// Models lists the models that the server offers. Their limits are known only
// where the server tells them.
func (p *Provider) Models(ctx context.Context) ([]chela.Model, error) { return p.server.Models(ctx) }

// readPlain reads an answer in one piece.
func (p *Provider) readPlain(ctx context.Context, res *http.Response, emit func(chela.Chunk) bool) (*chela.Finish, error) {
	whole, err := p.guard.ReadObject(ctx, res.Body)
	if err != nil {
		return nil, err
	}
	a := answer{at: map[int64]*item{}}
	if !a.end(whole, emit) {
		return nil, nil
	}
	return p.whole(&a)
}

// readStream reads an answer in pieces. It is whole once an event came that
// says how it ended.
func (p *Provider) readStream(ctx context.Context, res *http.Response, emit func(chela.Chunk) bool) (*chela.Finish, error) {
	events := openaiapi.Events(res)
	a := answer{at: map[int64]*item{}}
	for a.status == "" && events.Next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		raw := events.Event().Data
		if len(raw) == 0 || bytes.HasPrefix(raw, []byte("[DONE]")) {
			continue
		}
		event, err := p.guard.Event(raw)
		if err != nil {
			return nil, err
		}
		if !a.add(event, emit) {
			return nil, nil
		}
	}
	if a.status == "" {
		return nil, p.guard.Cut(ctx, events.Err())
	}
	return p.whole(&a)
}
