package store

import (
	"context"
	"slices"
	"time"

	"chela"
	"chela/internal/store/engine"
)

const noteColumns = `key, session, source, text, turn, provenance, created_at`

func scanNote(row engine.Row) (n chela.Note, err error) {
	err = row.Scan(&n.Key, &n.Session, &n.From, &n.Text, &n.Turn, scanJSON(&n.Provenance), scanTime(&n.CreatedAt))
	return n, err
}

// Notes returns up to limit of a session's newest undelivered notes, oldest
// first.
func (r *Read) Notes(ctx context.Context, session chela.SessionKey, limit int) ([]chela.Note, error) {
	notes, err := queryAll(ctx, r.tx, scanNote, `select `+noteColumns+` from notes
		where session = $1 and turn = '' order by created_at desc, key desc limit cast($2 as bigint)`, string(session), limit)
	slices.Reverse(notes)
	return notes, err
}

// AddNote adds a note. It reports whether it did: notes are unique by key.
func (w *Write) AddNote(ctx context.Context, n chela.Note) (bool, error) {
	added, err := w.tx.Exec(ctx, `insert into notes (`+noteColumns+`) values ($1, $2, $3, $4, $5, $6, $7) on conflict (key) do nothing`,
		n.Key, string(n.Session), n.From, n.Text, string(n.Turn), jsonIfSet(n.Provenance), micros(n.CreatedAt))
	return added == 1, err
}

// TellNotes marks all undelivered notes of a session as delivered by a turn,
// and returns their number.
func (w *Write) TellNotes(ctx context.Context, session chela.SessionKey, turn chela.TurnID) (int64, error) {
	return w.tx.Exec(ctx, `update notes set turn = $2 where session = $1 and turn = ''`, string(session), string(turn))
}

// ForgetNotes deletes up to 1,000 delivered notes from before a time, and
// returns their number.
func (w *Write) ForgetNotes(ctx context.Context, before time.Time) (int64, error) {
	return w.tx.Exec(ctx, `delete from notes where key in (
		select key from notes where turn <> '' and created_at < $1 order by created_at limit 1000)`, micros(before))
}
