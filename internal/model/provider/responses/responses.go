// Package responses implements a provider for Responses, the protocol of OpenAI
// that preserves a model's reasoning across steps. Nothing is stored at the
// server: each request carries the whole conversation, including the encrypted
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
	"chela/internal/model/provider/openai"
	"chela/internal/model/provider/wire"
)

// kind tags the thinking blocks of this protocol, which are sent back to it.
const kind = "openai-responses"

// Config holds the server's address, its key and options.
type Config struct {
	Name       string            // of the provider in errors and model names; empty means "openai-responses"
	BaseURL    string            // including the version; empty means OpenAI's
	APIKey     string            // sent as bearer token; local servers need none
	HTTPClient *http.Client      // nil means one with the defaults of net/http; redirects are never followed
	Headers    map[string]string // sent with each request; their values count as secrets

	// Omit lists optional fields that are never sent, see [catalogue.OptionalFields].
	// Levels are the thinking levels that the model accepts: nil if that is
	// unknown, empty if it does not reason.
	Omit   []string
	Levels []chela.ThinkingLevel
}

// A Provider is a client of a Responses server. It is safe for concurrent use.
type Provider struct {
	server  *openai.Server
	guard   wire.Guard
	tools   wire.Toolbox
	options *openai.Options

	// unsummed tells that the account has no access to reasoning summaries.
	unsummed atomic.Bool
}

// New returns a provider; it makes no request. It returns Invalid for a
// malformed address, and Denied if the key for OpenAI itself is missing.
func New(cfg Config) (*Provider, error) {
	server, err := openai.ReachServer(openai.ServerConfig{
		Name: cmp.Or(cfg.Name, kind), BaseURL: cfg.BaseURL, APIKey: cfg.APIKey, HTTPClient: cfg.HTTPClient, Headers: cfg.Headers,
	})
	if err != nil {
		return nil, err
	}
	return &Provider{server: server, guard: server.Guard, options: openai.NewOptions(cfg.Omit, cfg.Levels)}, nil
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

// OpenAI's errors for unverified organizations, for reasoning of another
// organization, and for models without reasoning; see
// https://platform.openai.com/docs/guides/reasoning.
var (
	noSummary = regexp.MustCompile(`(?i)verified to \w+ reasoning summar`)
	noSeal    = regexp.MustCompile(`(?i)encrypted.content`)
)

// A manner is the set of reasoning options of a request.
type manner struct {
	summed bool // a summary of the reasoning, for people to read
	sealed bool // encrypted reasoning, sent and requested
}

// ask sends the request. If the server refuses reasoning or an optional field,
// it is retried without; an account without summaries is not asked for them
// again.
func (p *Provider) ask(ctx context.Context, req *chela.Request) (*http.Response, error) {
	m := manner{summed: !p.unsummed.Load(), sealed: !withoutReasoning.MatchString(req.Model)}
	for n := 1; ; n++ {
		raw, err := p.body(ctx, req, m)
		if err != nil {
			return nil, err
		}
		body := wire.NewBody(raw)
		res, err := p.server.Post(ctx, "responses", body, req.Plain)
		again := err != nil && (p.learnManner(&m, err) || n <= openai.MaxRefusals && p.options.Learn(req.Model, raw, err))
		body.Release()
		if !again {
			return res, err
		}
		p.tools.Forget()
	}
}

// learnManner changes the manner after a refusal, and reports whether it did.
func (p *Provider) learnManner(m *manner, err error) bool {
	var pe *chela.ProviderError
	switch {
	case !errors.As(err, &pe) || pe.Status != http.StatusBadRequest:
		return false
	case m.summed && noSummary.MatchString(pe.Msg):
		p.unsummed.Store(true)
		m.summed = false
		return true
	case m.sealed && noSeal.MatchString(pe.Msg):
		m.sealed = false
		return true
	}
	return false
}

// Models lists the server's models. Limits are set only if the server reports
// them.
func (p *Provider) Models(ctx context.Context) ([]chela.Model, error) { return p.server.Models(ctx) }

// readPlain reads an answer that is not streamed.
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

// readStream reads a streamed answer. It is complete once an event with the
// final status arrived.
func (p *Provider) readStream(ctx context.Context, res *http.Response, emit func(chela.Chunk) bool) (*chela.Finish, error) {
	var broken error
	a := answer{at: map[int64]*item{}}
	for raw, err := range wire.Events(res.Body) {
		if broken = err; err != nil {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(raw) == 0 || bytes.HasPrefix(raw, []byte("[DONE]")) {
			continue
		}
		event, err := p.guard.Event(bytes.Clone(raw)) // parts of it are retained
		if err != nil {
			return nil, err
		}
		if !a.add(event, emit) {
			return nil, nil
		}
		if a.status != "" {
			break
		}
	}
	if a.status == "" {
		return nil, p.guard.Cut(ctx, broken)
	}
	return p.whole(&a)
}
