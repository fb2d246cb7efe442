package store

import (
	"context"
	"slices"
	"time"

	"chela"
)

var noteTable = tableOf[chela.Note]("note", "notes", `key session source=From text turn provenance? created_at`)

// Notes returns up to limit of a session's newest undelivered notes, oldest
// first.
func (r *Read) Notes(ctx context.Context, session chela.SessionKey, limit int) ([]chela.Note, error) {
	notes, err := noteTable.all(ctx, r.tx, `where session = $1 and turn = '' order by created_at desc, key desc limit cast($2 as bigint)`, session, limit)
	slices.Reverse(notes)
	return notes, err
}

// AddNote adds a note. It reports whether it did: notes are unique by key.
func (w *Write) AddNote(ctx context.Context, n chela.Note) (bool, error) {
	return noteTable.addNew(ctx, w.tx, n, "key")
}

// TellNotes marks all undelivered notes of a session as delivered by a turn,
// and returns their number.
func (w *Write) TellNotes(ctx context.Context, session chela.SessionKey, turn chela.TurnID) (int64, error) {
	return w.tx.Exec(ctx, `update notes set turn = $2 where session = $1 and turn = ''`, session, turn)
}

// ForgetNotes deletes up to 1,000 delivered notes from before a time, and
// returns their number.
func (w *Write) ForgetNotes(ctx context.Context, before time.Time) (int64, error) {
	return w.tx.Exec(ctx, `delete from notes where key in (
		select key from notes where turn <> '' and created_at < $1 order by created_at limit 1000)`, before)
}
