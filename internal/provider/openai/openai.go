// Package openai reaches models by Chat Completions, the protocol of OpenAI
// that many other servers speak too (OpenRouter, Groq, vLLM, llama.cpp, LM
// Studio, Ollama …): any base URL will do.
package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"chela"
	"chela/internal/provider/wire"
)

// DefaultBaseURL is where OpenAI itself serves.
const DefaultBaseURL = "https://api.openai.com/v1"

// Config says which server is asked, and how.
type Config struct {
	Name       string            // of the provider in errors and model names; empty means "openai"
	BaseURL    string            // up to and including the version; empty means DefaultBaseURL
	APIKey     string            // sent as bearer token; servers on one's own machine need none
	HTTPClient *http.Client      // nil means one with the defaults of net/http; redirects are never followed
	Headers    map[string]string // sent with each request; their values count as secrets
}

// A Provider is a server that speaks Chat Completions. It may be used by
// several goroutines at once.
type Provider struct {
	name   string
	guard  wire.Guard
	client openai.Client
	models openai.ModelService
	tools  toolbox

	// vendor says that OpenAI itself or Azure is asked. They know fields that
	// other servers refuse, and call the limit of output differently.
	vendor bool
}

// New returns a provider. It asks nobody. An address that cannot be one is an
// Invalid error, a missing key for OpenAI itself a Denied one.
func New(cfg Config) (*Provider, error) {
	cfg.Name = cmp.Or(cfg.Name, "openai")
	cfg.BaseURL = cmp.Or(cfg.BaseURL, DefaultBaseURL)
	base, err := wire.Address(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	if cfg.APIKey == "" && cfg.BaseURL == DefaultBaseURL {
		return nil, chela.E(chela.Denied, "provider "+cfg.Name+" has no key").
			WithHint("set its key, or the base url of a server that needs none")
	}
	guard := wire.Guard{Provider: cfg.Name, Secrets: []string{cfg.APIKey}}
	opts := []option.RequestOption{
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
	host := base.Hostname()
	return &Provider{
		name:   cfg.Name,
		guard:  guard,
		client: openai.Client{Options: opts}, // NewClient reads the environment
		models: openai.NewModelService(opts...),
		vendor: host == "api.openai.com" || strings.HasSuffix(host, ".openai.azure.com"),
	}, nil
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
		var opts []option.RequestOption
		if !req.Plain {
			opts = append(opts, option.WithHeader("Accept", "text/event-stream"))
		}
		var res *http.Response
		if err := p.client.Post(ctx, "chat/completions", body, &res, opts...); err != nil {
			return nil, p.guard.Failed(ctx, err)
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
func (p *Provider) Models(ctx context.Context) ([]chela.Model, error) {
	page, err := p.models.List(ctx)
	if err != nil {
		return nil, p.guard.Failed(ctx, err)
	}
	models := make([]chela.Model, 0, len(page.Data))
	for _, m := range page.Data {
		var limits struct {
			ContextLength       int `json:"context_length"`
			ContextWindow       int `json:"context_window"`
			MaxModelLen         int `json:"max_model_len"`
			MaxCompletionTokens int `json:"max_completion_tokens"`
			TopProvider         struct {
				MaxCompletionTokens int `json:"max_completion_tokens"`
			} `json:"top_provider"`
		}
		if err := json.Unmarshal([]byte(m.RawJSON()), &limits); err != nil {
			return nil, p.guard.Unreadable("sent a list of models that is not JSON")
		}
		models = append(models, chela.Model{
			Provider:  p.name,
			Name:      m.ID,
			Window:    cmp.Or(limits.ContextLength, limits.ContextWindow, limits.MaxModelLen),
			MaxOutput: cmp.Or(limits.MaxCompletionTokens, limits.TopProvider.MaxCompletionTokens),
		})
	}
	return models, nil
}
