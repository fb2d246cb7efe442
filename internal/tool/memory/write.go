package memory

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"chela"
	"chela/internal/excerpt"
	"chela/internal/tool"
)

// maxPreview is how much of a text a person is shown, in bytes.
const maxPreview = 4000

//go:embed memory_write.md
var writeDoc string

//go:embed memory_delete.md
var deleteDoc string

type writeInput struct {
	Content string `json:"content" jsonschema:"the text, in Markdown"`
	Target  string `json:"target,omitempty" jsonschema:"memory, daily_log, heartbeat or a path; daily_log if left out"`
	Append  *bool  `json:"append,omitempty" jsonschema:"true adds to the end, false replaces the whole; true if left out"`
}

// target is the document that is written.
func (in writeInput) target() string { return cmp.Or(in.Target, wordDaily) }

// kind is what becomes of the document.
func (in writeInput) kind() chela.EditKind {
	switch {
	case in.Append != nil && !*in.Append:
		return chela.EditWrite
	case in.target() == wordDaily:
		return chela.EditNote
	default:
		return chela.EditAppend
	}
}

func (d Documents) write() chela.Tool {
	return tool.New(tool.Def[writeInput]{
		Name: "memory_write",
		Doc:  writeDoc,
		Judge: func(in writeInput) chela.Judgement {
			verb := "add to"
			if in.kind() == chela.EditWrite {
				verb = "replace"
			}
			preview := fmt.Sprintf("%s %s, %d bytes:\n%s", verb, subject(in.target()), len(in.Content), excerpt.Bytes(in.Content, maxPreview))
			return writing(in.target(), preview)
		},
		Prepare: func(ctx context.Context, call tool.Call[writeInput]) (chela.Prepared, error) {
			return d.prepare(ctx, call.ToolCall, call.In.edit())
		},
		Run: func(ctx context.Context, call tool.Call[writeInput]) (chela.ToolResult, error) {
			return d.run(ctx, call.ToolCall, call.In.edit())
		},
	})
}

// edit is what a call of memory_write asks for; its path is as the model wrote
// it.
func (in writeInput) edit() chela.DocumentEdit {
	return chela.DocumentEdit{Kind: in.kind(), Path: in.target(), Text: in.Content}
}

type deleteInput struct {
	Path string `json:"path" jsonschema:"the document, such as projects/house/plan.md"`
}

func (d Documents) delete() chela.Tool {
	edit := func(in deleteInput) chela.DocumentEdit {
		return chela.DocumentEdit{Kind: chela.EditDelete, Path: in.Path}
	}
	return tool.New(tool.Def[deleteInput]{
		Name:  "memory_delete",
		Doc:   deleteDoc,
		Judge: func(in deleteInput) chela.Judgement { return writing(in.Path, "delete "+subject(in.Path)) },
		Prepare: func(ctx context.Context, call tool.Call[deleteInput]) (chela.Prepared, error) {
			return d.prepare(ctx, call.ToolCall, edit(call.In))
		},
		Run: func(ctx context.Context, call tool.Call[deleteInput]) (chela.ToolResult, error) {
			return d.run(ctx, call.ToolCall, edit(call.In))
		},
	})
}

// writing judges a call that changes a document. A document takes an edit once,
// so a call that was cut off is made again.
func writing(named, preview string) chela.Judgement {
	return chela.Judgement{
		Effect: chela.EffectWrite, Resume: chela.ResumeRepeat, Subjects: []string{subject(named)}, Preview: strings.ToValidUTF8(preview, "\uFFFD"),
	}
}

// An intent is what a call decided before it ran: the day of a log may pass
// until it is run again.
type intent struct {
	Path string `json:"path"`
}

// prepare returns what a call is going to change, and keeps the contents.
func (d Documents) prepare(ctx context.Context, call chela.ToolCall, e chela.DocumentEdit) (chela.Prepared, error) {
	e, err := d.complete(call, e)
	if err != nil {
		return chela.Prepared{}, err
	}
	before, after, err := d.Foresee(ctx, e)
	if err != nil {
		return chela.Prepared{}, forModel(err)
	}
	change, err := d.keep(ctx, before, after)
	if err != nil {
		return chela.Prepared{}, forModel(err)
	}
	planned, err := json.Marshal(intent{e.Path})
	if err != nil {
		return chela.Prepared{}, fmt.Errorf("write down what a call intends: %w", err)
	}
	return chela.Prepared{Intent: planned, Changes: []chela.Preimage{change}}, nil
}

// run makes an edit. What it changed goes into the result where somebody else
// wrote the document since the call was prepared.
func (d Documents) run(ctx context.Context, call chela.ToolCall, e chela.DocumentEdit) (chela.ToolResult, error) {
	e, err := d.complete(call, e)
	if err != nil {
		return tool.Outcome("", forModel(err))
	}
	made, err := d.Edit(ctx, e)
	if err != nil {
		return tool.Outcome("", forModel(err))
	}
	change, err := d.changed(ctx, made)
	if err != nil {
		return tool.Outcome("", forModel(err))
	}
	res := tool.Done(told(e.Kind, made))
	if len(call.Changes) != 1 || call.Changes[0] != change {
		res.Changes = []chela.Preimage{change}
	}
	return res, nil
}

// complete returns an edit with all that a call says about it.
func (d Documents) complete(call chela.ToolCall, e chela.DocumentEdit) (chela.DocumentEdit, error) {
	if e.Kind == chela.EditWrite && e.Path == wordDaily {
		return e, chela.E(chela.Invalid, "the log of a day only grows").WithHint("leave append out, or name its path as target to write it anew")
	}
	path, err := d.path(e.Path)
	if err != nil {
		return e, err
	}
	var planned intent
	if len(call.Intent) > 0 {
		if err := json.Unmarshal(call.Intent, &planned); err != nil {
			return e, fmt.Errorf("read what call %s intended: %w", call.ID, err)
		}
	}
	e.Path = cmp.Or(planned.Path, path)
	e.Agent, e.Key = call.Agent, string(call.ID)
	e.Author = chela.Author{Turn: call.Turn, Call: call.ID}
	switch e.Kind {
	case chela.EditWrite:
		err = keepsPrivate(call, e.Path, "replaced")
	case chela.EditDelete:
		err = keepsPrivate(call, e.Path, "deleted")
	}
	if err == nil && e.Path == chela.DocHeartbeat && inGroup(call.Session) {
		err = chela.E(chela.Denied, e.Path+" cannot be changed in a group: it says what is done for the owner unasked")
	}
	return e, err
}

// changed returns what an edit has changed, from the version before the one
// that it made.
func (d Documents) changed(ctx context.Context, made chela.Document) (chela.Preimage, error) {
	var before chela.Document
	if made.Version > 1 {
		var err error
		before, err = d.Version(ctx, made.Agent, made.Path, made.Version-1)
		if err != nil && chela.KindOf(err) != chela.NotFound { // others may have written so often that it is not kept
			return chela.Preimage{}, err
		}
	}
	return d.keep(ctx, before, made)
}

// keep keeps what a document said and says, and returns it as a change.
func (d Documents) keep(ctx context.Context, before, after chela.Document) (change chela.Preimage, err error) {
	change = chela.Preimage{Kind: chela.PreimageDocument, Path: after.Path}
	if before.Version > 0 && !before.Deleted {
		if change.Before, err = d.Keep(ctx, []byte(before.Text)); err != nil {
			return change, err
		}
	}
	if !after.Deleted {
		change.After, err = d.Keep(ctx, []byte(after.Text))
	}
	return change, err
}

// told says what an edit did.
func told(kind chela.EditKind, d chela.Document) string {
	switch kind {
	case chela.EditDelete:
		return fmt.Sprintf("deleted %s; version %d and those before it are kept", d.Path, d.Version-1)
	case chela.EditWrite:
		return fmt.Sprintf("wrote %s: %d bytes, version %d", d.Path, d.Size, d.Version)
	default:
		return fmt.Sprintf("added to %s: %d bytes now, version %d", d.Path, d.Size, d.Version)
	}
}
