// Package file holds the tools that work on the files of a workspace:
// read_file, write_file, file_undo, list_dir, apply_patch, glob and grep.
// Package workspace confines them to its folder.
package file

import (
	"context"
	"errors"
	"strings"

	"chela"
	"chela/internal/platform/excerpt"
	"chela/internal/tool"
	"chela/internal/tool/workspace"
)

// Config holds the dependencies of the file tools. All fields but
// Quota are required. A
// failure of the store behind them is returned as chela.ErrLater, never as a
// result for the model.
type Config struct {
	Workspace workspace.Finder // the directory an agent's calls work in
	Quota     *workspace.Quota // of each workspace; nil for none

	// Keep stores the pre-image of a file before a write, and the new content;
	// Bytes returns it.
	Keep  workspace.KeepFunc
	Bytes func(ctx context.Context, sha256 string) ([]byte, error)

	// Written returns the write that file_undo takes back: the newest write of
	// a path in a thread that is not undone yet.
	Written func(ctx context.Context, thread chela.ThreadID, path string) (LastWrite, error)
}

// Tools returns the file tools.
func Tools(cfg Config) []chela.Tool {
	find, keep, bytes, written := cfg.Workspace, cfg.Keep, cfg.Bytes, cfg.Written
	cfg.Keep = tool.KeepLater(keep)
	cfg.Bytes = func(ctx context.Context, sha256 string) ([]byte, error) {
		content, err := bytes(ctx, sha256)
		return content, tool.OrLater(err)
	}
	cfg.Written = func(ctx context.Context, thread chela.ThreadID, path string) (LastWrite, error) {
		w, err := written(ctx, thread, path)
		return w, tool.OrLater(err)
	}
	return []chela.Tool{
		readFile(find), writeFile(cfg), fileUndo(cfg), listDir(find), applyPatch(cfg), glob(find), grep(find),
	}
}

// within returns a Run that opens the workspace for f and turns errors the
// model can act on into a result.
func within[In any](
	find workspace.Finder,
	f func(context.Context, *workspace.Workspace, tool.Call[In]) (chela.ToolResult, error),
) func(context.Context, tool.Call[In]) (chela.ToolResult, error) {
	return func(ctx context.Context, call tool.Call[In]) (chela.ToolResult, error) {
		ws, err := find.Open(workspace.OwnerOf(call.ToolCall))
		if err != nil {
			return chela.ToolResult{}, err
		}
		defer ws.Close() // nothing to lose: read only
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
	f func(context.Context, *workspace.Workspace, tool.Call[In]) (chela.Preparation, error),
) func(context.Context, tool.Call[In]) (chela.Preparation, error) {
	return func(ctx context.Context, call tool.Call[In]) (chela.Preparation, error) {
		ws, err := find.Open(workspace.OwnerOf(call.ToolCall))
		if err != nil {
			return chela.Preparation{}, err
		}
		defer ws.Close() // nothing to lose: read only
		return f(ctx, ws, call)
	}
}

// fault reports whether err is internal, so that the model cannot act on it.
func fault(err error) bool {
	return chela.KindOf(err) == chela.Internal || errors.Is(err, chela.ErrLater) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// maxPreview is the largest preview, in bytes.
const maxPreview = 4 << 10

// preview truncates text for the person who is asked.
func preview(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return excerpt.Page(text, maxPreview, "the call")
}

// reading judges a call that reads path.
func reading(path string) chela.Judgement {
	return chela.Judgement{Effect: chela.EffectRead, Subjects: []string{workspace.Subject(path)}}
}
