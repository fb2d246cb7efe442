// Package ollama implements a provider for models on the local machine, by
// Ollama's native protocol: JSON objects, one per line. Ollama's
// OpenAI-compatible endpoints do not expose the context size.
package ollama

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
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
	Name       string       // of the provider in errors and model names; empty means "ollama"
	BaseURL    string       // without /api; empty means DefaultBaseURL
	APIKey     string       // sent as bearer token; only ollama.com requires it
	HTTPClient *http.Client // nil means one with the defaults of net/http; redirects are never followed

	// Window caps the context, in tokens of prompt and answer; 0 means the
	// model's window.
	Window int
}

// A Provider is a client of an Ollama server. It is safe for concurrent use.
type Provider struct {
	server *wire.Server
	most   int // cap of the context; 0 for none

	mu    sync.Mutex
	known map[string]model // guarded by mu; by name
}

// New returns a provider; it makes no request. It returns Invalid for a
// malformed address.
func New(cfg Config) (*Provider, error) {
	server, err := wire.Reach(wire.Config{
		Name: cmp.Or(cfg.Name, kind), BaseURL: cmp.Or(cfg.BaseURL, DefaultBaseURL), APIKey: cfg.APIKey, HTTPClient: cfg.HTTPClient,
	})
	if err != nil {
		return nil, err
	}
	p := &Provider{server: server, most: cfg.Window, known: map[string]model{}}
	server.Accept, server.Events, server.Incomplete = "application/x-ndjson", p.lines, "sent an incomplete answer"
	return p, nil
}

// Stream performs one step of a model; see [chela.Provider]. A prompt that
// exceeds the allocated context is retried with a larger one, up to the model's
// window; beyond that it returns an overflow error.
func (p *Provider) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return wire.Stream(ctx, func(ctx context.Context, emit wire.EmitFunc) (*chela.Finish, error) {
		m, err := p.look(ctx, req.Model)
		if err != nil {
			return nil, err
		}
		r, err := p.request(ctx, req, m)
		if err != nil {
			return nil, err
		}
		said := false
		listen := func(c chela.Chunk) {
			said = said || c != chela.Chunk{}
			emit(c)
		}
		for {
			finish, err := p.server.Answer(ctx, wire.Request{
				Path: "/api/chat", Plain: req.Plain, Answer: &answer{p: p, room: r.room},
				Body: func() ([]byte, error) { return r.body(), nil },
			}, listen)
			if err == nil || said || !overflows(err) || !r.grow() {
				return finish, p.notice(req.Model, err)
			}
		}
	})
}

// lines yields the objects of a stream, one on each line.
func (p *Provider) lines(r io.Reader) iter.Seq2[wire.Value, error] {
	return func(yield func(wire.Value, error) bool) {
		for in := bufio.NewReader(r); ; {
			line, broke := in.ReadBytes('\n')
			line = bytes.TrimSpace(line)
			v, ok := wire.Object(line)
			told, failed := p.server.Told(line)
			switch {
			case ok && failed:
				yield(nil, told)
				return
			case ok && !yield(v, nil):
				return
			case !ok && len(line) > 0 && broke == nil:
				yield(nil, p.server.Unreadable("sent a line that is not JSON"))
				return
			}
			if errors.Is(broke, io.EOF) {
				return
			}
			if broke != nil {
				yield(nil, broke)
				return
			}
		}
	}
}
