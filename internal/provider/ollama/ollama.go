// Package ollama reaches models on one's own machine by the native protocol of
// Ollama: JSON objects, one on each line. The compatible endpoints of Ollama
// leave out what matters most there, which is how much of a prompt is read.
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
	"chela/internal/provider/wire"
)

// DefaultBaseURL is where Ollama serves unless it is told otherwise.
const DefaultBaseURL = "http://127.0.0.1:11434"

// kind marks the thinking that this protocol brings, and that is sent back.
const kind = "ollama"

// Config says which server is asked, and how.
type Config struct {
	Name       string            // of the provider in errors and model names; empty means "ollama"
	BaseURL    string            // without /api; empty means DefaultBaseURL
	APIKey     string            // sent as bearer token; only ollama.com wants one
	HTTPClient *http.Client      // nil means one with the defaults of net/http; redirects are never followed
	Headers    map[string]string // sent with each request; their values count as secrets

	// Window is the most tokens of prompt and answer for which the server
	// makes room; 0 means as many as the model can read.
	Window int
}

// A Provider is a server that speaks Ollama's protocol. It may be used by
// several goroutines at once.
type Provider struct {
	cfg    Config
	guard  wire.Guard
	client *http.Client

	mu    sync.Mutex
	known map[string]model // guarded by mu; by name
}

// New returns a provider. It asks nobody. An address that cannot be one is an
// Invalid error.
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

// Stream performs one step of a model; see [chela.Provider]. A prompt that is
// larger than the room that was made for it is asked again with more room, up
// to the model's window; then it is an error that says so.
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

// step sends one request and reads what is answered.
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

// send sends a request and returns the answer to it, unless it is a refusal.
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

// ask sends a request that is answered with one JSON object.
func (p *Provider) ask(ctx context.Context, method, path string, body any) (wire.Value, error) {
	res, err := p.send(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return p.guard.ReadObject(ctx, res.Body)
}
