package gateway

import (
	"context"
	"net"
	"net/http"
	"sync"

	"chela"
	"chela/internal/api"
	"chela/internal/gateway/edge"
	"chela/internal/gateway/openai"
	"chela/internal/gateway/openapi"
)

// A Gateway serves a home. It may be used by several goroutines at once.
type Gateway struct {
	cfg    Config
	edge   *edge.Server
	openAI *openai.API
	logins *edge.Meter // by address
	hooks  *edge.Meter // likewise
	frames frames

	document func() ([]byte, error) // of OpenAPI; made when it is first asked for
}

// New returns a gateway over a home. An origin that is none is Invalid.
func New(cfg Config) (*Gateway, error) {
	g := &Gateway{
		cfg: cfg, logins: edge.NewMeter(cfg.LoginsPerMinute, cfg.Now), hooks: edge.NewMeter(cfg.HooksPerMinute, cfg.Now),
		openAI: openai.New(openai.Config{
			Conversation: cfg.Home.Conversation, Turns: cfg.Home.Turns, Models: cfg.Home.Models,
			IDs: cfg.IDs, Now: cfg.Now, Log: cfg.Log, Agents: cfg.Home.Agents, Approval: cfg.Home.Approvals.Approval, Attach: cfg.Home.Attach, Origin: origin,
			Threads: cfg.Home.Threads,
		}),
	}
	g.document = sync.OnceValues(func() ([]byte, error) { return openapi.Document(Routes(), cfg.Version) })
	var err error
	g.edge, err = edge.New(edge.Config{
		IDs: cfg.IDs, Now: cfg.Now, Log: cfg.Log, Recognize: g.recognize,
		Hosts: cfg.Hosts, Origins: cfg.Origins, MessagesPerMinute: cfg.MessagesPerMinute, Connections: cfg.Connections, Times: cfg.Times,
	}, g.routes())
	return g, err
}

// Handler serves what comes over TCP.
func (g *Gateway) Handler() http.Handler { return g.edge.Handler() }

// SocketHandler serves what comes through the socket of the home. Only its owner
// can open it, and may do everything.
func (g *Gateway) SocketHandler() http.Handler { return g.edge.SocketHandler() }

// Serve serves listeners, of which either may be nil, until ctx ends or one of
// them fails. Then streams are ended, what waits for a turn is told to come
// back, and other requests have five seconds to end.
func (g *Gateway) Serve(ctx context.Context, tcp, socket net.Listener) error {
	return g.edge.Serve(ctx, tcp, socket)
}

// origin says who sends a message through the API of OpenAI.
func origin(r *http.Request) chela.Origin {
	v, ok := edge.VisitOf(r.Context())
	if !ok {
		return chela.Origin{Channel: api.Channel}
	}
	return v.Origin()
}

// recognize fills in who shows a secret or a cookie, or returns Denied.
func (g *Gateway) recognize(ctx context.Context, by edge.Asker) (edge.Asker, error) {
	var err error
	if by.Cookie != "" {
		by.Token, by.Login, err = g.cfg.Home.Logins.LoggedIn(ctx, by.Cookie)
	} else {
		by.Token, err = g.cfg.Home.Tokens.Authenticate(ctx, by.Secret)
	}
	return by, err
}
