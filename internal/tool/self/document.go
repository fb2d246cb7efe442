package self

// This part of the package holds the tools that work on an agent's documents:
// memory_read, memory_write, memory_tree and memory_delete. The document store
// is injected.

import (
	"context"
	"errors"
	"strings"

	"chela"
	"chela/internal/tool"
)

// documents stores the documents of agents. It is safe for concurrent use.
type documents interface {
	// Version returns a document at a version; 0 is the current one.
	Version(ctx context.Context, agent, path string, version int64) (chela.Document, error)
	// Tree returns the contents of a folder down to a depth; 0 is all of it.
	Tree(ctx context.Context, agent, folder string, depth int) ([]chela.DocumentNode, error)
	// Edit makes a version.
	Edit(ctx context.Context, e chela.DocumentEdit) (chela.Document, error)
	// Foresee returns the version that an edit would make, and the current one.
	Foresee(ctx context.Context, e chela.DocumentEdit) (before, after chela.Document, err error)
	// Today returns the path of today's log.
	Today() string
}

// documentTools are the tools over a store of documents.
type documentTools struct {
	documents
	keep func(ctx context.Context, content []byte) (sha256 string, err error)
}

// DocumentTools returns the tools. Keep stores a content for undo and returns its
// SHA-256.
func DocumentTools(in documents, keep func(ctx context.Context, content []byte) (sha256 string, err error)) []chela.Tool {
	d := documentTools{in, tool.KeepLater(keep)}
	return []chela.Tool{
		define("memory_read", d.read, readInput.judge), editing(d, "memory_write", writeInput.judge),
		define("memory_tree", d.tree, nil), editing(d, "memory_delete", deleteInput.judge),
	}
}

// Aliases of documents.
const (
	wordMemory    = "memory"
	wordHeartbeat = "heartbeat"
	wordDaily     = "daily_log"
)

// path returns the document that a model names.
func (d documentTools) path(named string) (string, error) {
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

// documentSubject is the text that the patterns of policies and approvals match. The
// date of a log is not part of it, so that a pattern covers every day.
func documentSubject(named string) string {
	if named == wordDaily {
		return chela.DocsDaily + "today.md"
	}
	clean, err := documentTools{}.path(named)
	if err != nil {
		return strings.ToValidUTF8(named, "\uFFFD")
	}
	return clean
}

// ofOthers reports whether a call acts for a guest or a group.
func ofOthers(call chela.ToolCall) bool { return call.Principal != chela.PrincipalOwner }

// mayRead refuses guests and groups the documents that hold the owner's private
// conversations.
func mayRead(call chela.ToolCall, path string) error {
	if !ofOthers(call) || !chela.IsPrivateDocument(path) {
		return nil
	}
	return chela.E(chela.Denied, path+" cannot be read by guests or in a group: it holds what the owner said in private").
		WithHint("go on without it, and do not tell here what it may say")
}

// mayWrite refuses guests and groups the documents that define the agent's
// identity and routines, the owner's private documents, and every edit that
// removes text. They may append to the others.
func mayWrite(call chela.ToolCall, e chela.DocumentEdit) error {
	switch {
	case !ofOthers(call):
		return nil
	case e.Kind == chela.EditDelete || e.Kind == chela.EditWrite:
		return chela.E(chela.Denied, e.Path+" cannot be replaced or deleted by guests or in a group").WithHint("add to a document, or ask the owner")
	case chela.IsPrivateDocument(e.Path) || chela.IsFixedDocument(e.Path):
		return chela.E(chela.Denied, e.Path+" cannot be changed by guests or in a group: it is the owner's").
			WithHint("name another document as target, such as knowledge/group.md")
	default:
		return nil
	}
}

// errorForModel returns an error whose hint names the tools of the model instead of
// commands for people. Errors of the store are not passed on to the model.
func errorForModel(err error) error {
	var e *chela.Error
	if errors.As(err, &e) && e.Kind == chela.NotFound {
		return e.WithHint("memory_tree lists what there is")
	}
	return tool.OrLater(err)
}
