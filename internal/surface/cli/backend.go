package cli

import (
	"context"
	"io"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/cli/jobs"
)

// A Backend is an open home, grouped by noun. The commands use it from one
// goroutine.
type Backend struct {
	API          caller
	Conversation conversation
	Transcripts  transcriber
	Jobs         jobs.Connection // without API

	// Seed gives an agent its initial documents, unless it ever had any, and
	// reports whether it did.
	Seed func(ctx context.Context, agent string) (bool, error)

	// Logs passes the lines of the log to show, oldest first: existing lines
	// and, if follow is set, each new one until ctx ends, which is no error.
	Logs func(ctx context.Context, follow bool, show func(line string)) error

	// Listen passes the events of a session from now on to show, sequentially,
	// until ctx ends: ends of turns, and notices. Events may be lost.
	Listen func(ctx context.Context, key chela.SessionKey, show func(chela.Event))

	// Attach stores a file for a message and returns its entry in
	// Inbound.Attachments.
	Attach func(ctx context.Context, name string, content io.Reader) (chela.Attachment, error)

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

// conversation is the part of a home used to talk to an agent.
type conversation interface {
	// Ask commits in and follows the turn that takes it, until the turn ends or
	// waits for an approval. It passes the events of that turn to show,
	// sequentially and in order; show is not called after Ask returns. A
	// message without a MessageID gets one. If ctx ends first, Ask returns its
	// error and the turn continues; the returned turn is its last known state,
	// with an empty ID if it was not opened yet. A command has no turn: its
	// reply is the only event, of the kind EventReply, and the ID stays empty.
	Ask(ctx context.Context, in chela.Inbound, show func(chela.Event)) (chela.Turn, error)

	// Follow does the same for an existing turn, such as one whose approval was
	// just answered. A turn that has ended is returned at once.
	Follow(ctx context.Context, id chela.TurnID, show func(chela.Event)) (chela.Turn, error)
}

// transcriber exports and imports threads.
type transcriber interface {
	Export(ctx context.Context, id chela.ThreadID, how api.Export, to io.Writer) error
	Import(ctx context.Context, key chela.SessionKey, from io.Reader) (api.Imported, error)
}

// A Listening describes the addresses of chela serve.
type Listening struct {
	Addresses []string `json:"addresses"` // such as "127.0.0.1:7717"; no port is 0
	Tokens    int      `json:"tokens"`    // number of usable tokens
}
