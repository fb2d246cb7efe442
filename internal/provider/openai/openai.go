// Package openai reaches models by Chat Completions, the protocol of OpenAI
// that many other servers speak too (OpenRouter, Groq, vLLM, llama.cpp, LM
// Studio, Ollama …): any base URL will do.
package openai

import (
	"cmp"
	"context"
	"iter"
	"net/http"

	"chela"
	"chela/internal/catalogue"
	"chela/internal/provider/openaiapi"
	"chela/internal/provider/wire"
)

// Config says which server is asked, and how.
type Config struct {
	Name       string            // of the provider in errors and model names; empty means "openai"
	BaseURL    string            // up to and including the version; empty means that of OpenAI
	APIKey     string            // sent as bearer token; servers on one's own machine need none
	HTTPClient *http.Client      // nil means one with the defaults of net/http; redirects are never followed
	Headers    map[string]string // sent with each request; their values count as secrets

	// Lacks is what the server does not understand of the protocol, and Has
	// what it understands beyond it. A nil Lacks means nothing for OpenAI itself
	// and Azure, and for others what many do not understand.
	Lacks, Has []catalogue.Feature
}

// unsure is what servers may lack of which nothing is known.
var unsure = []catalogue.Feature{catalogue.FeatureStrict, catalogue.FeatureMaxCompletionTokens, catalogue.FeaturePromptCacheKey}

// A Provider is a server that speaks Chat Completions. It may be used by
// several goroutines at once.
type Provider struct {
	server *openaiapi.Server
	guard  wire.Guard
	tools  wire.Toolbox
	quirks quirks
}

// New returns a provider. It asks nobody. An address that cannot be one is an
// Invalid error, a missing key for OpenAI itself a Denied one.
func New(cfg Config) (*Provider, error) {
	server, err := openaiapi.Reach(openaiapi.Config{
		Name: cmp.Or(cfg.Name, "openai"), BaseURL: cfg.BaseURL, APIKey: cfg.APIKey, HTTPClient: cfg.HTTPClient, Headers: cfg.Headers,
	})
	if err != nil {
		return nil, err
	}
	q := quirks{lacks: cfg.Lacks, has: cfg.Has}
	if q.lacks == nil && !server.Vendor {
		q.lacks = unsure
	}
	return &Provider{server: server, guard: server.Guard, quirks: q}, nil
}

// Stream performs one step of a model; see [chela.Provider].
func (p *Provider) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return wire.Stream(ctx, func(ctx context.Context, emit func(chela.Chunk) bool) (*chela.Finish, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		body, err := p.body(ctx, req)
		if err != nil {
			return nil, err
		}
		res, err := p.server.Post(ctx, "chat/completions", body, req.Plain)
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

// Models lists the models that the server offers. Their limits are known only
// where the server tells them, as OpenRouter, Groq and vLLM do.
func (p *Provider) Models(ctx context.Context) ([]chela.Model, error) { return p.server.Models(ctx) }
