package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/prompt"
	"chela/internal/engine/transcript"
	"chela/internal/store"
)

// Import turns a transcript into a thread of a session and makes it the current
// one; a missing session is created. The import is atomic and repeatable: if
// the transcript has grown since, only the new entries are added. Entries that
// exist in another thread, or differ from the stored ones, are a Conflict; a
// malformed transcript is Invalid.
func (ss *Sessions) Import(ctx context.Context, key chela.SessionKey, from io.Reader) (api.ImportResult, error) {
	parsed, err := chela.ParseSessionKey(key)
	if err != nil {
		return api.ImportResult{}, err
	}
	if err := ss.cfg.Agent(agentOf(parsed)); err != nil {
		return api.ImportResult{}, err
	}
	t, err := transcript.Read(from)
	if err != nil {
		return api.ImportResult{}, err
	}
	if err := ss.keep(ctx, t.Attached); err != nil {
		return api.ImportResult{}, err
	}
	for i := range t.Entries { // before the store is locked: it takes longer than writing them
		t.Entries[i].Tokens = prompt.Tokens(t.Entries[i].Body)
	}
	in := &importing{Transcript: t, sessions: ss, key: parsed}
	err = ss.store.Tell(ctx, "session.import", ss.cfg.Emit, func(w *store.Write) error { return in.write(ctx, w) })
	if err != nil {
		return api.ImportResult{}, err
	}
	return in.done, nil
}

// agentOf returns the agent of a session key.
func agentOf(k chela.Key) string {
	return cmp.Or(k.Agent, chela.MainAgent)
}

// keep stores the attachments of a transcript. Unreferenced blobs are harmless.
func (ss *Sessions) keep(ctx context.Context, attached []transcript.AttachedFile) error {
	for _, a := range attached {
		if a.Content != nil {
			if _, err := ss.cfg.Blobs.Keep(ctx, a.Content); err != nil {
				return err
			}
			continue
		}
		if _, err := ss.cfg.Blobs.Kept(ctx, a.Name, a.MediaType, a.SHA256); err != nil && a.Needed {
			return chela.Ef(chela.NotFound, "line %d: the content of attachment %.80q is missing", a.Line, a.Name).
				WithHint("export it with --with-attachments").Because(err)
		}
	}
	return nil
}

// An importing is a transcript during its import into a session.
type importing struct {
	transcript.Transcript
	sessions *Sessions
	key      chela.Key
	done     api.ImportResult
}

// write is the transaction of an import.
func (in *importing) write(ctx context.Context, w *store.Write) error {
	now := in.sessions.now()
	s, err := in.session(ctx, w, now)
	if err != nil {
		return err
	}
	in.done = api.ImportResult{Session: s.Key}
	known, at, err := in.known(ctx, w)
	if err != nil {
		return err
	}
	var t chela.Thread
	if len(known) > 0 {
		t, err = in.grown(ctx, w, at, known)
	} else {
		t, err = in.fresh(ctx, w, now)
	}
	if err != nil {
		return err
	}
	in.done.Thread, in.done.Known, in.done.Added = t.ID, len(known), len(in.Entries)-len(known)
	if in.done.Added == 0 {
		return nil
	}
	if err := in.append(ctx, w, t, known); err != nil {
		return err
	}
	s.SwitchTo(t.ID)
	s.UpdatedAt = now
	if err := w.SaveSession(ctx, s); err != nil {
		return err
	}
	return w.Announce(ctx, now, []chela.Event{{Kind: chela.EventSessionChanged, Session: s.Key, Thread: s.Thread}})
}

// session locks the lane of the session and returns the session, creating it if
// needed.
func (in *importing) session(ctx context.Context, w *store.Write, now time.Time) (chela.Session, error) {
	key := in.key.Session()
	s := chela.Session{Key: key, Agent: agentOf(in.key), Thread: in.sessions.cfg.IDs.Thread(), CreatedAt: now, UpdatedAt: now}
	if err := w.CreateSession(ctx, s, in.key.Class()); err != nil {
		return s, err
	}
	if _, err := w.LockLane(ctx, key); err != nil {
		return s, err
	}
	return w.Session(ctx, key)
}

// known returns the entries already stored, and their thread. If the first
// entry is unknown, all are.
func (in *importing) known(ctx context.Context, w *store.Write) (known map[chela.EntryID]bool, at chela.ThreadID, err error) {
	known = map[chela.EntryID]bool{}
	for i, e := range in.Entries {
		have, err := w.Entry(ctx, e.ID)
		switch {
		case chela.KindOf(err) == chela.NotFound && i == 0:
			return nil, "", nil
		case chela.KindOf(err) == chela.NotFound:
			continue
		case err != nil:
			return nil, "", err
		case !same(have, e):
			return nil, "", chela.Ef(chela.Conflict, "entry %s already exists in thread %s and differs", e.ID, have.Thread).
				WithHint("import it into another home")
		}
		known[e.ID], at = true, have.Thread
	}
	return known, at, nil
}

// same reports whether a stored entry equals an imported one.
func same(have, e chela.Entry) bool {
	a, errA := json.Marshal(have.Body)
	b, errB := json.Marshal(e.Body)
	return errA == nil && errB == nil && have.Parent == e.Parent && have.Kind() == e.Kind() && bytes.Equal(a, b)
}

// grown returns the thread of the earlier import if the new entries can be
// appended to it, and a Conflict otherwise.
func (in *importing) grown(ctx context.Context, w *store.Write, at chela.ThreadID, known map[chela.EntryID]bool) (chela.Thread, error) {
	t, err := w.Thread(ctx, at)
	switch {
	case err != nil:
		return t, err
	case t.Session != in.key.Session():
		return t, chela.Ef(chela.Conflict, "the transcript is already in session %s, as thread %s", t.Session, t.ID).
			WithHint("leave out --session, or import it into another home")
	case len(known) == len(in.Entries):
		return t, nil
	case t.State != chela.ThreadIdle && t.State != chela.ThreadInterrupted:
		return t, chela.E(chela.Conflict, "a turn runs in thread "+string(t.ID)).WithHint("wait until it has ended")
	}
	above := make(map[chela.EntryID]chela.EntryID, len(in.Entries))
	for _, e := range in.Entries {
		above[e.ID] = e.Parent
	}
	for head := in.Head; head != t.Head; head = above[head] {
		if head == "" {
			return t, chela.Ef(chela.Conflict, "thread %s has diverged from the transcript", t.ID).
				WithHint("import it into another home")
		}
	}
	return t, nil
}

// fresh creates the thread for a new transcript.
func (in *importing) fresh(ctx context.Context, w *store.Write, now time.Time) (chela.Thread, error) {
	title := in.Title
	if checkTitle(title, false) != nil {
		title = ""
	}
	for _, e := range in.Entries {
		if title == "" && e.Kind() == chela.EntryUser {
			title = chela.TitleOf(e.Text())
		}
	}
	t := chela.Thread{ID: in.sessions.cfg.IDs.Thread(), Session: in.key.Session(), Title: title, State: chela.ThreadIdle, CreatedAt: now, UpdatedAt: now}
	return t, w.CreateThread(ctx, t)
}

// append adds the unknown entries to a thread and moves its head.
func (in *importing) append(ctx context.Context, w *store.Write, before chela.Thread, known map[chela.EntryID]bool) error {
	for _, turn := range in.Turns {
		have, err := w.Turn(ctx, turn.ID)
		switch {
		case chela.KindOf(err) == chela.NotFound:
			turn.Session, turn.Thread = before.Session, before.ID
			err = w.OpenTurn(ctx, turn)
		case err == nil && have.Thread != before.ID:
			err = chela.Ef(chela.Conflict, "turn %s already exists in thread %s", turn.ID, have.Thread).WithHint("import it into another home")
		}
		if err != nil {
			return err
		}
	}
	after := before
	for _, e := range in.Entries {
		if known[e.ID] {
			continue
		}
		after.Seq++
		e.Thread, e.Seq = before.ID, after.Seq
		if err := w.AppendEntry(ctx, e); err != nil {
			return err
		}
	}
	after.Head, after.UpdatedAt = in.Head, in.sessions.now()
	return w.MoveThread(ctx, before, after)
}
