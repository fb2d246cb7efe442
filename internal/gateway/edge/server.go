package edge

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"chela"
	"chela/internal/api"
)

// Config is what a server needs. Limits that are zero are none, times that are
// zero the usual ones.
type Config struct {
	IDs *chela.IDs
	Now func() time.Time
	Log *slog.Logger

	// Recognize fills in who shows the secret or the cookie of an asker, or
	// returns Denied.
	Recognize func(ctx context.Context, by Asker) (Asker, error)

	Hosts             []string // further names in the Host header, besides loopback and the address listened on
	Origins           []string // further origins of pages, besides the server's own
	MessagesPerMinute int      // for each token
	Connections       int      // open at once
	Times             Times
}

// Times is how long things may take.
type Times struct {
	Header    time.Duration // to send the header of a request: 10 s
	Body      time.Duration // to send a body, and more for what is large: 10 s
	Write     time.Duration // to take a part of the answer: 30 s
	Idle      time.Duration // between two requests of a connection: 120 s
	Close     time.Duration // for requests to end when the server stops: 5 s
	Heartbeat time.Duration // between signs of life in a stream: 15 s
	Review    time.Duration // until a revoked token ends what waits: 1 s
}

func (t Times) orUsual() Times {
	return Times{
		Header: cmp.Or(t.Header, 10*time.Second), Body: cmp.Or(t.Body, 10*time.Second), Write: cmp.Or(t.Write, 30*time.Second),
		Idle: cmp.Or(t.Idle, 120*time.Second), Close: cmp.Or(t.Close, 5*time.Second),
		Heartbeat: cmp.Or(t.Heartbeat, 15*time.Second), Review: cmp.Or(t.Review, time.Second),
	}
}

// BodyTime is how long a body may take of which so many bytes came: slow lines
// have their time, and whoever sends a byte now and then has not.
func (t Times) BodyTime(size int64) time.Duration {
	const perSecond = 64 << 10
	return t.Body + time.Duration(size)*time.Second/perSecond
}

const (
	maxHeader = 64 << 10 // bytes of the headers of a request
	maxLarge  = 4        // bodies larger than api.MaxBody in memory at once
)

// A Route is a row of the API and what serves it.
type Route struct {
	api.Route
	Serve func(*Visit) error // an error is answered with its status

	Limit   int64 // bytes of the body
	Metered bool  // counts as a message of its token
	Long    bool  // may wait: its context ends when the server stops or its token is revoked

	// Refuse answers with an error and a status in another form than the usual
	// one, if it is set.
	Refuse func(w http.ResponseWriter, status int, err error)
}

// A Server serves routes. It may be used by several goroutines at once.
type Server struct {
	cfg      Config
	routes   []Route
	methods  []string // of the routes, sorted
	hosts    []string
	waiting  *waits
	messages *Meter        // by token
	large    chan struct{} // holds one token for each large body that is read
}

// New returns a server of routes. An origin that is none is Invalid, a route
// without a scope Internal.
func New(cfg Config, routes []Route) (*Server, error) {
	cfg.Times = cfg.Times.orUsual()
	s := &Server{cfg: cfg, routes: routes, waiting: newWaits(), messages: NewMeter(cfg.MessagesPerMinute, cfg.Now), large: make(chan struct{}, maxLarge)}
	for _, r := range routes {
		if r.Scope != api.Public && !r.Scope.Valid() {
			return nil, chela.E(chela.Internal, "route "+r.Method+" "+r.Path+" has no scope")
		}
		s.methods = append(s.methods, r.Method)
	}
	slices.Sort(s.methods)
	s.methods = slices.Compact(s.methods)
	for _, host := range cfg.Hosts {
		if name := hostName(host); name != "" { // an address such as ":7717" names none
			s.hosts = append(s.hosts, name)
		}
	}
	for _, origin := range cfg.Origins {
		scheme, host, ok := strings.Cut(origin, "://")
		if !ok || scheme == "" || host == "" || strings.ContainsAny(host, "/*") || origin != strings.ToLower(origin) {
			return nil, chela.E(chela.Invalid, origin+" is not an origin").WithHint("write it as https://example.org, in lower case and without a path")
		}
	}
	return s, nil
}

// Handler serves what comes over TCP.
func (s *Server) Handler() http.Handler { return s.open(false) }

// SocketHandler serves what comes through the socket of the home. Only its owner
// can open it, and may do everything.
func (s *Server) SocketHandler() http.Handler { return s.open(true) }

// Serve serves listeners, of which either may be nil, until ctx ends or one of
// them fails. Then what waits is ended, and other requests have the time to end
// themselves.
func (s *Server) Serve(ctx context.Context, tcp, socket net.Listener) error {
	group, running := errgroup.WithContext(ctx)
	var servers []*http.Server
	serve := func(l net.Listener, h http.Handler) {
		server := s.server(h)
		servers = append(servers, server)
		group.Go(func() error {
			if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		})
	}
	if tcp != nil {
		if s.cfg.Connections > 0 {
			tcp = &limitedListener{Listener: tcp, limit: int64(s.cfg.Connections), now: s.cfg.Now}
		}
		serve(tcp, s.Handler())
	}
	if socket != nil {
		serve(socket, s.SocketHandler())
	}
	group.Go(func() error {
		s.watch(running)
		return s.close(context.WithoutCancel(running), servers) // ends by its own clock
	})
	return group.Wait()
}

func (s *Server) server(h http.Handler) *http.Server {
	silent := &silentConns{}
	server := &http.Server{
		ConnState:                    silent.note,
		Handler:                      h,
		ReadHeaderTimeout:            s.cfg.Times.Header,
		WriteTimeout:                 s.cfg.Times.Write, // until the answer begins; Visit.extend moves it
		IdleTimeout:                  s.cfg.Times.Idle,
		MaxHeaderBytes:               maxHeader,
		ErrorLog:                     slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelDebug),
		ConnContext:                  markOver,
		DisableGeneralOptionsHandler: true,
	}
	server.RegisterOnShutdown(silent.close)
	return server
}

// watch reviews who waits, until ctx ends.
func (s *Server) watch(ctx context.Context) {
	tick := time.NewTicker(s.cfg.Times.Review)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.review(ctx)
		}
	}
}

// close stops the servers. What does not end in time is cut off.
func (s *Server) close(ctx context.Context, servers []*http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Times.Close)
	defer cancel()
	s.waiting.close()
	var errs []error
	for _, server := range servers {
		if err := server.Shutdown(ctx); err != nil {
			s.cfg.Log.Warn("requests did not end in time", "error", err)
			errs = append(errs, server.Close())
		}
	}
	select {
	case <-s.waiting.empty: // the server does not wait for connections that were taken over
	case <-ctx.Done():
	}
	return errors.Join(errs...)
}

// Revoke ends the requests of those who ask with what does not work any more.
func (s *Server) Revoke(gone func(Asker) bool) { s.waiting.revoke(gone) }
