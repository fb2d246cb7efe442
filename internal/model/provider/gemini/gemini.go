// Package gemini implements a provider for Google's Gemini API. Google's Go SDK
// is not used: it would add 38 MB to the binary, it reads the environment
// regardless of its configuration, writes to the process log, and stores call
// arguments as floating-point numbers. A test compares this package with the
// SDK's wire format.
package gemini

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"chela"
	"chela/internal/model/provider/wire"
	"chela/internal/platform/lazyregexp"
)

// DefaultBaseURL is the address of Google's API.
const DefaultBaseURL = "https://generativelanguage.googleapis.com"

// kind tags the thinking blocks of this protocol, which are sent back to it.
const kind = "gemini"

var hasVersion = lazyregexp.New(`/v\d+[a-z0-9]*$`)

// Config holds the server's address, its key and options.
type Config struct {
	Name       string       // of the provider in errors and model names; empty means "gemini"
	BaseURL    string       // with or without the version; empty means DefaultBaseURL
	APIKey     string       // sent as x-goog-api-key
	HTTPClient *http.Client // nil means one with the defaults of net/http; redirects are never followed
}

// A Provider is a client of a Gemini API server. It is safe for concurrent use.
type Provider struct {
	server *wire.Server
	tools  wire.Toolbox
}

// New returns a provider; it makes no request. It returns Invalid for a
// malformed address, and Denied if the key for Google itself is missing.
func New(cfg Config) (*Provider, error) {
	server, err := wire.Reach(wire.Config{
		Name: cmp.Or(cfg.Name, kind), BaseURL: cfg.BaseURL, Vendor: DefaultBaseURL, APIKey: cfg.APIKey, KeyHeader: "X-Goog-Api-Key",
		HTTPClient: cfg.HTTPClient,
	})
	if err != nil {
		return nil, err
	}
	if !hasVersion().MatchString(server.Base) {
		server.Base += "/v1beta"
	}
	server.Incomplete = "sent an answer without a finish reason"
	return &Provider{server: server}, nil
}

// Stream performs one step of a model; see [chela.Provider].
func (p *Provider) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	method := ":streamGenerateContent?alt=sse"
	if req.Plain {
		method = ":generateContent"
	}
	return p.server.Stream(ctx, func(ctx context.Context) wire.Request {
		how := keepSignatures
		return wire.Request{
			Path: resource(req.Model) + method, Plain: req.Plain, Answer: &answer{guard: p.server.Guard, asked: req.Model},
			Body: func() ([]byte, error) { return p.body(ctx, req, how) },
			Learn: func(_ []byte, err error) bool {
				again := how == keepSignatures && isUnreadable(err)
				how = replaceSignatures
				return again
			},
		}
	})
}

// unreadable matches the server's error for a signature made by another key or
// server. A conversation must be able to continue after such a change.
var unreadable = lazyregexp.New(`(?i)(invalid|corrupted) thought.?signature|thought.?signature is (not valid|invalid)`)

func isUnreadable(err error) bool {
	pe, ok := errors.AsType[*chela.ProviderError](err)
	return ok && pe.Kind == chela.Invalid && unreadable().MatchString(pe.Msg)
}

// resource returns the path of a model; tuned models have a path of their own.
// The name is escaped, so that it cannot lead elsewhere.
func resource(model string) string {
	name, tuned := strings.CutPrefix(model, "tunedModels/")
	if tuned {
		return "/tunedModels/" + url.PathEscape(name)
	}
	return "/models/" + url.PathEscape(strings.TrimPrefix(model, "models/"))
}

// maxPages bounds the pages of the model list.
const maxPages = 100

// Models lists the models that generate content, with their limits.
func (p *Provider) Models(ctx context.Context) ([]chela.Model, error) {
	var models []chela.Model
	query := url.Values{"pageSize": {"1000"}}
	for range maxPages {
		page, err := p.server.Object(ctx, "/models?"+query.Encode(), nil)
		if err != nil {
			return nil, err
		}
		for v := range page.Member("models").Items() {
			m := chela.Model{
				Provider: p.server.Provider, Name: strings.TrimPrefix(v.Member("name").Text(), "models/"),
				Window: int(v.Count("inputTokenLimit")), MaxOutput: int(v.Count("outputTokenLimit")),
			}
			if m.Name != "" && slices.Contains(v.Member("supportedGenerationMethods").Texts(), "generateContent") {
				models = append(models, m)
			}
		}
		next := page.Member("nextPageToken").Text()
		if next == "" {
			break
		}
		query.Set("pageToken", next)
	}
	return models, nil
}
