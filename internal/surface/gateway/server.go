package gateway

import (
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
	var err error
	g.Server, err = edge.New(cfg.Config, g.routes())
	return g, err
}
