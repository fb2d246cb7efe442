// Package gemini implements a provider for Google's Gemini API. Google's Go SDK
// is not used: it would add 38 MB to the binary, it reads the environment
// regardless of its configuration, writes to the process log, and stores call
// arguments as floating-point numbers. A test compares this package with the
// SDK's wire format.
package gemini

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"chela"
	"chela/internal/model/provider/wire"
)

// DefaultBaseURL is the address of Google's API.
const DefaultBaseURL = "https://generativelanguage.googleapis.com"

// kind tags the thinking blocks of this protocol, which are sent back to it.
const kind = "gemini"

// version is the protocol version if the address names none.
const version = "v1beta"

var hasVersion = regexp.MustCompile(`/v\d+[a-z0-9]*/?$`)

// Config holds the server's address, its key and options.
type Config struct {
	Name       string            // of the provider in errors and model names; empty means "gemini"
	BaseURL    string            // with or without the version; empty means DefaultBaseURL
	APIKey     string            // sent as x-goog-api-key
	HTTPClient *http.Client      // nil means one with the defaults of net/http; redirects are never followed
	Headers    map[string]string // sent with each request; their values count as secrets
}

// A Provider is a client of a Gemini API server. It is safe for concurrent use.
type Provider struct {
	name   string
	base   string // with the version, without a trailing slash
	key    string
	header http.Header
	guard  wire.Guard
	client *http.Client
	tools  wire.Toolbox
}

// New returns a provider; it makes no request. It returns Invalid for a
// malformed address, and Denied if the key for Google itself is missing.
func New(cfg Config) (*Provider, error) {
	cfg.Name = cmp.Or(cfg.Name, kind)
	cfg.BaseURL = cmp.Or(cfg.BaseURL, DefaultBaseURL)
	if _, err := wire.Address(cfg.BaseURL); err != nil {
		return nil, err
	}
	if cfg.APIKey == "" && cfg.BaseURL == DefaultBaseURL {
		return nil, chela.E(chela.Denied, "provider "+cfg.Name+" has no key").
			WithHint("set its key, or the base url of a server that needs none")
	}
	p := &Provider{
		name:   cfg.Name,
		base:   strings.TrimSuffix(cfg.BaseURL, "/"),
		key:    cfg.APIKey,
		header: http.Header{},
		guard:  wire.Guard{Provider: cfg.Name, Secrets: []string{cfg.APIKey}},
		client: wire.Client(cfg.HTTPClient),
	}
	if !hasVersion.MatchString(p.base) {
		p.base += "/" + version
	}
	for name, value := range cfg.Headers {
		p.header.Set(name, value)
		p.guard.Secrets = append(p.guard.Secrets, value)
	}
	return p, nil
}

// Stream performs one step of a model; see [chela.Provider].
func (p *Provider) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return wire.Stream(ctx, func(ctx context.Context, emit func(chela.Chunk) bool) (*chela.Finish, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		res, err := p.ask(ctx, req, keepSignatures)
		if isUnreadable(err) {
			res, err = p.ask(ctx, req, replaceSignatures)
		}
		if err != nil {
			return nil, err
		}
		defer res.Body.Close()
		if req.Plain {
			return p.readPlain(ctx, res, req.Model, emit)
		}
		return p.readStream(ctx, res, req.Model, emit)
	})
}

// unreadable matches the server's error for a signature made by another key or
// server. A conversation must be able to continue after such a change.
var unreadable = regexp.MustCompile(`(?i)(invalid|corrupted) thought.?signature|thought.?signature is (not valid|invalid)`)

func isUnreadable(err error) bool {
	var pe *chela.ProviderError
	return errors.As(err, &pe) && pe.Kind == chela.Invalid && unreadable.MatchString(pe.Msg)
}

// ask sends a request. It returns the response only if it has the expected
// form.
func (p *Provider) ask(ctx context.Context, req *chela.Request, how signing) (*http.Response, error) {
	body, err := p.body(ctx, req, how)
	if err != nil {
		return nil, err
	}
	method := "streamGenerateContent?alt=sse"
	if req.Plain {
		method = "generateContent"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.base+"/"+resource(req.Model)+":"+method, bytes.NewReader(body))
	if err != nil {
		return nil, p.guard.Failed(ctx, err)
	}
	r.Header.Set("Content-Type", "application/json")
	if !req.Plain {
		r.Header.Set("Accept", "text/event-stream")
	}
	return p.do(r)
}

func (p *Provider) do(r *http.Request) (*http.Response, error) {
	for name, values := range p.header {
		r.Header[name] = values
	}
	if p.key != "" {
		r.Header.Set("X-Goog-Api-Key", p.key)
	}
	return p.guard.Do(r, p.client.Do)
}

// resource returns the path of a model; tuned models have a path of their own.
// The name is escaped, so that it cannot lead elsewhere.
func resource(model string) string {
	for _, folder := range []string{"models/", "tunedModels/"} {
		if name, ok := strings.CutPrefix(model, folder); ok {
			return folder + url.PathEscape(name)
		}
	}
	return "models/" + url.PathEscape(model)
}

// maxPages bounds the pages of the model list.
const maxPages = 100

// Models lists the models that generate content, with their limits.
func (p *Provider) Models(ctx context.Context) ([]chela.Model, error) {
	var models []chela.Model
	next := ""
	for range maxPages {
		page, err := p.page(ctx, next)
		if err != nil {
			return nil, err
		}
		next = ""
		for name, v := range page.Members() {
			switch name {
			case "models":
				for m := range v.Items() {
					if model, ok := p.model(m); ok {
						models = append(models, model)
					}
				}
			case "nextPageToken":
				next = v.Text()
			}
		}
		if next == "" {
			break
		}
	}
	return models, nil
}

func (p *Provider) page(ctx context.Context, token string) (wire.Value, error) {
	query := url.Values{"pageSize": {"1000"}}
	if token != "" {
		query.Set("pageToken", token)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base+"/models?"+query.Encode(), nil)
	if err != nil {
		return nil, p.guard.Failed(ctx, err)
	}
	res, err := p.do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return p.guard.ReadObject(ctx, res.Body)
}

// model reads one model of the list; false if it does not generate content.
func (p *Provider) model(v wire.Value) (chela.Model, bool) {
	m := chela.Model{Provider: p.name}
	var methods []string
	for name, member := range v.Members() {
		switch name {
		case "name":
			m.Name = strings.TrimPrefix(member.Text(), "models/")
		case "inputTokenLimit":
			m.Window = int(max(member.Int(), 0))
		case "outputTokenLimit":
			m.MaxOutput = int(max(member.Int(), 0))
		case "supportedGenerationMethods":
			for method := range member.Items() {
				methods = append(methods, method.Text())
			}
		}
	}
	return m, m.Name != "" && slices.Contains(methods, "generateContent")
}
