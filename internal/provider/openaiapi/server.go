// Package openaiapi reaches servers that follow the API of OpenAI: what Chat
// Completions and Responses have in common.
package openaiapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"chela"
	"chela/internal/provider/wire"
)

// DefaultBaseURL is where OpenAI itself serves.
const DefaultBaseURL = "https://api.openai.com/v1"

// Config says which server is asked, and how.
type Config struct {
	Name       string            // of the provider in errors and model names
	BaseURL    string            // up to and including the version; empty means DefaultBaseURL
	APIKey     string            // sent as bearer token; servers on one's own machine need none
	HTTPClient *http.Client      // nil means one with the defaults of net/http; redirects are never followed
	Headers    map[string]string // sent with each request; their values count as secrets
}

// A Server follows the API of OpenAI. It may be used by several goroutines at
// once.
type Server struct {
	Name  string // of the provider
	Host  string // without a port
	Guard wire.Guard

	// Vendor says that this is OpenAI itself or Azure.
	Vendor bool

	client openai.Client
	models openai.ModelService
}

// Reach returns a server. It asks nobody. An address that cannot be one is an
// Invalid error, a missing key for OpenAI itself a Denied one.
func Reach(cfg Config) (*Server, error) {
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
	return &Server{
		Name:   cfg.Name,
		Host:   host,
		Guard:  guard,
		Vendor: host == "api.openai.com" || strings.HasSuffix(host, ".openai.azure.com"),
		client: openai.Client{Options: opts}, // NewClient reads the environment
		models: openai.NewModelService(opts...),
	}, nil
}

// Post sends a request to a path below the base URL and returns an answer that
// is one. Its body is the caller's to close. A plain answer comes in one piece,
// any other as a stream. Errors are *chela.ProviderError, except ctx's own.
func (s *Server) Post(ctx context.Context, path string, body []byte, plain bool) (*http.Response, error) {
	var opts []option.RequestOption
	if !plain {
		opts = append(opts, option.WithHeader("Accept", "text/event-stream"))
	}
	var res *http.Response
	if err := s.client.Post(ctx, path, body, &res, opts...); err != nil {
		return nil, s.Guard.Failed(ctx, err)
	}
	return res, nil
}

// Events returns the events of a stream.
func Events(res *http.Response) ssestream.Decoder { return ssestream.NewDecoder(res) }

// Models lists the models that the server offers. Their limits are known only
// where the server tells them, as OpenRouter, Groq and vLLM do.
func (s *Server) Models(ctx context.Context) ([]chela.Model, error) {
	page, err := s.models.List(ctx)
	if err != nil {
		return nil, s.Guard.Failed(ctx, err)
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
			return nil, s.Guard.Unreadable("sent a list of models that is not JSON")
		}
		models = append(models, chela.Model{
			Provider:  s.Name,
			Name:      m.ID,
			Window:    cmp.Or(limits.ContextLength, limits.ContextWindow, limits.MaxModelLen),
			MaxOutput: cmp.Or(limits.MaxCompletionTokens, limits.TopProvider.MaxCompletionTokens),
		})
	}
	return models, nil
}
