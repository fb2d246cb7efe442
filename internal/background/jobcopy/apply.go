package jobcopy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/folder"
	"chela/internal/platform/excerpt"
	"chela/internal/platform/fail"
	"chela/internal/store"
	"chela/internal/tool/snapshot"
	"chela/internal/tool/workspace"
)

// Apply makes the changes of a job's copy in the folder, all or none. Where the folder
// changed since the copy was made, lines that do not meet are merged. It is a Conflict for
// a live job, for one whose changes were applied, and where a file cannot be merged. A
// model may apply only in the session that asked for the job, whose undo covers it. The
// same request of a model is carried out once.
func (cs *Copies) Apply(ctx context.Context, caller api.Caller, id chela.JobID) (c chela.JobCopy, err error) {
	err = cs.changing(ctx, id, func(j chela.Job, of *folder.Copy) error {
		defer func() { c = of.JobCopy }()
		switch {
		case caller.Agent != "" && caller.Session != of.Source:
			return chela.Ef(chela.Denied, "the changes of job %s are applied in the session that asked for it", id).
				WithHint("chela jobs apply " + string(id) + " applies them for a person")
		case of.State == chela.CopyApplied && caller.Agent != "" && of.ChangedBy == who(caller):
			return nil
		}
		switch of.State {
		case chela.CopyApplying:
			return cs.finish(ctx, of)
		case chela.CopyApplied:
			return chela.Ef(chela.Conflict, "the changes of job %s were applied at %s", id, of.ChangedAt.UTC().Format("2006-01-02 15:04:05 MST")).
				WithHint("chela jobs undo " + string(id) + " restores the folder")
		case chela.CopyMade, chela.CopyUndone:
		default:
			return chela.Ef(chela.Conflict, "job %s has no changes to apply: its copy is %s", id, of.State).WithHint("chela jobs restart " + string(id) + " starts it again with a new copy")
		}
		labels, err := cs.planApply(ctx, j, of)
		if err != nil {
			return err
		}
		of.ChangedBy = who(caller)
		if err := cs.move(ctx, of, chela.CopyApplying, labels...); err != nil {
			return err
		}
		return cs.finish(ctx, of)
	})
	return c, err
}

// Undo restores the folder to its state before the changes of a job were applied. It is
// a Conflict if they are not, and if one of the files was changed since.
func (cs *Copies) Undo(ctx context.Context, caller api.Caller, id chela.JobID) (c chela.JobCopy, err error) {
	err = cs.changing(ctx, id, func(_ chela.Job, of *folder.Copy) error {
		defer func() { c = of.JobCopy }()
		switch of.State {
		case chela.CopyUndoing:
			return cs.finish(ctx, of)
		case chela.CopyApplied:
		default:
			return chela.Ef(chela.Conflict, "the changes of job %s are not applied: its copy is %s", id, of.State).WithHint("see chela jobs diff " + string(id))
		}
		ws, err := cs.openSource(ctx, *of)
		if err != nil {
			return err
		}
		defer ws.Close() // it is only read here
		if err := allAre(ctx, ws, reversed(of.Changes), "nothing was undone"); err != nil {
			return err
		}
		of.ChangedBy = who(caller)
		if err := cs.move(ctx, of, chela.CopyUndoing); err != nil {
			return err
		}
		return cs.finish(ctx, of)
	})
	return c, err
}

// who returns the name of a caller, and for a tool that of its call.
func who(c api.Caller) string {
	if c.Agent != "" && c.Key != "" {
		return c.By + " " + c.Key
	}
	return c.By
}

// changing calls do for a job that ended and has a copy of its own.
func (cs *Copies) changing(ctx context.Context, id chela.JobID, do func(chela.Job, *folder.Copy) error) error {
	j, err := store.Get(ctx, cs.store, (*store.Read).Job, id)
	if err != nil {
		return err
	}
	found, err := cs.withCopy(ctx, j, func(c folder.Copy) error {
		switch {
		case c.Job != id:
			return chela.Ef(chela.Conflict, "job %s works in the copy of job %s", id, c.Job).WithHint("name that job")
		case j.State.Live():
			return notEnded(j)
		}
		return do(j, &c)
	})
	if err == nil && !found {
		err = noCopy(id)
	}
	return err
}

func (cs *Copies) openSource(ctx context.Context, c folder.Copy) (*workspace.Workspace, error) {
	at, err := cs.cfg.Folders.Source(ctx, c)
	if err != nil {
		return nil, err
	}
	return openAt(ctx, at)
}

// complete ends an apply or undo that a process left.
func (cs *Copies) complete(ctx context.Context, id chela.JobID) error {
	j, err := store.Get(ctx, cs.store, (*store.Read).Job, id)
	if err != nil {
		return err
	}
	_, err = cs.withCopy(ctx, j, func(c folder.Copy) error {
		if c.State != chela.CopyApplying && c.State != chela.CopyUndoing {
			return nil
		}
		err := cs.finish(ctx, &c)
		if chela.KindOf(err) == chela.Conflict { // it was taken back, which the state says
			return nil
		}
		return err
	})
	return err
}

// finish makes the changes of an apply or undo. If others change one of the files
// meanwhile, it takes the rest back and returns the Conflict.
func (cs *Copies) finish(ctx context.Context, c *folder.Copy) error {
	ws, err := cs.openSource(ctx, *c)
	if err != nil {
		return err
	}
	defer ws.Close() // writes are synced
	changes, to, back := c.Changes, chela.CopyApplied, chela.CopyUndone
	if snapshot.HasCopy(c.Dir) {
		back = chela.CopyMade
	}
	if c.State == chela.CopyUndoing {
		changes, to, back = reversed(c.Changes), chela.CopyUndone, chela.CopyApplied
	}
	err = cs.putAll(ctx, ws, c.Job, changes)
	if workspace.ByOthers(err) {
		if wrong := cs.takeBack(ctx, ws, c.Job, changes); wrong != nil {
			return wrong
		}
		return errors.Join(cs.move(ctx, c, back), err)
	}
	if err != nil {
		return err
	}
	if err := fail.Point("job.apply.put"); err != nil {
		return err
	}
	if err := cs.move(ctx, c, to); err != nil {
		return err
	}
	if err := fail.Point("job.applied"); err != nil {
		return err
	}
	return snapshot.RemoveCopy(c.Dir)
}

// putAll makes changes in a folder, in an order in which each can be made. Those that are
// made already stay. It ends with the first error.
func (cs *Copies) putAll(ctx context.Context, ws *workspace.Workspace, id chela.JobID, changes []chela.Preimage) error {
	for _, p := range ordered(changes) {
		if err := fail.Point("job.apply.change"); err != nil {
			return err
		}
		if err := cs.put(ctx, ws, id, p); err != nil {
			return err
		}
	}
	return nil
}

// takeBack takes changes back, except for files that others have changed since.
func (cs *Copies) takeBack(ctx context.Context, ws *workspace.Workspace, id chela.JobID, changes []chela.Preimage) error {
	for _, p := range ordered(reversed(changes)) {
		if err := fail.Point("job.apply.change"); err != nil {
			return err
		}
		if err := cs.put(ctx, ws, id, p); err != nil && !workspace.ByOthers(err) {
			return err
		}
	}
	return nil
}

func ordered(changes []chela.Preimage) []chela.Preimage {
	return slices.SortedStableFunc(slices.Values(changes), func(a, b chela.Preimage) int { return cmp.Compare(workspace.Order(a), workspace.Order(b)) })
}

// put makes one change.
func (cs *Copies) put(ctx context.Context, ws *workspace.Workspace, id chela.JobID, p chela.Preimage) error {
	content, err := cs.contentOf(ctx, p.Kind, p.After)
	if err != nil {
		return err
	}
	err = ws.Put(ctx, "apply "+string(id)+" "+p.Path, p, content)
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrExist) && p.Kind == chela.PreimageFolder {
		return nil // the folder holds more, such as ignored files
	}
	return err
}

// contentOf loads a content by its hash; nil for none and for a folder.
func (cs *Copies) contentOf(ctx context.Context, kind chela.PreimageKind, sum string) ([]byte, error) {
	if sum == "" || kind == chela.PreimageFolder {
		return nil, nil
	}
	content, err := cs.cfg.Bytes(ctx, sum)
	if err != nil {
		err = chela.E(chela.Unavailable, "a stored content is missing").WithHint("see chela doctor").Because(err)
	}
	return content, err
}

// reversed returns the changes that take others back.
func reversed(changes []chela.Preimage) []chela.Preimage {
	back := slices.Clone(changes)
	for i := range back {
		p := &back[i]
		p.Before, p.After, p.ModeBefore, p.ModeAfter, p.Mode = p.After, p.Before, p.ModeAfter, p.ModeBefore, p.ModeBefore
	}
	return back
}

// allAre returns a Conflict unless every path has its state before or after the changes:
// an undo of the session may have restored some.
func allAre(ctx context.Context, ws *workspace.Workspace, changes []chela.Preimage, nothing string) error {
	var other []string
	for _, p := range changes {
		is, err := ws.State(ctx, p.Kind, p.Path)
		if err != nil && !workspace.ByOthers(err) {
			return err
		}
		if p.Kind != chela.PreimageFolder && (err != nil || is.Other || !is.Matches(p.Before, p.ModeBefore) && !is.Matches(p.After, p.ModeAfter)) {
			other = append(other, p.Path)
		}
	}
	if len(other) == 0 {
		return nil
	}
	return chela.Ef(chela.Conflict, "%s: %s changed since: %s", nothing, excerpt.Count(len(other), "file"), firstOf(other)).
		WithHint("put them back as they were, or change them by hand")
}

// firstOf lists the first of many names.
func firstOf(names []string) string {
	const most = 5
	text := strings.Join(names[:min(most, len(names))], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
