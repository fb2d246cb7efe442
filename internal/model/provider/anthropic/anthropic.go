// Package anthropic implements a provider for Anthropic's Messages protocol.
// Anthropic's Go SDK is not used: a test compares this package with its wire
// format.
package anthropic

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"net/url"

	"chela"
	"chela/internal/model/provider/wire"
)

// DefaultBaseURL is the address of Anthropic's API.
const DefaultBaseURL = "https://api.anthropic.com"

// kind tags the thinking blocks of this protocol, which are sent back to it.
const kind = "anthropic"

// Config holds the server's address, its key and options.
type Config struct {
	Name       string       // of the provider in errors and model names; empty means "anthropic"
	BaseURL    string       // without the version; empty means DefaultBaseURL
	APIKey     string       // sent as x-api-key
	HTTPClient *http.Client // nil means one with the defaults of net/http; redirects are never followed

	// MaxOutput is the output limit of the models that are asked, in tokens,
	// thinking included; 0 means 64,000.
	MaxOutput int
}

// A Provider is a client of a Messages server. It is safe for concurrent use.
type Provider struct {
	server  *wire.Server
	longest int // output limit, thinking included
}

// New returns a provider; it makes no request. It returns Invalid for a
// malformed address, and Denied if the key for Anthropic itself is missing.
func New(cfg Config) (*Provider, error) {
	server, err := wire.Reach(wire.Config{
		Name: cmp.Or(cfg.Name, kind), BaseURL: cfg.BaseURL, Vendor: DefaultBaseURL, APIKey: cfg.APIKey, KeyHeader: "X-Api-Key",
		HTTPClient: cfg.HTTPClient,
	})
	if err != nil {
		return nil, err
	}
	server.Header.Set("Anthropic-Version", "2023-06-01")
	server.Incomplete = "sent an answer that is not a message"
	return &Provider{server, cmp.Or(cfg.MaxOutput, 64_000)}, nil
}

// Stream performs one step of a model; see [chela.Provider].
func (p *Provider) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return p.server.Stream(ctx, func(ctx context.Context) wire.Request {
		return wire.Request{
			Path: "/v1/messages", Plain: req.Plain, Answer: &answer{},
			Body: func() ([]byte, error) { return p.body(ctx, req) },
		}
	})
}

// Models lists the models that the key may use, with their limits.
func (p *Provider) Models(ctx context.Context) ([]chela.Model, error) {
	var models []chela.Model
	query := url.Values{"limit": {"1000"}}
	for {
		page, err := p.server.Object(ctx, "/v1/models?"+query.Encode(), nil)
		if err != nil {
			return nil, err
		}
		before := len(models)
		for m := range page.Member("data").Items() {
			models = append(models, chela.Model{
				Provider: p.server.Provider, Name: m.Member("id").Text(), Window: int(m.Count("max_input_tokens")), MaxOutput: int(m.Count("max_tokens")),
			})
		}
		if page.Member("has_more").Text() != "true" || len(models) == before {
			return models, nil
		}
		query.Set("after_id", page.Member("last_id").Text())
	}
}

// ReasonsOnDemand reports whether a model reasons only on request.
func (p *Provider) ReasonsOnDemand(model string) bool { return ThinksIfAsked(model) }
