package file

import (
	"context"
	_ "embed"
	"encoding/json"

	"chela"
	"chela/internal/tool"
	"chela/internal/tool/workspace"
)

//go:embed file_undo.md
var undoDoc string

// LastWrite is the newest write of a file that is not undone.
type LastWrite struct {
	Preimage chela.Preimage
	Now      string // SHA-256 of the file after that write; empty for a deletion
}

type undoInput struct {
	Path string `json:"path" jsonschema:"the file whose newest write is reverted"`
}

// fileUndo returns the tool that takes back a write. It is itself a write: its
// effect is prepared like any other, and can be undone. A refused undo is not
// retried when the call is resumed.
func fileUndo(c Config) chela.Tool {
	return tool.New(tool.Def[undoInput]{
		Name: "file_undo",
		Doc:  undoDoc,
		Judge: func(in undoInput) chela.Judgement {
			path := workspace.Subject(in.Path)
			return workspace.GuardObeyed(chela.Judgement{
				Effect: chela.EffectWrite, Resume: chela.ResumeRepeat, Subjects: []string{path},
				Preview: "take back the newest write of " + path,
			}, in.Path)
		},
		Prepare: preparing(c.Workspace, func(ctx context.Context, ws *workspace.Workspace, call tool.Call[undoInput]) (chela.Preparation, error) {
			p, err := c.takeBack(ctx, ws, call)
			if err != nil && fault(err) {
				return chela.Preparation{}, err
			}
			if err != nil {
				text, err := json.Marshal(intent{Refused: joinLines(chela.MessageOf(err), chela.DetailOf(err))})
				return chela.Preparation{Intent: text}, err
			}
			return chela.Preparation{Changes: []chela.Preimage{p}}, nil
		}),
		Run: within(c.Workspace, func(ctx context.Context, ws *workspace.Workspace, call tool.Call[undoInput]) (chela.ToolResult, error) {
			if len(call.Intent) > 0 {
				refused, err := decodeIntent(call.Intent)
				return tool.Failed(refused.Refused), err
			}
			return c.runUndo(ctx, ws, call)
		}),
	})
}

func joinLines(text, more string) string {
	if more == "" {
		return text
	}
	return text + "\n" + more
}

func (c Config) runUndo(ctx context.Context, ws *workspace.Workspace, call tool.Call[undoInput]) (chela.ToolResult, error) {
	if len(call.Changes) != 1 {
		return chela.ToolResult{}, chela.E(chela.Internal, "file_undo was not prepared")
	}
	if err := unchanged(ctx, ws, call.Changes); err != nil {
		return chela.ToolResult{}, err
	}
	p := call.Changes[0]
	var content []byte
	if p.After != "" {
		var err error
		if content, err = c.Bytes(ctx, p.After); err != nil {
			return chela.ToolResult{}, err
		}
	}
	if err := c.Quota.Check(ctx, ws, workspace.Change{Name: p.Path, Content: content, Delete: p.After == ""}); err != nil {
		return chela.ToolResult{}, err
	}
	if err := ws.PutBack(ctx, string(call.ID), p, content); err != nil {
		return chela.ToolResult{}, err
	}
	if p.After != "" {
		return tool.Done("put " + workspace.Show(p.Path) + " back as it was before"), nil
	}
	ws.RemoveMade(p)
	return tool.Done("removed " + workspace.Show(p.Path) + ", which did not exist before"), nil
}

// takeBack returns the change that undoes the newest write.
func (c Config) takeBack(ctx context.Context, ws *workspace.Workspace, call tool.Call[undoInput]) (p chela.Preimage, err error) {
	name, err := workspace.Clean(call.In.Path)
	if err != nil {
		return p, err
	}
	w, err := c.Written(ctx, call.Thread, name)
	if err != nil {
		return p, err
	}
	is, err := ws.Find(ctx, name)
	if err != nil {
		return p, err
	}
	if is.Sum() != w.Now {
		return p, c.changed(ctx, is, w.Now)
	}
	p = chela.Preimage{Kind: chela.PreimageFile, Path: name, Before: w.Now, After: w.Preimage.Before, Mode: w.Preimage.Mode, Made: w.Preimage.Made}
	if !is.Exists {
		return p, nil
	}
	if p.After == "" {
		p.Mode = uint32(is.Mode)
	}
	_, err = c.Keep(ctx, is.Content)
	return p, err
}

// changed is the error for a file that was modified after the call that wrote
// it.
func (c Config) changed(ctx context.Context, is workspace.PathState, left string) error {
	var was []byte
	if left != "" {
		var err error
		if was, err = c.Bytes(ctx, left); err != nil {
			return err
		}
	}
	return chela.E(chela.Conflict, workspace.Show(is.Name)+" was changed by something else since; nothing was taken back").
		WithHint("change it with apply_patch instead").WithDetail(workspace.Diff(workspace.Show(is.Name), was, is.Content))
}
