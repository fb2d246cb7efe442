package file

import (
	"context"

	"chela"
	"chela/internal/tool"
	"chela/internal/tool/workspace"
)

// LastWrite is the newest write of a file that is not undone.
type LastWrite struct {
	Preimage chela.Preimage
	Now      string // SHA-256 of the file after that write; empty for a deletion
}

type undoInput struct {
	Path string `json:"path" jsonschema:"the file whose newest write is reverted"`
}

func (in undoInput) judge() chela.Judgement {
	return writing(in.Path, "take back the newest write of "+workspace.Subject(in.Path))
}

// prepareUndo prepares an undo as the write that it is, so that it can be undone
// itself. A refused undo is not retried when the call is resumed.
func (c Config) prepareUndo(ctx context.Context, ws *workspace.Workspace, call tool.Call[undoInput]) (chela.Preparation, error) {
	p, err := c.takeBack(ctx, ws, call)
	switch {
	case err == nil:
		return chela.Preparation{Changes: []chela.Preimage{p}}, nil
	case fault(err):
		return chela.Preparation{}, err
	}
	text := chela.MessageOf(err)
	if detail := chela.DetailOf(err); detail != "" {
		text += "\n" + detail
	}
	return intent{Refused: text}.prepared(nil)
}

func (c Config) undo(ctx context.Context, ws *workspace.Workspace, call tool.Call[undoInput]) (chela.ToolResult, error) {
	if len(call.Intent) > 0 {
		refused, err := decodeIntent(call.Intent)
		return tool.Failed(refused.Refused), err
	}
	if len(call.Changes) != 1 {
		return chela.ToolResult{}, chela.E(chela.Internal, "file_undo was not prepared")
	}
	if _, err := pending(ctx, ws, call.Changes); err != nil {
		return chela.ToolResult{}, err
	}
	p := call.Changes[0]
	change, err := c.change(ctx, p)
	if err != nil {
		return chela.ToolResult{}, err
	}
	if err := c.Quota.Check(ctx, ws, change); err != nil {
		return chela.ToolResult{}, err
	}
	if err := ws.PutBack(ctx, string(call.ID), p, change.Content); err != nil {
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
		return p, tool.OrLater(err)
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
	was, err := c.change(ctx, chela.Preimage{After: left})
	if err != nil {
		return err
	}
	return chela.E(chela.Conflict, workspace.Show(is.Name)+" was changed by something else since; nothing was taken back").
		WithHint("change it with apply_patch instead").WithDetail(workspace.Diff(workspace.Show(is.Name), was.Content, is.Content))
}

// change returns the change of a prepared file, with its content.
func (c Config) change(ctx context.Context, p chela.Preimage) (change workspace.Change, err error) {
	change = workspace.Change{Name: p.Path, Delete: p.After == ""}
	if !change.Delete {
		change.Content, err = c.Bytes(ctx, p.After)
	}
	return change, tool.OrLater(err)
}
