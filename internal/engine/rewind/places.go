package rewind

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"chela"
	"chela/internal/api"
	"chela/internal/store"
)

// find resolves the name of a position in a thread: a checkpoint, an entry, or
// a turn, which means its end. It is NotFound if the thread cannot reach it,
// and Invalid if no turn may begin there.
func find(ctx context.Context, r *store.Read, t chela.Thread, text string) (chela.EntryID, error) {
	checkpoint, err := r.Checkpoint(ctx, t.ID, text)
	if chela.KindOf(err) != chela.NotFound {
		return checkpoint.Entry, err
	}
	var at chela.Entry
	switch {
	case strings.HasPrefix(text, "ent_"):
		at, err = r.Entry(ctx, chela.EntryID(text))
	case strings.HasPrefix(text, "turn_"):
		at, err = endOf(ctx, r, chela.TurnID(text))
	default:
		return "", chela.Ef(chela.NotFound, "thread %s has no checkpoint %.60q", t.ID, text).
			WithHint("see chela threads show " + string(t.ID))
	}
	if err != nil {
		return "", err
	}
	known, err := reaches(ctx, r, t.ID, at.Thread)
	if err != nil {
		return "", err
	}
	if !known {
		return "", chela.Ef(chela.NotFound, "%.60s is not in thread %s", text, t.ID).WithHint("name an entry of the thread")
	}
	ok, err := settled(ctx, r, at)
	if err == nil && !ok {
		err = chela.Ef(chela.Invalid, "%.60s lies between a call and its result", text).
			WithHint("name an entry before the call, or after the results")
	}
	return at.ID, err
}

// endOf returns the last entry of a turn.
func endOf(ctx context.Context, r *store.Read, id chela.TurnID) (chela.Entry, error) {
	if _, err := r.Turn(ctx, id); err != nil {
		return chela.Entry{}, err
	}
	entries, err := r.TurnEntries(ctx, id)
	if err == nil && len(entries) == 0 {
		err = chela.E(chela.NotFound, "turn "+string(id)+" said nothing")
	}
	if err != nil {
		return chela.Entry{}, err
	}
	return entries[len(entries)-1], nil
}

// reaches reports whether a thread is the other one, or a branch of it.
func reaches(ctx context.Context, r *store.Read, thread, other chela.ThreadID) (bool, error) {
	for thread != other {
		origin, ok, err := r.BranchOf(ctx, thread)
		if err != nil || !ok {
			return false, err
		}
		thread = origin.Origin
	}
	return true, nil
}

// maxName is the maximum length of a checkpoint's name, in characters.
const maxName = 64

func checkName(name string) error {
	bad := func(c rune) bool { return unicode.IsControl(c) || unicode.IsSpace(c) }
	reserved := strings.HasPrefix(name, "ent_") || strings.HasPrefix(name, "turn_")
	if name == "" || len([]rune(name)) > maxName || strings.ContainsFunc(name, bad) || strings.HasPrefix(name, "-") || reserved {
		return chela.Ef(chela.Invalid, "%.80q is not a valid checkpoint name", name).
			WithHint(fmt.Sprintf("use up to %d characters without spaces, such as before-refactoring", maxName))
	}
	return nil
}

// Checkpoint names the current head of a thread; without a name it takes the
// next free number. It is a Conflict if the name exists at another entry, or if
// a turn runs in the thread.
func (m *Rewinds) Checkpoint(ctx context.Context, thread chela.ThreadID, q api.NewCheckpoint) (c chela.Checkpoint, err error) {
	if q.Name != "" {
		if err := checkName(q.Name); err != nil {
			return c, err
		}
	}
	s, err := m.session(ctx, thread, q.Key)
	if err != nil {
		return c, err
	}
	err = m.store.Write(ctx, "checkpoint.add", func(w *store.Write) error {
		if _, err := w.LockLane(ctx, s.Key); err != nil {
			return err
		}
		before, ok, err := w.CheckpointByKey(ctx, s.Key, q.Key)
		if err != nil || ok {
			c = before
			return err
		}
		t, err := w.Thread(ctx, thread)
		if err != nil {
			return err
		}
		c = chela.Checkpoint{Session: s.Key, Thread: t.ID, Name: q.Name, Entry: t.Head, Key: q.Key, CreatedAt: m.now()}
		return addCheckpoint(ctx, w, t, &c)
	})
	return c, err
}

// addCheckpoint adds a checkpoint to a thread, choosing a name if it has none.
func addCheckpoint(ctx context.Context, w *store.Write, t chela.Thread, c *chela.Checkpoint) error {
	if !rests(t) {
		return chela.E(chela.Conflict, "a turn runs in thread "+string(t.ID)).WithHint("wait until it has ended, or stop it")
	}
	have, err := w.Checkpoints(ctx, t.ID)
	if err != nil {
		return err
	}
	named := func(name string) int {
		return slices.IndexFunc(have, func(c chela.Checkpoint) bool { return c.Name == name })
	}
	for n := len(have) + 1; c.Name == ""; n++ {
		if free := strconv.Itoa(n); named(free) < 0 {
			c.Name = free
		}
	}
	if i := named(c.Name); i >= 0 {
		if have[i].Entry == c.Entry {
			*c = have[i]
			return nil
		}
		return chela.Ef(chela.Conflict, "thread %s has a checkpoint %q already, at another place", t.ID, c.Name).
			WithHint("use another name")
	}
	return w.AddCheckpoint(ctx, *c)
}

// rests reports whether a thread is idle, so that its head does not move.
func rests(t chela.Thread) bool {
	return t.State == chela.ThreadIdle || t.State == chela.ThreadInterrupted
}

// Branch creates a thread with the entries of another one up to a position, and
// makes it the session's current thread. The position is a checkpoint, an
// entry, the end of a turn, or empty for the head. Files stay as they are.
// Branching off the head during a turn is a Conflict.
func (m *Rewinds) Branch(ctx context.Context, thread chela.ThreadID, q api.NewBranch) (made chela.Thread, err error) {
	s, err := m.session(ctx, thread, q.Key)
	if err != nil {
		return made, err
	}
	err = m.store.Tell(ctx, "thread.branch", m.cfg.Emit, func(w *store.Write) error {
		if _, err := w.LockLane(ctx, s.Key); err != nil {
			return err
		}
		before, ok, err := w.BranchByKey(ctx, s.Key, q.Key)
		if err != nil {
			return err
		}
		if ok {
			made, err = w.Thread(ctx, before.Thread)
			return err
		}
		b := chela.Branch{Session: s.Key, Thread: m.cfg.IDs.Thread(), Origin: thread, Key: q.Key, CreatedAt: m.now()}
		made, err = addBranch(ctx, w, b, q.From)
		if err != nil {
			return err
		}
		return w.Announce(ctx, b.CreatedAt, []chela.Event{{Kind: chela.EventSessionChanged, Session: s.Key, Thread: made.ID}})
	})
	return made, err
}

// addBranch creates the thread of a branch.
func addBranch(ctx context.Context, w *store.Write, b chela.Branch, from string) (made chela.Thread, err error) {
	t, err := w.Thread(ctx, b.Origin)
	if err != nil {
		return made, err
	}
	switch {
	case from != "":
		b.Entry, err = find(ctx, &w.Read, t, from)
	case !rests(t):
		err = chela.E(chela.Conflict, "a turn runs in thread "+string(t.ID)).WithHint("name the entry to branch off at, or wait until it has ended")
	default:
		b.Entry = t.Head
	}
	if err != nil {
		return made, err
	}
	s, err := w.Session(ctx, b.Session)
	if err != nil {
		return made, err
	}
	made = chela.Thread{
		ID: b.Thread, Session: b.Session, Title: t.Title, Head: b.Entry, State: chela.ThreadIdle, CreatedAt: b.CreatedAt, UpdatedAt: b.CreatedAt,
	}
	if err := w.CreateThread(ctx, made); err != nil {
		return made, err
	}
	if err := w.AddBranch(ctx, b); err != nil {
		return made, err
	}
	s.SwitchTo(made.ID)
	s.UpdatedAt = b.CreatedAt
	return made, w.SaveSession(ctx, s)
}

// Places returns the positions a thread can be moved to.
func (m *Rewinds) Places(ctx context.Context, thread chela.ThreadID) (api.Places, error) {
	return store.Find(ctx, m.store, func(r *store.Read) (p api.Places, err error) {
		t, err := r.Thread(ctx, thread)
		if err != nil {
			return p, err
		}
		if p.Checkpoints, err = r.Checkpoints(ctx, thread); err != nil {
			return p, err
		}
		if p.Branches, err = r.Branches(ctx, thread); err != nil || !rests(t) {
			return p, err
		}
		back, ok, err := r.LastArrival(ctx, thread, t.Head)
		if ok {
			p.Redo = &back
		}
		return p, err
	})
}
