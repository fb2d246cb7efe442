// Package ollama implements a provider for models on the local machine, by
// Ollama's native protocol: JSON objects, one per line. Ollama's
// OpenAI-compatible endpoints do not expose the context size.
package ollama

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync"

	"chela"
	"chela/internal/model/provider/wire"
)

// DefaultBaseURL is Ollama's default address.
const DefaultBaseURL = "http://127.0.0.1:11434"

// kind tags the thinking blocks of this protocol, which are sent back to it.
const kind = "ollama"

// Config holds the server's address and options.
type Config struct {
	Name       string            // of the provider in errors and model names; empty means "ollama"
	BaseURL    string            // without /api; empty means DefaultBaseURL
	APIKey     string            // sent as bearer token; only ollama.com requires it
	HTTPClient *http.Client      // nil means one with the defaults of net/http; redirects are never followed
	Headers    map[string]string // sent with each request; their values count as secrets

	// Window caps the context, in tokens of prompt and answer; 0 means the
	// model's window.
	Window int
}

// A Provider is a client of an Ollama server. It is safe for concurrent use.
type Provider struct {
	cfg    Config
	guard  wire.Guard
	client *http.Client

	mu    sync.Mutex
	known map[string]model // guarded by mu; by name
}

// New returns a provider; it makes no request. It returns Invalid for a
// malformed address.
func New(cfg Config) (*Provider, error) {
	cfg.Name = cmp.Or(cfg.Name, "ollama")
	cfg.BaseURL = strings.TrimSuffix(cmp.Or(cfg.BaseURL, DefaultBaseURL), "/")
	if _, err := wire.Address(cfg.BaseURL); err != nil {
		return nil, err
	}
	guard := wire.Guard{Provider: cfg.Name, Secrets: []string{cfg.APIKey}}
	for _, value := range cfg.Headers {
		guard.Secrets = append(guard.Secrets, value)
	}
	return &Provider{cfg: cfg, guard: guard, client: wire.Client(cfg.HTTPClient), known: map[string]model{}}, nil
}

// Stream performs one step of a model; see [chela.Provider]. A prompt that
// exceeds the allocated context is retried with a larger one, up to the model's
// window; beyond that it returns an overflow error.
func (p *Provider) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return wire.Stream(ctx, func(ctx context.Context, emit func(chela.Chunk) bool) (*chela.Finish, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m, err := p.look(ctx, req.Model)
		if err != nil {
			return nil, err
		}
		body, err := p.body(ctx, req, m)
		if err != nil {
			return nil, err
		}
		said := false
		listen := func(c chela.Chunk) bool {
			said = said || c != chela.Chunk{}
			return emit(c)
		}
		for {
			finish, err := p.step(ctx, body, listen)
			if err == nil || said || !overflows(err) || !p.grow(&body.Options, m) {
				return finish, p.notice(req.Model, err)
			}
		}
	})
}

// step sends one request and reads the response.
func (p *Provider) step(ctx context.Context, body *request, emit func(chela.Chunk) bool) (*chela.Finish, error) {
	res, err := p.send(ctx, http.MethodPost, "/api/chat", body)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	a := answer{room: body.Options.NumCtx}
	if !body.Stream {
		return p.readPlain(ctx, res.Body, &a, emit)
	}
	return p.readStream(ctx, res.Body, &a, emit)
}

// send sends a request and returns the response, unless it is a refusal.
func (p *Provider) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var sent io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, p.guard.Unsent(chela.Invalid, err.Error())
		}
		sent = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, p.cfg.BaseURL+path, sent)
	if err != nil {
		return nil, p.guard.Failed(ctx, err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if p.cfg.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+p.cfg.APIKey)
	}
	for name, value := range p.cfg.Headers {
		req.Header.Set(name, value)
	}
	return p.guard.Do(req, p.client.Do)
}

// ask sends a request whose response is one JSON object.
func (p *Provider) ask(ctx context.Context, method, path string, body any) (wire.Value, error) {
	res, err := p.send(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return p.guard.ReadObject(ctx, res.Body)
}
