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
	"chela/internal/surface/cli/talk"
	"chela/internal/surface/client"
)

// Backend connects the commands with a home: with its daemon if one runs, else
// with an in-process gateway, where turns run until the backend is closed.
// Either way the commands use the HTTP API.
func Backend(ctx context.Context, cfg *config.Config, log *slog.Logger, version string) (*cli.Backend, error) {
	c, err := client.Dial(ctx, cfg.Home.Socket(), chela.NewIDs(time.Now, rand.Reader))
	switch {
	case err == nil:
		b := through(c)
		b.Served = true
		return b, differ(ctx, b, c, cfg)
	case chela.KindOf(err) != chela.NotFound:
		return nil, err
	}
	return within(ctx, cfg, log, version)
}

// through returns the backend of commands that reach a home through a client.
func through(c *client.Client) *cli.Backend {
	return &cli.Backend{
		Connection:  talk.Connection{API: c, Conversation: c, Attach: c.Attach, Listen: c.Listen},
		Transcripts: c, Logs: c.Logs,
		Leave:  func() {},                                                         // it stays
		Seed:   func(context.Context, string) (bool, error) { return false, nil }, // the daemon did so at its start
		Resume: func(context.Context) {},                                          // the daemon does it
		Close:  c.Close,
	}
}

// within opens a home in this process and connects with it.
func within(ctx context.Context, cfg *config.Config, log *slog.Logger, version string) (*cli.Backend, error) {
	a, err := Open(ctx, cfg, log, version)
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
	b := through(c)
	b.Seed, b.Resume, b.Leave = a.memory.Seed, a.Stay, a.background.Leave
	b.Close = func() error {
		if !a.stays() {
			a.settle(ctx)
		}
		cancel()
		return errors.Join(c.Close(), group.Wait(), a.Close())
	}
	return b, nil
}
