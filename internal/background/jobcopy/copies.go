// Package jobcopy keeps the copies of folders in which jobs work. A job that the session
// of a trusted folder asks for works in a copy, which is made before it begins. People and
// models see its changes, and apply them to the folder or discard the copy.
//
//	          send                Apply                Apply ended
//	wanted ───────────▶ made ───────────────▶ applying ───────────▶ applied
//	   ▲ begins again    │ Discard, Cancel       │ the folder changed  │ Undo  ▲
//	   │                 ▼                       ▼                     ▼       │ it changed
//	   └── applied,   discarded             made, undone            undoing ───┘
//	       undone, discarded                                           └─▶ undone ─▶ applying
//
// One process at a time makes, applies or removes copies of a home, under a lock of the
// file system. Applying is journaled: the changes are stored with the move to applying,
// and each is made only where the file is as it was or as it shall be. A process that
// finds an interrupted one makes the rest, or takes all back if a file was changed by
// others since.
package jobcopy

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"chela"
	"chela/internal/background/work"
	"chela/internal/engine/folder"
	"chela/internal/platform/datadir"
	"chela/internal/platform/fail"
	"chela/internal/platform/local"
	"chela/internal/store"
	"chela/internal/tool/snapshot"
	"chela/internal/tool/workspace"
)

// Config holds the dependencies of [Copies]. All fields are required.
type Config struct {
	local.Process

	Work      works
	Folders   folders
	Snapshots *snapshot.Snapshots
	Labels    *folder.Labels
	Keep      workspace.KeepFunc
	Bytes     func(ctx context.Context, sha256 string) ([]byte, error)
}

// works enqueues work within a transaction and wakes the worker after the commit.
type works interface {
	Set(ctx context.Context, w *store.Write, k chela.Work) error
	Nudge()
}

// folders know in which folders and copies sessions work.
type folders interface {
	CopyFor(ctx context.Context, session chela.SessionKey) (folder.Copy, bool, error)
	Source(ctx context.Context, c folder.Copy) (workspace.Location, error)
	Copied(ctx context.Context, agent string, session chela.SessionKey) bool
}

// Copies makes, applies and removes copies. It is safe for concurrent use.
type Copies struct {
	store *store.Store
	cfg   Config
}

// New returns the copies of a store.
func New(s *store.Store, cfg Config) *Copies { return &Copies{s, cfg} }

// Kinds returns the kind of work that completes an interrupted apply or undo.
func (cs *Copies) Kinds() []work.Kind {
	return []work.Kind{{Name: workApply, Attempts: work.Forever, Handle: func(ctx context.Context, k chela.Work) (work.Outcome, error) {
		of, err := work.ArgsOf[applyArgs](k)
		if err == nil {
			err = cs.complete(ctx, of.Job)
		}
		return work.Outcome{}, err
	}}}
}

const workApply = "apply"

type applyArgs struct {
	Job chela.JobID `json:"job"`
}

// by is who changes a copy without being asked.
const by = "chela"

// moment is the current time at the store's precision.
func (cs *Copies) moment() time.Time { return cs.cfg.Now().UTC().Truncate(time.Microsecond) }

// keepCopy is how long the copy of a job that ended is kept.
const keepCopy = 14 * 24 * time.Hour

// Copied reports whether a new job works in a copy of its requester's folder.
func (cs *Copies) Copied(ctx context.Context, j chela.Job) bool {
	key, err := chela.ParseSessionKey(j.Requester)
	if err != nil || j.Kind == chela.JobPart {
		return false
	}
	return j.Principal() == chela.PrincipalOwner && cs.cfg.Folders.Copied(ctx, key.Agent, j.Requester)
}

// Want adds the copy of a new job.
func (cs *Copies) Want(ctx context.Context, w *store.Write, j chela.Job) error {
	key, err := chela.ParseSessionKey(j.Requester)
	if err != nil {
		return err
	}
	return w.AddJobCopy(ctx, chela.JobCopy{Job: j.ID, Agent: key.Agent, Source: j.Requester, State: chela.CopyWanted, ChangedAt: cs.moment()})
}

// Renew has a job that begins again work in a new copy, if its last one is gone.
func (cs *Copies) Renew(ctx context.Context, w *store.Write, id chela.JobID) error {
	c, found, err := w.JobCopy(ctx, id)
	if err != nil || !found || !c.State.CanMove(chela.CopyWanted) {
		return err
	}
	from := c.State
	c.State, c.ChangedAt, c.Changes, c.LeftOut = chela.CopyWanted, cs.moment(), nil, ""
	return w.MoveJobCopy(ctx, c, from)
}

// withCopy calls do with the copy that a job works in, while no other process changes
// copies. Found is false for a job without one.
func (cs *Copies) withCopy(ctx context.Context, j chela.Job, do func(folder.Copy) error) (found bool, err error) {
	c, found, err := cs.cfg.Folders.CopyFor(ctx, j.Session)
	if err != nil || !found {
		return false, err
	}
	above := filepath.Dir(c.Dir)
	if err := os.MkdirAll(above, 0o700); err != nil {
		return true, datadir.Trouble(above, err)
	}
	unlock, err := datadir.Lock(filepath.Join(above, ".lock"))
	if err != nil {
		return true, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if c, found, err = cs.cfg.Folders.CopyFor(ctx, j.Session); err != nil || !found { // as the last holder left it
		return found, err
	}
	return true, do(c)
}

// Make makes the copy that a job works in, unless it exists.
func (cs *Copies) Make(ctx context.Context, j chela.Job) error {
	if c, found, err := cs.cfg.Folders.CopyFor(ctx, j.Session); err != nil || !found || c.State != chela.CopyWanted {
		return err
	}
	_, err := cs.withCopy(ctx, j, func(c folder.Copy) error {
		if c.State != chela.CopyWanted {
			return nil
		}
		at, err := cs.cfg.Folders.Source(ctx, c)
		if err != nil {
			return err
		}
		ws, err := openAt(ctx, at)
		if err != nil {
			return err
		}
		defer ws.Close() // read only
		made, err := cs.cfg.Snapshots.Copy(ctx, ws, c.Dir)
		if err != nil {
			return err
		}
		if err := fail.Point("job.copied"); err != nil {
			return err
		}
		// A file is labelled before it is written, so these cover all that was copied.
		labels, err := at.FileLabels(ctx, cs.cfg.Labels)
		if err != nil {
			return err
		}
		for i := range labels {
			labels[i].Workspace = c.Workspace()
		}
		c.Files, c.Bytes, c.LeftOut = made.Files, made.Bytes, made.LeftOut
		return cs.move(ctx, &c, chela.CopyMade, labels...)
	})
	return err
}

// openAt opens the workspace at a location.
func openAt(ctx context.Context, at workspace.Location) (*workspace.Workspace, error) {
	return workspace.Finder(func(context.Context, workspace.Owner) (workspace.Location, error) { return at, nil }).Open(ctx, workspace.Owner{})
}

// move stores the new state of a copy together with labels of files. A copy that is
// gone has none.
func (cs *Copies) move(ctx context.Context, c *folder.Copy, to chela.CopyState, labels ...chela.FileLabel) error {
	from := c.State
	err := cs.store.Write(ctx, "job_copy."+string(to), func(w *store.Write) error {
		c.State, c.ChangedAt = to, cs.moment()
		if err := w.MoveJobCopy(ctx, c.JobCopy, from); err != nil {
			return err
		}
		switch to {
		case chela.CopyApplying, chela.CopyUndoing:
			if err := cs.cfg.Work.Set(ctx, w, chela.Work{Kind: workApply, Key: string(c.Job), Args: work.Args(applyArgs{c.Job})}); err != nil {
				return err
			}
		case chela.CopyApplied, chela.CopyUndone, chela.CopyDiscarded:
			if err := w.RemoveFileLabels(ctx, c.Workspace()); err != nil {
				return err
			}
		}
		return w.AddFileLabels(ctx, labels...)
	})
	if err != nil {
		c.State = from
		return err
	}
	cs.cfg.Work.Nudge()
	return nil
}

// Discard removes the copy of a job with its changes. It is a Conflict for a live job, and
// for one whose changes were applied.
func (cs *Copies) Discard(ctx context.Context, id chela.JobID, by string) (chela.Job, error) {
	j, err := store.Get(ctx, cs.store, (*store.Read).Job, id)
	if err != nil {
		return j, err
	}
	if j.State.Live() {
		return j, notEnded(j)
	}
	found, err := cs.withCopy(ctx, j, func(c folder.Copy) error {
		switch {
		case c.State == chela.CopyDiscarded:
			return nil
		case c.State == chela.CopyUndone:
			return chela.Ef(chela.Conflict, "the changes of job %s are undone, and its copy is gone", id).WithHint("chela jobs apply " + string(id) + " makes them again")
		case !c.State.CanMove(chela.CopyDiscarded):
			return chela.Ef(chela.Conflict, "the changes of job %s were applied, and its copy is gone", id).WithHint("chela jobs undo " + string(id) + " restores the folder")
		}
		return cs.discard(ctx, &c, by)
	})
	if err == nil && !found {
		err = noCopy(id)
	}
	return j, err
}

// notEnded is the error of a job that may still change its copy.
func notEnded(j chela.Job) error {
	return chela.Ef(chela.Conflict, "job %s is %s", j.ID, j.State).WithHint("wait until it ended, or chela jobs cancel " + string(j.ID) + " ends it")
}

// noCopy is the error of a job that works in no copy.
func noCopy(id chela.JobID) error {
	return chela.Ef(chela.Unsupported, "job %s works in no copy of a folder", id).
		WithHint("a job that the session of a trusted folder asks for does; chela jobs files " + string(id) + " lists the files of this one")
}

func (cs *Copies) discard(ctx context.Context, c *folder.Copy, by string) error {
	c.ChangedBy = by
	if err := cs.move(ctx, c, chela.CopyDiscarded); err != nil {
		return err
	}
	return snapshot.RemoveCopy(c.Dir)
}

// Sweep discards the copies of jobs that were cancelled, or ended long ago, and removes the
// files of copies that interrupted processes left. It returns how many.
func (cs *Copies) Sweep(ctx context.Context) (removed int, err error) {
	before := cs.moment().Add(-keepCopy)
	stale, err := store.Get(ctx, cs.store, (*store.Read).StaleJobCopies, before)
	if err != nil {
		return 0, err
	}
	gone, err := store.Get(ctx, cs.store, (*store.Read).GoneJobCopies, before)
	for _, id := range append(stale, gone...) {
		did, wrong := cs.remove(ctx, id)
		if err = errors.Join(err, wrong); did {
			removed++
		}
	}
	return removed, err
}

// remove removes the copy of a job that is stale or gone, and reports whether there was
// one.
func (cs *Copies) remove(ctx context.Context, id chela.JobID) (removed bool, err error) {
	j, err := store.Get(ctx, cs.store, (*store.Read).Job, id)
	if err != nil {
		return false, err
	}
	c, _, err := cs.cfg.Folders.CopyFor(ctx, j.Session)
	if err != nil || !c.State.CanMove(chela.CopyDiscarded) && !snapshot.PartOfCopy(c.Dir) {
		return false, err
	}
	_, err = cs.withCopy(ctx, j, func(c folder.Copy) error {
		switch {
		case j.State.Live() || c.Job != id:
			return nil
		case c.State.CanMove(chela.CopyDiscarded):
			removed = true
			return cs.discard(ctx, &c, by)
		case c.State == chela.CopyApplied || c.State == chela.CopyUndone || c.State == chela.CopyDiscarded:
			removed = true
			return snapshot.RemoveCopy(c.Dir)
		}
		return nil
	})
	return removed, err
}

// In returns the copy in which a session works, and whether there is one.
func (cs *Copies) In(ctx context.Context, session chela.SessionKey) (folder.Copy, bool, error) {
	return cs.cfg.Folders.CopyFor(ctx, session)
}
