package app

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"chela/internal/app/process"
	"chela/internal/app/providers"
	"chela/internal/cli"
	"chela/internal/config"
	"chela/internal/logfile"
)

// errTerminated is the cause with which a command ends that got SIGTERM.
var errTerminated = errors.New("terminated")

// inputTime is how long a command that has a text waits for more to come from
// standard input. What is piped by programs begins to come sooner.
const inputTime = 3 * time.Second

// Main runs the program with the process's own streams and environment, and
// returns its exit code.
func Main(args []string, version string) int {
	known := cmp.Or(version, builtVersion())
	ctx, stop := terminable(context.Background())
	defer stop()
	return cli.Main(ctx, cli.Program{
		Args: args, Environ: config.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Now: time.Now, Version: version,
		Arrives: func() bool { return process.Arrives(os.Stdin, inputTime) },
		Open: func(ctx context.Context, cfg *config.Config) (*cli.Backend, error) {
			return Backend(ctx, cfg, NewLog(cfg, logfile.New(cfg.Home.Log())), known)
		},
		Served: served,
		Serve: func(ctx context.Context, cfg *config.Config, ready func(cli.Listening)) error {
			return Serve(ctx, cfg, NewLog(cfg, io.MultiWriter(logfile.New(cfg.Home.Log()), os.Stderr)), Serving{Version: known, Ready: ready})
		},
		Examine: examine, Local: providers.Local,
		Interruptible: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return signal.NotifyContext(ctx, os.Interrupt)
		},
	})
}

// builtVersion is what the build knows of the version, where it is no release.
func builtVersion() string {
	known, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return known.Main.Version
}

// terminable returns a context that ends with SIGTERM: turns are parked, and
// go on at the next start.
func terminable(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP)
	go func() { // ends with the context, which Main ends
		select {
		case <-signals:
			cancel(errTerminated)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}
