// Package bedrock implements a provider for the Converse protocol of Amazon
// Bedrock. Request signing and stream framing come from Amazon's SDK. The
// complete SDK client is not used: it would double the cost of a stream, read
// the environment and leave goroutines behind.
package bedrock

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"chela"
	"chela/internal/model/provider/wire"
	"chela/internal/platform/lazyregexp"
)

// kind tags the thinking blocks of this protocol, which are sent back to it.
const kind = "bedrock"

// Config holds the region, its keys and options.
type Config struct {
	Name       string           // of the provider in errors and model names; empty means "bedrock"
	Region     string           // such as "us-east-1"
	BaseURL    string           // empty means the region's
	HTTPClient *http.Client     // nil means one with the defaults of net/http; redirects are never followed
	Now        func() time.Time // required; signatures expire after a few minutes

	// MaxOutput is the output limit of the models that are asked, in tokens,
	// thinking included; 0 means 64,000.
	MaxOutput int

	APIKey string // Bedrock API key, sent as bearer token; without it requests are signed
	Keys   Keys
}

// Keys holds AWS credentials for signing requests.
type Keys struct{ ID, Secret, SessionToken string }

// A Provider is a client of Bedrock in one region. It is safe for concurrent
// use.
type Provider struct {
	server  *wire.Server
	control *wire.Server // tells of the models
	longest int          // output limit, thinking included
}

var regionShape = lazyregexp.New(`^[a-z]{2,}(-[a-z]+)+-\d+$`)

// New returns a provider; it makes no request. It returns Invalid for a
// malformed region or address, and Denied if there are no keys.
func New(cfg Config) (*Provider, error) {
	cfg.Name = cmp.Or(cfg.Name, "bedrock")
	if !regionShape().MatchString(cfg.Region) {
		return nil, chela.E(chela.Invalid, "provider "+cfg.Name+" has no region").
			WithHint("set AWS_REGION, or its region, such as us-east-1")
	}
	host := "https://bedrock-runtime." + cfg.Region + ".amazonaws.com"
	if strings.HasPrefix(cfg.Region, "cn-") {
		host += ".cn"
	}
	server, err := wire.Reach(wire.Config{Name: cfg.Name, BaseURL: cmp.Or(cfg.BaseURL, host), APIKey: cfg.APIKey, HTTPClient: cfg.HTTPClient})
	if err != nil {
		return nil, err
	}
	if cfg.APIKey == "" {
		if cfg.Keys.ID == "" || cfg.Keys.Secret == "" {
			return nil, chela.E(chela.Denied, "provider "+cfg.Name+" has no key").
				WithHint("set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
		}
		server.Secrets = []string{cfg.Keys.ID, cfg.Keys.Secret, cfg.Keys.SessionToken}
		server.Do = signed(server.Do, cfg) //nolint:bodyclose // it is a function that sends, not an answer
	}
	server.Accept, server.Events, server.Incomplete = "application/vnd.amazon.eventstream", frames{server}.events, "sent a response without an answer"
	control := *server
	control.Base = strings.Replace(server.Base, "://bedrock-runtime", "://bedrock", 1)
	return &Provider{server, &control, cmp.Or(cfg.MaxOutput, 64_000)}, nil
}

// signed returns a function that signs requests and sends them by send.
func signed(send func(*http.Request) (*http.Response, error), cfg Config) func(*http.Request) (*http.Response, error) {
	signer := v4.NewSigner()
	keys := aws.Credentials{AccessKeyID: cfg.Keys.ID, SecretAccessKey: cfg.Keys.Secret, SessionToken: cfg.Keys.SessionToken}
	return func(r *http.Request) (*http.Response, error) {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		defer body.Close()
		sum := sha256.New()
		if _, err := io.Copy(sum, body); err != nil {
			return nil, err
		}
		if err := signer.SignHTTP(r.Context(), keys, r, hex.EncodeToString(sum.Sum(nil)), "bedrock", cfg.Region, cfg.Now()); err != nil {
			return nil, err
		}
		return send(r)
	}
}

// Stream performs one step of a model; see [chela.Provider].
func (p *Provider) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	path := "/model/" + escape(req.Model) + "/converse"
	if !req.Plain {
		path += "-stream"
	}
	return p.server.Stream(ctx, func(ctx context.Context) wire.Request {
		return wire.Request{
			Path: path, Plain: req.Plain, Answer: &answer{},
			Body: func() ([]byte, error) { return p.body(ctx, req) },
		}
	})
}

// escape encodes a model name as one path segment; a name may be an ARN with
// colons and slashes.
func escape(model string) string { return strings.ReplaceAll(url.PathEscape(model), ":", "%3A") }

// Models lists the region's models with text output: models that can be called
// by their own id first, then cross-region inference profiles.
func (p *Provider) Models(ctx context.Context) ([]chela.Model, error) {
	v, err := p.control.Object(ctx, "/foundation-models?byOutputModality=TEXT&byInferenceType=ON_DEMAND", nil)
	if err != nil {
		return nil, err
	}
	var models []chela.Model
	for item := range v.Member("modelSummaries").Items() {
		m := chela.Model{Provider: p.server.Provider, Name: item.Member("modelId").Text()}
		if slices.Contains(item.Member("inputModalities").Texts(), "IMAGE") {
			m.Abilities = []chela.Ability{chela.AbleImages}
		}
		models = append(models, m)
	}
	const first = "/inference-profiles?maxResults=1000"
	for path := first; path != ""; {
		if v, err = p.control.Object(ctx, path, nil); err != nil {
			return nil, err
		}
		for item := range v.Member("inferenceProfileSummaries").Items() {
			models = append(models, chela.Model{Provider: p.server.Provider, Name: item.Member("inferenceProfileId").Text()})
		}
		path = ""
		if next := v.Member("nextToken").Text(); next != "" {
			path = first + "&nextToken=" + url.QueryEscape(next)
		}
	}
	return models, nil
}
