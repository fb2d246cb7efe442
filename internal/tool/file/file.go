// Package file holds the tools that work on the files of a workspace:
// read_file, write_file, file_undo, list_dir, apply_patch, glob and grep.
// Package workspace confines them to its folder.
package file

import (
	"context"
	"embed"
	"errors"
	"strings"

	"chela"
	"chela/internal/platform/excerpt"
	"chela/internal/tool"
	"chela/internal/tool/workspace"
)

//go:embed *.md
var docs embed.FS

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
	find := cfg.Workspace
	cfg.Keep = cfg.Keep.Later()
	patch := changing(find, "apply_patch", cfg.preparePatch, cfg.patch)
	patch.Happened = tool.Decoded(opening(find, cfg.patchHappened))
	tools := []chela.Tool{
		looking(find, "read_file", readFile), changing(find, "write_file", cfg.prepareWrite, cfg.write),
		changing(find, "file_undo", cfg.prepareUndo, cfg.undo), looking(find, "list_dir", listDir), patch,
		looking(find, "glob", glob), looking(find, "grep", grep),
	}
	for i := range tools {
		if tools[i].Name != "file_undo" { // it reads the journal and stored contents
			tools[i].Domain = chela.DomainWorker
		}
	}
	return tools
}

// An insideFunc works on a call in its workspace.
type insideFunc[In, Out any] func(ctx context.Context, ws *workspace.Workspace, call tool.Call[In]) (Out, error)

// opening returns a function that opens the workspace of a call for f.
func opening[In, Out any](find workspace.Finder, f insideFunc[In, Out]) func(context.Context, tool.Call[In]) (Out, error) {
	return func(ctx context.Context, call tool.Call[In]) (out Out, err error) {
		ws, err := find.Open(ctx, workspace.OwnerOf(call.ToolCall))
		if err != nil {
			return out, err
		}
		defer ws.Close() // nothing to lose: read only
		return f(ctx, ws, call)
	}
}

// define returns the tool called name. Errors of run that the model can act on
// become results.
func define[In any](name string, run func(context.Context, tool.Call[In]) (chela.ToolResult, error), judge func(In) chela.Judgement) chela.Tool {
	return tool.New(name, tool.Doc(docs, name), func(ctx context.Context, call tool.Call[In]) (chela.ToolResult, error) {
		res, err := run(ctx, call)
		if err != nil && !fault(err) {
			return tool.Failed(chela.MessageOf(err)), nil
		}
		return res, err
	}, judge)
}

// changing returns the tool called name, which changes files as it prepared to.
func changing[In interface{ judge() chela.Judgement }](
	find workspace.Finder, name string, prepare insideFunc[In, chela.Preparation], run insideFunc[In, chela.ToolResult],
) chela.Tool {
	t := define(name, opening(find, run), In.judge)
	t.Prepare = tool.Decoded(opening(find, prepare))
	return t
}

// looking returns the tool called name, which reads the file or directory that
// its input names, in the workspace or one of its roots; run gets its cleaned path.
func looking[In interface{ path() string }](
	find workspace.Finder, name string, run func(ctx context.Context, ws *workspace.Workspace, path string, in In) (chela.ToolResult, error),
) chela.Tool {
	return define(name, func(ctx context.Context, call tool.Call[In]) (res chela.ToolResult, err error) {
		ws, path, err := find.OpenAt(ctx, workspace.OwnerOf(call.ToolCall), call.In.path())
		if err != nil {
			return res, err
		}
		defer ws.Close() // read only
		return run(ctx, ws, path, call.In)
	}, func(in In) chela.Judgement {
		return chela.Judgement{Effect: chela.EffectRead, Subjects: []string{workspace.Subject(in.path())}}
	})
}

// writing judges a call that writes a file, and may be repeated.
func writing(path, preview string) chela.Judgement {
	return workspace.GuardObeyed(chela.Judgement{
		Effect: chela.EffectWrite, Resume: chela.ResumeRepeat, Subjects: []string{workspace.Subject(path)}, Preview: preview,
	}, path)
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
