// Package file holds the tools that work on the files of a workspace:
// read_file, write_file, file_undo, list_dir, apply_patch, glob and grep. What
// confines them is package workspace.
package file

import (
	"context"
	"errors"
	"strings"

	"chela"
	"chela/internal/excerpt"
	"chela/internal/tool"
	"chela/internal/tool/workspace"
)

// Config is what the file tools need. All fields are required. What is wrong with
// the store behind them is no result for the model, but chela.ErrLater.
type Config struct {
	Workspace workspace.Finder // where the calls of an agent work

	// Keep keeps what files held before they are written, and what is written;
	// Bytes returns it.
	Keep  workspace.KeepFunc
	Bytes func(ctx context.Context, sha256 string) ([]byte, error)

	// Written returns what file_undo takes back: the newest write of a path in
	// a thread that is not undone yet.
	Written func(ctx context.Context, thread chela.ThreadID, path string) (Written, error)
}

// Tools returns the file tools.
func Tools(cfg Config) []chela.Tool {
	find, keep, bytes, written := cfg.Workspace, cfg.Keep, cfg.Bytes, cfg.Written
	cfg.Keep = tool.KeepLater(keep)
	cfg.Bytes = func(ctx context.Context, sha256 string) ([]byte, error) {
		content, err := bytes(ctx, sha256)
		return content, tool.OrLater(err)
	}
	cfg.Written = func(ctx context.Context, thread chela.ThreadID, path string) (Written, error) {
		w, err := written(ctx, thread, path)
		return w, tool.OrLater(err)
	}
	return []chela.Tool{
		readFile(find), writeFile(cfg), fileUndo(cfg), listDir(find), applyPatch(cfg), glob(find), grep(find),
	}
}

// within returns a Run that opens the workspace for f and turns what went
// wrong for reasons the model can see into a result.
func within[In any](
	find workspace.Finder,
	f func(context.Context, *workspace.Workspace, tool.Call[In]) (chela.ToolResult, error),
) func(context.Context, tool.Call[In]) (chela.ToolResult, error) {
	return func(ctx context.Context, call tool.Call[In]) (chela.ToolResult, error) {
		ws, err := find.Open(workspace.OwnerOf(call.ToolCall))
		if err != nil {
			return chela.ToolResult{}, err
		}
		defer ws.Close() // holds nothing that could be lost
		res, err := f(ctx, ws, call)
		if err != nil && !fault(err) {
			return tool.Failed(chela.MessageOf(err)), nil
		}
		return res, err
	}
}

// preparing returns a Prepare that opens the workspace for f.
func preparing[In any](
	find workspace.Finder,
	f func(context.Context, *workspace.Workspace, tool.Call[In]) (chela.Prepared, error),
) func(context.Context, tool.Call[In]) (chela.Prepared, error) {
	return func(ctx context.Context, call tool.Call[In]) (chela.Prepared, error) {
		ws, err := find.Open(workspace.OwnerOf(call.ToolCall))
		if err != nil {
			return chela.Prepared{}, err
		}
		defer ws.Close() // holds nothing that could be lost
		return f(ctx, ws, call)
	}
}

// fault reports whether err is nothing that the model can learn from.
func fault(err error) bool {
	return chela.KindOf(err) == chela.Internal || errors.Is(err, chela.ErrLater) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// maxPreview is the largest preview, in bytes.
const maxPreview = 4 << 10

// preview cuts text to what a person is shown.
func preview(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxPreview {
		return text
	}
	const note = "\n[more is not shown]"
	return excerpt.Bytes(text, maxPreview-len(note)) + note
}

// reading judges a call that looks at path.
func reading(path string) chela.Judgement {
	return chela.Judgement{Effect: chela.EffectRead, Subjects: []string{workspace.Subject(path)}}
}
