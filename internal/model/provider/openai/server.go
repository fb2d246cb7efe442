package openai

// This part of the package is the client for servers with OpenAI's API: the
// common part of Chat Completions and Responses.

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"chela"
	"chela/internal/model/provider/wire"
)

// DefaultBaseURL is the address of OpenAI's API.
const DefaultBaseURL = "https://api.openai.com/v1"

// ServerConfig holds the server's address, its key and options.
type ServerConfig struct {
	Name       string            // of the provider in errors and model names
	BaseURL    string            // including the version; empty means DefaultBaseURL
	APIKey     string            // sent as bearer token; local servers need none
	HTTPClient *http.Client      // nil means one with the defaults of net/http; redirects are never followed
	Headers    map[string]string // sent with each request; their values count as secrets
}

// A Server is a client of a server with OpenAI's API. It is safe for concurrent
// use.
type Server struct {
	Name  string // of the provider
	Host  string // without a port
	Guard wire.Guard

	// Vendor tells that the server is OpenAI itself or Azure.
	Vendor bool

	base   string // without a trailing slash
	key    string
	header http.Header
	client *http.Client
}

// ReachServer returns a server; it makes no request. It returns Invalid for a
// malformed address, and Denied if the key for OpenAI itself is missing.
func ReachServer(cfg ServerConfig) (*Server, error) {
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
	header := http.Header{}
	for name, value := range cfg.Headers {
		header.Set(name, value)
		guard.Secrets = append(guard.Secrets, value)
	}
	host := base.Hostname()
	return &Server{
		Name:   cfg.Name,
		Host:   host,
		Guard:  guard,
		Vendor: host == "api.openai.com" || strings.HasSuffix(host, ".openai.azure.com"),
		base:   strings.TrimSuffix(cfg.BaseURL, "/"),
		key:    cfg.APIKey,
		header: header,
		client: wire.Client(cfg.HTTPClient),
	}, nil
}

// Post sends a request to a path below the base URL and returns its response,
// whose body the caller must close. With plain set the response is not
// streamed. Errors are *chela.ProviderError, except ctx's own. The caller releases the
// body of the request.
func (s *Server) Post(ctx context.Context, path string, body *wire.Body, plain bool) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/"+path, nil)
	if err != nil {
		return nil, s.Guard.Failed(ctx, err)
	}
	body.Attach(r)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	if !plain {
		r.Header.Set("Accept", "text/event-stream")
	}
	return s.do(r)
}

func (s *Server) do(r *http.Request) (*http.Response, error) {
	if s.key != "" {
		r.Header.Set("Authorization", "Bearer "+s.key)
	}
	for name, values := range s.header {
		r.Header[name] = values
	}
	return s.Guard.Do(r, s.client.Do)
}

// Models lists the server's models. Limits are set only if the server reports
// them, as OpenRouter, Groq and vLLM do; prices as OpenRouter, Vercel and Together
// do.
func (s *Server) Models(ctx context.Context) ([]chela.Model, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/models", nil)
	if err != nil {
		return nil, s.Guard.Failed(ctx, err)
	}
	r.Header.Set("Accept", "application/json")
	res, err := s.do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() // read-only
	page, err := s.Guard.ReadValue(ctx, res.Body)
	if err != nil {
		return nil, err
	}
	list := page // Together sends the list itself
	if page.IsObject() {
		list = page.Member("data")
	}
	models := []chela.Model{}
	for m := range list.Items() {
		models = append(models, s.model(m))
	}
	return models, nil
}

// model reads one model of the list. Servers name its limits differently.
func (s *Server) model(v wire.Value) chela.Model {
	m := chela.Model{Provider: s.Name}
	limits := map[string]int{}
	for name, member := range v.Members() {
		switch name {
		case "id":
			m.Name = member.Text()
		case "context_length", "context_window", "max_model_len", "max_completion_tokens":
			limits[name] = int(max(member.Int(), 0))
		case "pricing":
			m.Price = price(member)
		case "top_provider":
			for name, limit := range member.Members() {
				limits["top_provider."+name] = int(max(limit.Int(), 0))
			}
		}
	}
	m.Window = cmp.Or(limits["context_length"], limits["context_window"], limits["max_model_len"])
	m.MaxOutput = cmp.Or(limits["max_completion_tokens"], limits["top_provider.max_completion_tokens"])
	return m
}
