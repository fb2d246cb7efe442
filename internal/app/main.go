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

	"chela/internal/api"
	"chela/internal/background"
	"chela/internal/config"
	"chela/internal/engine/agents"
	"chela/internal/platform/datadir"
	"chela/internal/safety/leak"
	"chela/internal/safety/vault"
	"chela/internal/store"
	"chela/internal/surface/cli"
	"chela/internal/surface/terminal"
)

// errTerminated is the cause of a command that ends on SIGTERM.
var errTerminated = errors.New("terminated")

// inputTime is how long a command with a text argument waits for more text on
// standard input. Programs start writing to a pipe sooner.
const inputTime = 3 * time.Second

// Main runs the program with the process's own streams and environment, and
// returns its exit code.
func Main(args []string, version string) (code int) {
	postponeCollection()
	leaks := newRedactor()
	errs := stderr{leaks.Writer(os.Stderr), os.Stderr}
	defer func() {
		if p := recover(); p != nil {
			code = crashed(errs, p)
		}
	}()
	ctx, stop := terminable(context.Background())
	defer stop()
	dir, _ := os.Getwd() // one that was removed is none
	return cli.Main(ctx, cli.Program{
		Dir: dir, Args: args, Environ: config.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: errs,
		Version: version, Homes: homes{cmp.Or(version, builtVersion()), leaks},
		Arrives: func() bool { return terminal.InputArrives(os.Stdin, inputTime) }, Now: time.Now,
		Interruptible: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return signal.NotifyContext(ctx, os.Interrupt)
		},
	})
}

// homes opens, serves and examines homes for the commands, as a version of the program.
type homes struct {
	version string
	leaks   *leak.Redactor
}

// Open opens a home.
func (h homes) Open(ctx context.Context, cfg *config.Config) (*cli.Backend, error) {
	leaks := withSettings(h.leaks, cfg)
	return backend(ctx, cfg, NewLog(cfg, leaks.Writer(datadir.NewLog(cfg.Home.Log()))), opening{version: h.version, now: time.Now, leaks: leaks})
}

// Served reports whether a daemon serves a home.
func (homes) Served(ctx context.Context, home config.Home) bool { return served(ctx, home) }

// Serve serves a home.
func (h homes) Serve(ctx context.Context, cfg *config.Config, ready func(cli.ListenAddresses)) error {
	leaks := withSettings(h.leaks, cfg)
	log := NewLog(cfg, leaks.Writer(io.MultiWriter(datadir.NewLog(cfg.Home.Log()), os.Stderr)))
	return Serve(ctx, cfg, log, ServeOptions{Version: h.version, Leaks: leaks, Ready: ready})
}

// Examine checks a home.
func (homes) Examine(ctx context.Context, cfg *config.Config) []api.Finding {
	a := &App{cfg: cfg, blobs: datadir.NewBlobs(cfg.Home.Blobs()), now: time.Now} // for its sandbox and the names of its tools
	a.folders = a.newFolders()                                                    // without a store: no tool runs
	tools, err := a.builtins()
	if a.isolation == nil {
		return []api.Finding{api.Unwell("sandbox", err)}
	}
	defer a.isolation.Close() // it has only looked
	found := background.ExamineHome(ctx, background.Examination{Settings: cfg, Now: time.Now(), Isolation: a.isolation.Report(ctx), Secrets: func(s *store.Store) *vault.References {
		return References(cfg, vault.New(s, vault.Config{Source: MasterKey(cfg), Now: time.Now}))
	}})
	if err == nil {
		err = checkRules(cfg, tools)
	}
	if err != nil {
		found = append(found, api.Unwell("policy", err))
	}
	return found
}

// Local looks for a model on this machine.
func (homes) Local(ctx context.Context, cfg *config.Config) string { return agents.Local(ctx, cfg) }

// builtVersion is the version from the build information, for builds without a
// release version.
func builtVersion() string {
	known, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return known.Main.Version
}

// terminable returns a context that SIGTERM cancels: turns are parked, and
// continue at the next start.
func terminable(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP)
	go func() { // ends with the context, which Main cancels
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
