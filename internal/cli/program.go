// Package cli holds the commands: each parses its flags and arguments, calls
// the system through a small interface, and prints.
//
// The rules of its manners:
//
//   - What was asked for goes to standard output: a table, or one JSON
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

	"chela/internal/config"
)

// A Program is what the commands run in. All fields but Version are required.
type Program struct {
	Args    []string // without the name of the program
	Environ []string
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Now     func() time.Time
	Version string // of a release; empty says what the build knows

	// Arrives waits a few seconds for something, or its end, to come from
	// standard input, and reports whether it did. Somebody who holds a pipe
	// open and says nothing, as ssh does, would be waited for in vain.
	Arrives func() bool

	// Open opens the home of a configuration, through its daemon if one runs.
	Open func(ctx context.Context, c *config.Config) (*Backend, error)

	// Served reports whether a daemon holds a home.
	Served func(ctx context.Context, home config.Home) bool

	// Serve serves a home until ctx ends, and then lets turns reach their next
	// commit and ends everything it began, which is no error. Once it answers on
	// every address it calls ready, once. It is a Conflict if the home is served
	// already, Denied if it would be open to other machines unprotected, and
	// Unavailable if it cannot listen.
	Serve func(ctx context.Context, c *config.Config, ready func(Listening)) error

	// Examine looks at everything that can be wrong with a home. It changes
	// nothing.
	Examine func(ctx context.Context, c *config.Config) []Finding

	// Local looks for a model on this machine and returns it as provider/model,
	// or nothing soon after it found none.
	Local func(ctx context.Context, c *config.Config) string

	// Interruptible returns a context that ends when the person presses
	// Ctrl-C. After its cancel function was called, Ctrl-C ends the process
	// as usual.
	Interruptible func(ctx context.Context) (context.Context, context.CancelFunc)
}
