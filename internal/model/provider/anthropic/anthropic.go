// Package anthropic implements a provider for Anthropic's Messages protocol.
package anthropic

import (
	"cmp"
	"context"
	"iter"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"chela"
	"chela/internal/model/provider/wire"
)

// DefaultBaseURL is the address of Anthropic's API.
const DefaultBaseURL = "https://api.anthropic.com"

// kind tags the thinking blocks of this protocol, which are sent back to it.
const kind = "anthropic"

// Config holds the server's address, its key and options.
type Config struct {
	Name       string            // of the provider in errors and model names; empty means "anthropic"
	BaseURL    string            // without the version; empty means DefaultBaseURL
	APIKey     string            // sent as x-api-key
	HTTPClient *http.Client      // nil means one with the defaults of net/http; redirects are never followed
	Headers    map[string]string // sent with each request; their values count as secrets

	// MaxOutput is the output limit of the models that are asked, in tokens,
	// thinking included; 0 means 64,000.
	MaxOutput int
}

// A Provider is a client of a Messages server. It is safe for concurrent use.
type Provider struct {
	name    string
	guard   wire.Guard
	client  anthropic.Client
	longest int64 // output limit, thinking included
}

// New returns a provider; it makes no request. It returns Invalid for a
// malformed address, and Denied if the key for Anthropic itself is missing.
func New(cfg Config) (*Provider, error) {
	cfg.Name = cmp.Or(cfg.Name, "anthropic")
	cfg.BaseURL = cmp.Or(cfg.BaseURL, DefaultBaseURL)
	if _, err := wire.Address(cfg.BaseURL); err != nil {
		return nil, err
	}
	if cfg.APIKey == "" && cfg.BaseURL == DefaultBaseURL {
		return nil, chela.E(chela.Denied, "provider "+cfg.Name+" has no key").
			WithHint("set its key, or the base url of a server that needs none")
	}
	guard := wire.Guard{Provider: cfg.Name, Secrets: []string{cfg.APIKey}}
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(),
		option.WithBaseURL(cfg.BaseURL),
		option.WithHTTPClient(wire.Client(cfg.HTTPClient)),
		option.WithMaxRetries(0), // the chain of wrappers retries
	}
	if cfg.APIKey != "" {
		opts = append(opts, option.WithAPIKey(cfg.APIKey))
	}
	for name, value := range cfg.Headers {
		opts = append(opts, option.WithHeader(name, value))
		guard.Secrets = append(guard.Secrets, value)
	}
	opts = append(opts, option.WithMiddleware(guard.Do))
	return &Provider{
		name: cfg.Name, guard: guard, client: anthropic.NewClient(opts...), longest: int64(cmp.Or(cfg.MaxOutput, 64_000)),
	}, nil
}

// Stream performs one step of a model; see [chela.Provider].
func (p *Provider) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return wire.Stream(ctx, func(ctx context.Context, emit func(chela.Chunk) bool) (*chela.Finish, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		params, err := p.params(ctx, req)
		if err != nil {
			return nil, err
		}
		var opts []option.RequestOption
		if !req.Plain {
			opts = append(opts, option.WithJSONSet("stream", true), option.WithHeader("Accept", "text/event-stream"))
		}
		// Client.Post, unlike the SDK's message service, neither warns on
		// stderr nor refuses long answers without streaming.
		var res *http.Response
		if err := p.client.Post(ctx, "v1/messages", params, &res, opts...); err != nil {
			return nil, p.guard.Failed(ctx, err)
		}
		defer res.Body.Close()
		if req.Plain {
			return p.readPlain(ctx, res, emit)
		}
		return p.readStream(ctx, res, emit)
	})
}

// Models lists the models that the key may use, with their limits.
func (p *Provider) Models(ctx context.Context) ([]chela.Model, error) {
	var models []chela.Model
	pages := p.client.Models.ListAutoPaging(ctx, anthropic.ModelListParams{Limit: anthropic.Int(1000)})
	for pages.Next() {
		m := pages.Current()
		models = append(models, chela.Model{
			Provider:  p.name,
			Name:      m.ID,
			Window:    int(m.MaxInputTokens),
			MaxOutput: int(m.MaxTokens),
		})
	}
	if err := pages.Err(); err != nil {
		return nil, p.guard.Failed(ctx, err)
	}
	return models, nil
}
