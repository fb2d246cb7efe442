package app

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"chela"
	"chela/internal/config"
	"chela/internal/surface/cli"
	"chela/internal/surface/client"
	"chela/internal/surface/terminal"
)

// Backend connects the commands with a home: with its daemon if one runs, else
// with an in-process gateway, where turns run until the backend is closed.
// Either way the commands use the HTTP API.
func Backend(ctx context.Context, cfg *config.Config, log *slog.Logger, version string) (*cli.Backend, error) {
	return backend(ctx, cfg, log, opening{version: version, now: time.Now})
}

// backend is Backend by a process.
func backend(ctx context.Context, cfg *config.Config, log *slog.Logger, o opening) (*cli.Backend, error) {
	c, err := client.Dial(ctx, cfg.Home.Socket(), chela.NewIDs(time.Now, rand.Reader))
	switch {
	case err == nil:
		b := cli.NewBackend(terminal.Connect(c), c, visitor{c})
		b.Served = true
		return b, differ(ctx, b, c, cfg)
	case chela.KindOf(err) != chela.NotFound:
		return nil, err
	}
	return within(ctx, cfg, log, o)
}

// A visitor is a process whose home a daemon holds: it has nothing to do for it.
type visitor struct{ *client.Client }

// Leave does nothing: the daemon stays.
func (visitor) Leave() {}

// Seed does nothing: the daemon did so at its start.
func (visitor) Seed(context.Context, string) (bool, error) { return false, nil }

// MakeKey does nothing: the daemon does it with the first secret.
func (visitor) MakeKey(context.Context) error { return nil }

// Resume does nothing: the daemon does it.
func (visitor) Resume(context.Context) {}

// within opens a home in this process and connects with it.
func within(ctx context.Context, cfg *config.Config, log *slog.Logger, o opening) (*cli.Backend, error) {
	a, err := open(ctx, cfg, log, o)
	if err != nil {
		return nil, err
	}
	gw, err := a.gateway()
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx)) // cancelled by Close
	group, running := errgroup.WithContext(running)
	connections := client.NewMemoryListener()
	group.Go(func() error { return a.Run(running) }) // Close waits for these
	group.Go(func() error { return a.stream.Run(running) })
	group.Go(func() error { return gw.Serve(running, nil, connections) })
	c := client.Local(connections.Dial, a.ids)
	return cli.NewBackend(terminal.Connect(c), c, opened{a, func() error {
		if !a.stays() {
			a.settle(ctx)
		}
		cancel()
		return errors.Join(c.Close(), group.Wait(), a.Close())
	}}), nil
}

// An opened is a home that this process holds.
type opened struct {
	*App
	close func() error
}

// Leave states that this process begins no background work.
func (o opened) Leave() { o.background.Leave() }

// Seed gives an agent its initial documents.
func (o opened) Seed(ctx context.Context, agent string) (bool, error) {
	return o.memory.Seed(ctx, agent)
}

// Resume continues the turns that an earlier process left.
func (o opened) Resume(ctx context.Context) { o.Stay(ctx) }

// Close lets turns reach their next commit and closes the home.
func (o opened) Close() error { return o.close() }
