// Package bedrock implements a provider for the Converse protocol of Amazon
// Bedrock. Request signing and stream framing come from Amazon's SDK. The
// complete SDK client is not used: it would double the cost of a stream, read
// the environment and leave goroutines behind.
package bedrock

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"chela"
	"chela/internal/model/provider/wire"
)

// kind tags the thinking blocks of this protocol, which are sent back to it.
const kind = "bedrock"

// Config holds the region, its keys and options.
type Config struct {
	Name       string            // of the provider in errors and model names; empty means "bedrock"
	Region     string            // such as "us-east-1"
	BaseURL    string            // empty means the region's
	HTTPClient *http.Client      // nil means one with the defaults of net/http; redirects are never followed
	Headers    map[string]string // sent with each request; their values count as secrets
	Now        func() time.Time  // required; signatures expire after a few minutes

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
	cfg    Config
	guard  wire.Guard
	client *http.Client
	signer *v4.Signer
}

var regionShape = regexp.MustCompile(`^[a-z]{2,}(-[a-z]+)+-\d+$`)

// New returns a provider; it makes no request. It returns Invalid for a
// malformed region or address, and Denied if there are no keys.
func New(cfg Config) (*Provider, error) {
	cfg.Name = cmp.Or(cfg.Name, "bedrock")
	if !regionShape.MatchString(cfg.Region) {
		return nil, chela.E(chela.Invalid, "provider "+cfg.Name+" has no region").
			WithHint("set AWS_REGION, or its region, such as us-east-1")
	}
	host := "https://bedrock-runtime." + cfg.Region + ".amazonaws.com"
	if strings.HasPrefix(cfg.Region, "cn-") {
		host += ".cn"
	}
	cfg.BaseURL = strings.TrimSuffix(cmp.Or(cfg.BaseURL, host), "/")
	if _, err := wire.Address(cfg.BaseURL); err != nil {
		return nil, err
	}
	if cfg.APIKey == "" && (cfg.Keys.ID == "" || cfg.Keys.Secret == "") {
		return nil, chela.E(chela.Denied, "provider "+cfg.Name+" has no key").
			WithHint("set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	cfg.MaxOutput = cmp.Or(cfg.MaxOutput, 64_000)
	guard := wire.Guard{Provider: cfg.Name, Secrets: []string{cfg.APIKey, cfg.Keys.ID, cfg.Keys.Secret, cfg.Keys.SessionToken}}
	for _, value := range cfg.Headers {
		guard.Secrets = append(guard.Secrets, value)
	}
	return &Provider{cfg: cfg, guard: guard, client: wire.Client(cfg.HTTPClient), signer: v4.NewSigner()}, nil
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
		path, accept := "/model/"+escape(req.Model)+"/converse-stream", streamType
		if req.Plain {
			path, accept = "/model/"+escape(req.Model)+"/converse", "application/json"
		}
		res, err := p.send(ctx, sending{method: http.MethodPost, url: p.cfg.BaseURL + path, accept: accept, body: body})
		if err != nil {
			return nil, err
		}
		defer res.Body.Close()
		if req.Plain {
			return p.readPlain(ctx, res.Body, emit)
		}
		return p.readStream(ctx, res.Body, emit)
	})
}

// streamType is the media type of a stream.
const streamType = "application/vnd.amazon.eventstream"

// escape encodes a model name as one path segment; a name may be an ARN with
// colons and slashes.
func escape(model string) string { return strings.ReplaceAll(url.PathEscape(model), ":", "%3A") }

// A sending is an outgoing request.
type sending struct {
	method, url, accept string
	body                any // nil for none
}

// send signs and sends a request. It returns the response unless the server
// refused the request.
func (p *Provider) send(ctx context.Context, s sending) (*http.Response, error) {
	var raw []byte
	if s.body != nil {
		var err error
		if raw, err = json.Marshal(s.body); err != nil {
			return nil, p.guard.Unsent(chela.Invalid, err.Error())
		}
	}
	req, err := http.NewRequestWithContext(ctx, s.method, s.url, bytes.NewReader(raw))
	if err != nil {
		return nil, p.guard.Failed(ctx, err)
	}
	req.Header.Set("Accept", s.accept)
	if s.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range p.cfg.Headers {
		req.Header.Set(name, value)
	}
	if p.cfg.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+p.cfg.APIKey)
		return p.guard.Do(req, p.client.Do)
	}
	sum := sha256.Sum256(raw)
	keys := aws.Credentials{AccessKeyID: p.cfg.Keys.ID, SecretAccessKey: p.cfg.Keys.Secret, SessionToken: p.cfg.Keys.SessionToken}
	if err := p.signer.SignHTTP(ctx, keys, req, hex.EncodeToString(sum[:]), "bedrock", p.cfg.Region, p.cfg.Now()); err != nil {
		return nil, p.guard.Failed(ctx, err)
	}
	return p.guard.Do(req, p.client.Do)
}

// ask sends a request whose response is one JSON object.
func (p *Provider) ask(ctx context.Context, path string) (wire.Value, error) {
	control := strings.Replace(p.cfg.BaseURL, "://bedrock-runtime", "://bedrock", 1)
	res, err := p.send(ctx, sending{method: http.MethodGet, url: control + path, accept: "application/json"})
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return p.guard.ReadObject(ctx, res.Body)
}

// Models lists the region's models with text output: models that can be called
// by their own id first, then cross-region inference profiles.
func (p *Provider) Models(ctx context.Context) ([]chela.Model, error) {
	v, err := p.ask(ctx, "/foundation-models?byOutputModality=TEXT&byInferenceType=ON_DEMAND")
	if err != nil {
		return nil, err
	}
	var models []chela.Model
	for item := range member(v, "modelSummaries").Items() {
		m := chela.Model{Provider: p.cfg.Name, Name: member(item, "modelId").Text()}
		for in := range member(item, "inputModalities").Items() {
			if in.Text() == "IMAGE" {
				m.Abilities = []chela.Ability{chela.AbleImages}
			}
		}
		models = append(models, m)
	}
	const first = "/inference-profiles?maxResults=1000"
	for path := first; path != ""; {
		if v, err = p.ask(ctx, path); err != nil {
			return nil, err
		}
		for item := range member(v, "inferenceProfileSummaries").Items() {
			models = append(models, chela.Model{Provider: p.cfg.Name, Name: member(item, "inferenceProfileId").Text()})
		}
		path = ""
		if next := member(v, "nextToken").Text(); next != "" {
			path = first + "&nextToken=" + url.QueryEscape(next)
		}
	}
	return models, nil
}

// member returns a member of an object; absent if there is none.
func member(v wire.Value, name string) wire.Value {
	for n, m := range v.Members() {
		if n == name {
			return m
		}
	}
	return nil
}
