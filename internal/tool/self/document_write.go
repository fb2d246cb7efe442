package self

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"chela"
	"chela/internal/platform/excerpt"
	"chela/internal/tool"
)

// maxPreview limits the text shown to the person who approves, in bytes.
const maxPreview = 4000

type writeInput struct {
	Content string `json:"content" jsonschema:"the text, in Markdown"`
	Target  string `json:"target,omitempty" jsonschema:"memory, daily_log, heartbeat or a path; daily_log by default"`
	Append  *bool  `json:"append,omitempty" jsonschema:"true (default) adds to the end, false replaces the whole"`
}

// target is the document to write.
func (in writeInput) target() string { return cmp.Or(in.Target, wordDaily) }

// kind is the kind of change.
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

func (in writeInput) judge() chela.Judgement {
	verb := "add to"
	if in.kind() == chela.EditWrite {
		verb = "replace"
	}
	preview := fmt.Sprintf("%s %s, %d bytes:\n%s", verb, documentSubject(in.target()), len(in.Content), excerpt.Page(in.Content, maxPreview, "the call"))
	j := writing(in.target(), preview)
	if in.kind() == chela.EditWrite && blank(in.Content) {
		j.Power = chela.PowerDelete
	}
	return j
}

// edit returns the change that a call of memory_write asks for; its path is as
// the model wrote it.
func (in writeInput) edit() chela.DocumentEdit {
	return chela.DocumentEdit{Kind: in.kind(), Path: in.target(), Text: in.Content}
}

type deleteInput struct {
	Path string `json:"path" jsonschema:"the document, such as projects/house/plan.md"`
}

func (in deleteInput) edit() chela.DocumentEdit {
	return chela.DocumentEdit{Kind: chela.EditDelete, Path: in.Path}
}

// judge judges a call that deletes a document. BOOTSTRAP.md ends by asking for
// its own deletion, which removes an instruction and adds none.
func (in deleteInput) judge() chela.Judgement {
	j := powerful(chela.PowerDelete, writing(in.Path, "delete "+documentSubject(in.Path)))
	if j.Subjects[0] == chela.DocBootstrap {
		j.Risk, j.Exact = "", false
	}
	return j
}

// editing returns the tool called name, which makes the edit of its input.
func editing[In interface{ edit() chela.DocumentEdit }](d documentTools, name string, judge func(In) chela.Judgement) chela.Tool {
	t := define(name, func(ctx context.Context, call tool.Call[In]) (chela.ToolResult, error) {
		res, err := d.run(ctx, call.ToolCall, call.In.edit())
		return res, errorForModel(err)
	}, judge)
	t.Prepare = tool.Decoded(func(ctx context.Context, call tool.Call[In]) (chela.Preparation, error) {
		return d.prepare(ctx, call.ToolCall, call.In.edit())
	})
	return t
}

// writing judges a call that changes a document. An edit is applied to a
// document once, so an interrupted call is repeated.
func writing(named, preview string) chela.Judgement {
	j := change(strings.ToValidUTF8(preview, "\uFFFD"), documentSubject(named))
	if path := j.Subjects[0]; chela.IsIdentityDocument(path) {
		j.Risk, j.Exact = "it changes "+path+", which the agent obeys in every later turn", true
	}
	return j
}

// An editIntent records the decisions of a call before it runs: the date of a daily
// log may change until it is resumed.
type editIntent struct {
	Path string `json:"path"`
}

// prepare returns the change that a call is about to make, and stores the
// contents.
func (d documentTools) prepare(ctx context.Context, call chela.ToolCall, e chela.DocumentEdit) (chela.Preparation, error) {
	e, err := d.complete(call, e)
	if err != nil {
		return chela.Preparation{}, err
	}
	before, after, err := d.Foresee(ctx, e)
	if err != nil {
		return chela.Preparation{}, errorForModel(err)
	}
	change, err := d.preimage(ctx, before, after)
	if err != nil {
		return chela.Preparation{}, errorForModel(err)
	}
	planned, err := json.Marshal(editIntent{e.Path})
	if err != nil {
		return chela.Preparation{}, fmt.Errorf("write down what a call intends: %w", err)
	}
	return chela.Preparation{Intent: planned, Changes: []chela.Preimage{change}}, nil
}

// run makes an edit. The actual change goes into the result if the document was
// modified since the call was prepared.
func (d documentTools) run(ctx context.Context, call chela.ToolCall, e chela.DocumentEdit) (res chela.ToolResult, err error) {
	if e, err = d.complete(call, e); err != nil {
		return res, err
	}
	made, err := d.Edit(ctx, e)
	if err != nil {
		return res, err
	}
	change, err := d.changed(ctx, made)
	res = tool.Done(editTold(e.Kind, made))
	if len(call.Changes) != 1 || call.Changes[0] != change {
		res.Changes = []chela.Preimage{change}
	}
	return res, err
}

// complete returns an edit with all details of the call.
func (d documentTools) complete(call chela.ToolCall, e chela.DocumentEdit) (chela.DocumentEdit, error) {
	if e.Kind == chela.EditWrite && e.Path == wordDaily {
		return e, chela.E(chela.Invalid, "the log of a day only grows").WithHint("leave append out, or name its path as target to replace it")
	}
	path, err := d.path(e.Path)
	if err != nil {
		return e, err
	}
	var planned editIntent
	if len(call.Intent) > 0 {
		if err := json.Unmarshal(call.Intent, &planned); err != nil {
			return e, fmt.Errorf("read what call %s intended: %w", call.ID, err)
		}
	}
	e.Path = cmp.Or(planned.Path, path)
	e.Agent, e.Key = call.Agent, string(call.ID)
	e.Author, e.Provenance = chela.Author{Turn: call.Turn, Call: call.ID}, call.Provenance
	return e, mayWrite(call, e)
}

// changed returns the change that an edit made, from the version before its
// own.
func (d documentTools) changed(ctx context.Context, made chela.Document) (chela.Preimage, error) {
	var before chela.Document
	if made.Version > 1 {
		var err error
		before, err = d.Version(ctx, made.Agent, made.Path, made.Version-1)
		if err != nil && chela.KindOf(err) != chela.NotFound { // later writes may have pruned that version
			return chela.Preimage{}, err
		}
	}
	return d.preimage(ctx, before, made)
}

// preimage stores the old and the new content of a document and returns them as a
// change.
func (d documentTools) preimage(ctx context.Context, before, after chela.Document) (change chela.Preimage, err error) {
	change = chela.Preimage{Kind: chela.PreimageDocument, Path: after.Path}
	if before.Version > 0 && !before.Deleted {
		if change.Before, err = d.keep(ctx, []byte(before.Text)); err != nil {
			return change, err
		}
	}
	if !after.Deleted {
		change.After, err = d.keep(ctx, []byte(after.Text))
	}
	return change, err
}

// editTold describes the effect of an edit.
func editTold(kind chela.EditKind, d chela.Document) string {
	switch kind {
	case chela.EditDelete:
		return fmt.Sprintf("deleted %s; version %d and those before it are kept", d.Path, d.Version-1)
	case chela.EditWrite:
		return fmt.Sprintf("wrote %s: %d bytes, version %d", d.Path, d.Size, d.Version)
	default:
		return fmt.Sprintf("added to %s: %d bytes now, version %d", d.Path, d.Size, d.Version)
	}
}
