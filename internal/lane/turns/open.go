// Package turns opens the turns of lanes: it finds where a message belongs, decides
// what a lane goes on with, makes a turn of messages, ends one that is in the way
// of others, and drops messages for which there is no room.
package turns

import (
	"context"
	"slices"
	"time"

	"chela"
	"chela/internal/journal"
	"chela/internal/prompt"
	"chela/internal/queue"
	"chela/internal/store"
	"chela/internal/turn"
)

// An Opener opens turns. All fields are required. Its methods are parts of
// transactions in which the row of the lane is locked.
type Opener struct {
	IDs    *chela.IDs
	Now    func() time.Time
	Queue  queue.Rules // of the home
	Runner *turn.Runner

	// Model returns the model of a new turn, as provider/model, of the messages
	// that it is made of.
	Model func(s chela.Session, t chela.Thread, messages []chela.Waiting) string
}

// Open writes a new turn for messages of one thread, whose lane the caller takes
// for it or goes on holding. Messages that are in the inbox already are marked
// taken; the turn they are taken by is known beforehand.
func (op *Opener) Open(ctx context.Context, w *store.Write, o Opened, messages []chela.Waiting) (*Opened, error) {
	now := op.Now()
	first := messages[0]
	o.Turn = chela.Turn{
		ID: first.Turn, Session: o.Session.Key, Thread: o.Thread.ID, State: chela.TurnProcessing, Origin: first.Origin,
		Model: op.Model(o.Session, o.Thread, messages), Overrides: first.Overrides, Base: o.Thread.Head, CreatedAt: now,
	}
	if err := w.OpenTurn(ctx, o.Turn); err != nil {
		return nil, err
	}
	entries := journal.Messages(messages)
	if o.Untold {
		note, err := tell(ctx, w, o.Turn)
		if err != nil {
			return nil, err
		}
		entries = append(note, entries...)
	}
	if o.Thread.Seq == 0 && o.Thread.Head == "" {
		if o.Earlier == nil {
			o.Earlier = journal.Earlier(first.History)
		}
		entries = slices.Concat(o.Earlier, entries)
	}
	after := o.Thread
	for _, e := range Sized(entries) {
		e.ID, e.Thread, e.Parent, e.Turn, e.Seq = op.IDs.Entry(), after.ID, after.Head, o.Turn.ID, after.Seq+1
		e.CreatedAt = now
		if err := w.AppendEntry(ctx, e); err != nil {
			return nil, err
		}
		after.Head, after.Seq = e.ID, e.Seq
		o.Entries = append(o.Entries, e)
	}
	after.State, after.UpdatedAt = chela.ThreadProcessing, now
	if after.Title == "" {
		after.Title = chela.TitleOf(first.Text)
	}
	if err := w.MoveThread(ctx, o.Thread, after); err != nil {
		return nil, err
	}
	o.Thread.Title = after.Title
	if err := remember(ctx, w, &o.Session, o.Turn); err != nil {
		return nil, err
	}
	o.Events = opening(o)
	return &o, w.Announce(ctx, now, o.Events)
}

// Sized says of entries what each takes in a prompt, if that was not done.
func Sized(entries []chela.Entry) []chela.Entry {
	for i := range entries {
		if e := &entries[i]; e.Tokens == 0 {
			e.Tokens = prompt.Tokens(e.Body)
		}
	}
	return entries
}

// remember keeps where the newest turn of a session came from, unless chela itself
// follows it and nobody is there, and brings an archived session back. Its settings
// may have changed since it was read.
func remember(ctx context.Context, w *store.Write, s *chela.Session, t chela.Turn) (err error) {
	last := t.Origin
	if last.Followed() {
		last = s.Settings.Last
	}
	if s.Settings.Last == last && s.Settings.ArchivedAt.IsZero() {
		return nil
	}
	if *s, err = w.Session(ctx, s.Key); err != nil {
		return err
	}
	if !t.Origin.Followed() {
		s.Settings.Last = t.Origin
	}
	s.Settings.ArchivedAt, s.UpdatedAt = time.Time{}, t.CreatedAt
	return w.SaveSession(ctx, *s)
}

// opening returns the events that announce a fresh turn.
func opening(o Opened) []chela.Event {
	about := chela.Event{Session: o.Session.Key, Thread: o.Thread.ID, Turn: o.Turn.ID}
	event := func(kind chela.EventKind, entry chela.EntryID) chela.Event {
		e := about
		e.Kind, e.Entry = kind, entry
		return e
	}
	var events []chela.Event
	if o.Thread.Seq == 0 {
		events = append(events, event(chela.EventSessionChanged, "")) // it has a new thread
	}
	events = append(events, event(chela.EventTurnStarted, ""))
	for _, e := range o.Entries {
		events = append(events, event(chela.EventEntryAppended, e.ID))
	}
	return events
}
