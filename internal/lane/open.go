package lane

import (
	"context"
	"slices"
	"time"

	"chela"
	"chela/internal/journal"
	"chela/internal/prompt"
	"chela/internal/store"
	"chela/internal/turn/machine"
)

// An opened turn is one that this process may run: fresh, or left by an earlier
// run.
type opened struct {
	lease   chela.Lease
	class   chela.Class
	turn    chela.Turn
	thread  chela.Thread  // of a fresh turn: before its first entry
	session chela.Session // of a fresh turn
	entries []chela.Entry // of a fresh turn: its first entries; nil means to read the journal
	earlier []chela.Entry // of a fresh turn: what was said before, elsewhere, if that was worked out already
	untold  bool          // of a fresh turn: messages may have been dropped that it must be told of
	left    bool          // the process that ran it died
	counted bool          // which is counted
	givenUp error         // why the next run is the last one; nil if others may follow
	ended   []chela.Event // of a fresh turn: what announces the end of the one it supersedes
	events  []chela.Event // of a fresh turn: what announces its opening
}

// afresh returns o so that the journal is read for it.
func (o *opened) afresh() *opened {
	c := *o
	c.entries = nil
	return &c
}

// open writes a new turn for messages of one thread, and takes the lane for it
// or goes on holding it. Messages that are in the inbox already are marked
// taken; the turn they are taken by is known beforehand.
func (l *Lanes) open(ctx context.Context, w *store.Write, o opened, messages []chela.Waiting) (*opened, error) {
	now := l.cfg.Now()
	first := messages[0]
	o.turn = chela.Turn{
		ID: first.Turn, Session: o.session.Key, Thread: o.thread.ID, State: chela.TurnProcessing, Origin: first.Origin,
		Model: l.cfg.Model(o.session, o.thread, messages), Overrides: first.Overrides, Base: o.thread.Head, CreatedAt: now,
	}
	if err := w.OpenTurn(ctx, o.turn); err != nil {
		return nil, err
	}
	entries := journal.Messages(messages)
	if o.untold {
		note, err := tell(ctx, w, o.turn)
		if err != nil {
			return nil, err
		}
		entries = append(note, entries...)
	}
	if o.thread.Seq == 0 && o.thread.Head == "" {
		if o.earlier == nil {
			o.earlier = journal.Earlier(first.History)
		}
		entries = slices.Concat(o.earlier, entries)
	}
	after := o.thread
	for _, e := range sized(entries) {
		e.ID, e.Thread, e.Parent, e.Turn, e.Seq = l.cfg.IDs.Entry(), after.ID, after.Head, o.turn.ID, after.Seq+1
		e.CreatedAt = now
		if err := w.AppendEntry(ctx, e); err != nil {
			return nil, err
		}
		after.Head, after.Seq = e.ID, e.Seq
		o.entries = append(o.entries, e)
	}
	after.State, after.UpdatedAt = chela.ThreadProcessing, now
	if after.Title == "" {
		after.Title = chela.TitleOf(first.Text)
	}
	if err := w.MoveThread(ctx, o.thread, after); err != nil {
		return nil, err
	}
	o.thread.Title = after.Title
	if err := remember(ctx, w, &o.session, o.turn); err != nil {
		return nil, err
	}
	o.events = opening(o)
	return &o, w.Announce(ctx, now, o.events)
}

// sized says of entries what each takes in a prompt, if that was not done.
func sized(entries []chela.Entry) []chela.Entry {
	for i := range entries {
		if e := &entries[i]; e.Tokens == 0 {
			e.Tokens = prompt.Tokens(e.Body)
		}
	}
	return entries
}

// remember keeps where the newest turn of a session came from, and brings an
// archived session back. Its settings may have changed since it was read.
func remember(ctx context.Context, w *store.Write, s *chela.Session, t chela.Turn) (err error) {
	if s.Settings.Last == t.Origin && s.Settings.ArchivedAt.IsZero() {
		return nil
	}
	if *s, err = w.Session(ctx, s.Key); err != nil {
		return err
	}
	s.Settings.Last, s.Settings.ArchivedAt, s.UpdatedAt = t.Origin, time.Time{}, t.CreatedAt
	return w.SaveSession(ctx, *s)
}

// opening returns the events that announce a fresh turn.
func opening(o opened) []chela.Event {
	about := chela.Event{Session: o.session.Key, Thread: o.thread.ID, Turn: o.turn.ID}
	event := func(kind chela.EventKind, entry chela.EntryID) chela.Event {
		e := about
		e.Kind, e.Entry = kind, entry
		return e
	}
	var events []chela.Event
	if o.thread.Seq == 0 {
		events = append(events, event(chela.EventSessionChanged, "")) // it has a new thread
	}
	events = append(events, event(chela.EventTurnStarted, ""))
	for _, e := range o.entries {
		events = append(events, event(chela.EventEntryAppended, e.ID))
	}
	return events
}

// load returns the state of an opened turn. Of a fresh one, all but the
// conversation before it is known.
func (l *Lanes) load(ctx context.Context, o *opened) (machine.State, chela.Session, error) {
	if o.entries != nil {
		before, err := l.conversation(ctx, o.thread)
		return fresh(o, before), o.session, err
	}
	var state machine.State
	var session chela.Session
	err := l.store.Read(ctx, func(r *store.Read) error {
		t, err := r.Turn(ctx, o.turn.ID)
		if err != nil {
			return err
		}
		if session, err = r.Session(ctx, t.Session); err != nil {
			return err
		}
		state, err = journal.Read(ctx, r, t)
		return err
	})
	return state, session, err
}

// conversation returns the conversation of a thread up to its head: out of
// memory if it is known up to there, else out of the journal.
func (l *Lanes) conversation(ctx context.Context, t chela.Thread) (prompt.Conversation, error) {
	if c, ok := l.known.Get(t); ok {
		return c, nil
	}
	var path []chela.Entry
	err := l.store.Read(ctx, func(r *store.Read) (err error) {
		path, err = r.PromptPath(ctx, t.Head)
		return err
	})
	return machine.Begin(t, path).Conversation, err
}

func fresh(o *opened, conversation prompt.Conversation) machine.State {
	s := machine.Begin(o.thread, nil)
	s.Conversation = conversation
	s.Thread.State, s.Thread.UpdatedAt = chela.ThreadProcessing, o.turn.CreatedAt
	return machine.Fold(s, machine.Change{Turn: &o.turn, Entries: o.entries})
}
