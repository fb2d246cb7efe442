package gateway

import (
	"context"
	"net"
	"net/http"
	"sync"

	"chela/internal/surface/gateway/edge"
	"chela/internal/surface/gateway/openai"
)

// A Gateway serves a home. It is safe for concurrent use.
type Gateway struct {
	cfg    Config
	edge   *edge.Server
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
	g.edge, err = edge.New(edge.Config{
		IDs: cfg.IDs, Now: cfg.Now, Log: cfg.Log, Recognize: g.recognize, Requests: cfg.Home.Tokens,
		Hosts: cfg.Hosts, Origins: cfg.Origins, MessagesPerMinute: cfg.MessagesPerMinute, Connections: cfg.Connections, BodyMemory: cfg.BodyMemory, Times: cfg.Times,
	}, g.routes())
	return g, err
}

// Handler serves the TCP listener.
func (g *Gateway) Handler() http.Handler { return g.edge.Handler() }

// SocketHandler serves the socket of the home. Only its owner can open it, and
// has every scope.
func (g *Gateway) SocketHandler() http.Handler { return g.edge.SocketHandler() }

// Serve serves the listeners (either may be nil) until ctx ends or a listener
// fails. Then streams are ended, requests that wait for a turn are told to
// retry, and other requests have five seconds to finish.
func (g *Gateway) Serve(ctx context.Context, tcp, socket net.Listener) error {
	return g.edge.Serve(ctx, tcp, socket)
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
