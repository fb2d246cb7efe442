// Package cli holds the commands: each parses its flags and arguments, calls
// the system through a small interface, and prints.
//
// Conventions:
//
//   - The result goes to standard output: a table, or one JSON
//     document with --json. Everything else goes to standard error.
//   - An error is one line, "chela: what; cure".
//   - The exit code is 0 when it is done, 1 when it failed, 2 for wrong use, 3
//     when something was denied or waits for an approval, 4 when a limit is
//     reached, and 130 when it was interrupted. The limit may be a provider's;
//     with --json, failure.limit names it only if it is chela's own.
//   - Text of models, tools and other people never reaches a terminal with
//     characters that the terminal would act on.
package cli

import (
	"context"
	"io"
	"time"

	"chela/internal/api"
	"chela/internal/config"
)

// A Program holds the dependencies of the commands. All fields but Version are
// required.
type Program struct {
	Args    []string // without the name of the program
	Environ []string
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Dir     string // the current folder; empty if it is not known
	Version string // of a release; empty selects the version from the build information
	Homes   homes
	Now     func() time.Time // the clock from which words such as "tomorrow" count

	// Arrives waits a few seconds for data or EOF on standard input, and
	// reports whether either arrived. A caller that holds a pipe open without
	// writing, as ssh does, would block the command forever.
	Arrives func() bool

	// Interruptible returns a context that Ctrl-C cancels. After its cancel
	// function was called, Ctrl-C ends the process as usual.
	Interruptible func(ctx context.Context) (context.Context, context.CancelFunc)
}

// homes opens, serves and examines homes.
type homes interface {
	// Open opens the home of a configuration, through its daemon if one runs.
	Open(ctx context.Context, c *config.Config) (*Backend, error)

	// Served reports whether a daemon serves a home.
	Served(ctx context.Context, home config.Home) bool

	// Serve serves a home until ctx ends, and then lets turns reach their next
	// commit and stops all its goroutines, which is no error. Once it accepts
	// requests on every address it calls ready, once. It is a Conflict if the
	// home is served already, Denied if it would be open to other machines
	// without a token, and Unavailable if it cannot listen.
	Serve(ctx context.Context, c *config.Config, ready func(ListenAddresses)) error

	// Examine checks a home for all known problems. It changes nothing.
	Examine(ctx context.Context, c *config.Config) []api.Finding

	// Local looks for a model on this machine and returns it as provider/model,
	// or nothing after a short timeout.
	Local(ctx context.Context, c *config.Config) string
}
