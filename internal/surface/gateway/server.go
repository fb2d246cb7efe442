package gateway

import (
	"context"
	"sync"

	"chela/internal/surface/gateway/edge"
	"chela/internal/surface/gateway/openai"
)

// A Gateway serves a home. It is safe for concurrent use.
type Gateway struct {
	*edge.Server

	cfg    Config
	openAI *openai.API
	logins *edge.Meter // by address
	hooks  *edge.Meter // same
	frames frames

	document func() ([]byte, error) // of OpenAPI; made on first use
}

// New returns a gateway over a home. A malformed origin is Invalid.
func New(cfg Config) (*Gateway, error) {
	g := &Gateway{
		cfg: cfg, logins: edge.NewMeter(cfg.LoginsPerMinute, cfg.Now), hooks: edge.NewMeter(cfg.HooksPerMinute, cfg.Now),
		openAI: openai.New(openai.Config{Home: cfg.Home.OpenAI, IDs: cfg.IDs, Now: cfg.Now}),
	}
	g.document = sync.OnceValues(func() ([]byte, error) { return OpenAPIDocument(Routes(), cfg.Version) })
	cfg.Recognize, cfg.Requests = g.recognize, cfg.Home.Tokens
	var err error
	g.Server, err = edge.New(cfg.Config, g.routes())
	return g, err
}

// recognize resolves a secret or a cookie, or returns Denied.
func (g *Gateway) recognize(ctx context.Context, by edge.Asker) (edge.Asker, error) {
	var err error
	if by.Cookie != "" {
		by.Token, by.Login, err = g.cfg.Home.Tokens.LoggedIn(ctx, by.Cookie)
	} else {
		by.Token, err = g.cfg.Home.Tokens.Authenticate(ctx, by.Secret)
	}
	return by, err
}
