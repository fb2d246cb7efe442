// Package memory holds the tools that work on an agent's documents: memory_read,
// memory_write, memory_tree and memory_delete. Where the documents are kept is
// handed in.
package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"chela"
	"chela/internal/tool"
)

// Documents are what the tools work on. All fields are required; the functions
// may be called by several goroutines at once.
type Documents struct {
	// Version returns a document as it was at a version; 0 is as it is.
	Version func(ctx context.Context, agent, path string, version int64) (chela.Document, error)
	Tree    func(ctx context.Context, agent, folder string, depth int) ([]chela.DocumentNode, error)

	// Edit makes a version; Foresee tells what it would be, and what there is.
	Edit    func(ctx context.Context, e chela.DocumentEdit) (chela.Document, error)
	Foresee func(ctx context.Context, e chela.DocumentEdit) (before, after chela.Document, err error)

	// Today returns the path of today's log.
	Today func() string

	// Keep keeps a content for undo and returns its SHA-256.
	Keep func(ctx context.Context, content []byte) (sha256 string, err error)
}

// Tools returns the tools.
func Tools(d Documents) []chela.Tool {
	d.Keep = tool.KeepLater(d.Keep)
	return []chela.Tool{d.read(), d.write(), d.tree(), d.delete()}
}

// Words that stand for documents.
const (
	wordMemory    = "memory"
	wordHeartbeat = "heartbeat"
	wordDaily     = "daily_log"
)

// path returns the document that a model means.
func (d Documents) path(named string) (string, error) {
	switch named {
	case wordMemory:
		return chela.DocMemory, nil
	case wordHeartbeat:
		return chela.DocHeartbeat, nil
	case wordDaily:
		return d.Today(), nil
	default:
		return chela.CleanDocumentPath(named)
	}
}

// subject is what the patterns of policies and approvals are matched against.
// The day of a log is not part of it: a pattern is for every day.
func subject(named string) string {
	if named == wordDaily {
		return chela.DocsDaily + "today.md"
	}
	clean, err := Documents{}.path(named)
	if err != nil {
		return strings.ToValidUTF8(named, "\uFFFD")
	}
	return clean
}

// inGroup reports whether others than the owner read along. A session that says
// nothing about that is taken for a group.
func inGroup(session chela.SessionKey) bool {
	key, err := chela.ParseSessionKey(session)
	return err != nil || key.IsGroup()
}

// keepsPrivate refuses what a group must not do to a document.
func keepsPrivate(call chela.ToolCall, path, done string) error {
	if !inGroup(call.Session) || !chela.IsPrivateDocument(path) {
		return nil
	}
	return chela.E(chela.Denied, fmt.Sprintf("%s cannot be %s in a group: it holds what the owner said in private", path, done)).
		WithHint("go on without it, and do not tell here what it may say")
}

// forModel returns an error with a hint on what the model can do, in the place of
// what people can. Trouble of the store is none of its business.
func forModel(err error) error {
	var e *chela.Error
	if errors.As(err, &e) && e.Kind == chela.NotFound {
		return e.WithHint("memory_tree lists what there is")
	}
	return tool.OrLater(err)
}
