package cli

import (
	"context"
	"io"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/cli/talk"
)

// A Backend is an open home, grouped by noun. The commands use it from one
// goroutine.
type Backend struct {
	talk.Connection
	Transcripts transcriber
	Served      bool // a daemon serves the home, also after this process has ended

	// Leave states that this process begins no background work: a process that stays
	// does.
	Leave func()

	// Seed gives an agent its initial documents, unless it ever had any, and
	// reports whether it did.
	Seed func(ctx context.Context, agent string) (bool, error)

	// Logs passes the lines of the log to show, oldest first: existing lines
	// and, if follow is set, each new one until ctx ends, which is no error.
	Logs func(ctx context.Context, follow bool, show func(line string)) error

	// Resume continues the turns that an earlier process left. It does not wait
	// for them.
	Resume func(ctx context.Context)

	// Close lets turns reach their next commit and closes the home. Unfinished
	// turns continue with the next Resume.
	Close func() error
}

// caller carries out operations of an open home.
type caller interface {
	Do(ctx context.Context, r api.Request, out any) error
}

// transcriber exports and imports threads.
type transcriber interface {
	Export(ctx context.Context, id chela.ThreadID, how api.Export, to io.Writer) error
	Import(ctx context.Context, key chela.SessionKey, from io.Reader) (api.ImportResult, error)
}

// A ListenAddresses describes the addresses of chela serve.
type ListenAddresses struct {
	Addresses []string `json:"addresses"` // such as "127.0.0.1:7717"; no port is 0
	Tokens    int      `json:"tokens"`    // number of usable tokens
}
