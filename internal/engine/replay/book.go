package replay

import (
	"context"
	"slices"

	"chela"
	"chela/internal/engine/turn/machine"
)

// A book is an in-memory journal of one turn.
type book struct {
	turn      chela.Turn
	thread    chela.Thread
	path      []chela.Entry // from the root to the head
	before    int           // number of entries older than the turn
	calls     []chela.ToolCall
	approvals []chela.Approval
	usage     []chela.Usage
	owed      []chela.Outbound
	givenUp   error // why retries are exhausted

	steering func() []chela.InboxMessage
}

// newBook returns a book with the recorded turn just opened.
func newBook(rec *Record) *book {
	t := rec.Turn
	t.State, t.Failure, t.Steps, t.Crashes, t.Stop = chela.TurnProcessing, nil, 0, 0, false
	b := &book{turn: t, before: len(rec.Before), path: slices.Concat(rec.Before, rec.Entries[:rec.opening()])}
	b.thread = chela.Thread{ID: t.Thread, Session: t.Session, State: chela.ThreadProcessing, Seq: rec.first() - 1}
	if n := len(b.path); n > 0 {
		b.thread.Head = b.path[n-1].ID
	}
	b.thread.Seq += int64(rec.opening())
	return b
}

// state folds the content of the book.
func (b *book) state() machine.State {
	s := machine.Resume(machine.Record{
		Thread: b.thread, Path: slices.Clone(b.path), Turn: b.turn, Entries: slices.Clone(b.entries()),
		Calls: slices.Clone(b.calls), Approvals: slices.Clone(b.approvals),
	})
	s.GivenUp = b.givenUp
	return s
}

// entries returns the turn's entries so far.
func (b *book) entries() []chela.Entry { return b.path[b.before:] }

// Append implements turn.Journal.
func (b *book) Append(_ context.Context, _ string, ch machine.Change) error {
	b.apply(ch)
	return nil
}

func (b *book) apply(ch machine.Change) {
	if ch.Turn != nil {
		b.turn = *ch.Turn
	}
	if ch.Thread != nil {
		b.thread = *ch.Thread
	}
	b.path = append(b.path, ch.Entries...)
	for _, m := range ch.Calls {
		put(&b.calls, m.Call, func(c chela.ToolCall) bool { return c.ID == m.Call.ID })
	}
	for _, a := range ch.Approvals {
		put(&b.approvals, a, func(have chela.Approval) bool { return have.ID == a.ID })
	}
	b.usage = append(b.usage, ch.Usage...)
	b.owed = append(b.owed, ch.Owed...)
}

// put replaces the matching row, or appends one.
func put[T any](rows *[]T, row T, same func(T) bool) {
	if i := slices.IndexFunc(*rows, same); i >= 0 {
		(*rows)[i] = row
		return
	}
	*rows = append(*rows, row)
}

// Steering implements turn.Journal.
func (b *book) Steering(context.Context) ([]chela.InboxMessage, error) { return b.steering(), nil }

// resume makes a waiting turn ready to run.
func (b *book) resume() {
	b.turn.State, b.thread.State = chela.TurnProcessing, chela.ThreadProcessing
}
