package routines

import (
	"context"
	"slices"
	"time"

	"chela"
	"chela/internal/store/engine"
	"chela/internal/store/rows"
)

const noteColumns = `key, session, source, text, turn, created_at`

func scanNote(row engine.Row) (n chela.Note, err error) {
	err = row.Scan(&n.Key, &n.Session, &n.From, &n.Text, &n.Turn, rows.Time(&n.CreatedAt))
	return n, err
}

// Notes returns the newest notes that a session was not told of yet, up to limit and
// oldest first.
func (r Read) Notes(ctx context.Context, session chela.SessionKey, limit int) ([]chela.Note, error) {
	notes, err := rows.All(ctx, r.tx, scanNote, `select `+noteColumns+` from notes
		where session = $1 and turn = '' order by created_at desc, key desc limit cast($2 as bigint)`, string(session), limit)
	slices.Reverse(notes)
	return notes, err
}

// AddNote adds a note. It reports whether it did: the same note is kept once.
func (w Write) AddNote(ctx context.Context, n chela.Note) (bool, error) {
	added, err := w.tx.Exec(ctx, `insert into notes (`+noteColumns+`) values ($1, $2, $3, $4, $5, $6) on conflict (key) do nothing`,
		n.Key, string(n.Session), n.From, n.Text, string(n.Turn), rows.Micros(n.CreatedAt))
	return added == 1, err
}

// TellNotes stores that a turn tells of every note that its session was not told of
// yet, and returns how many that are.
func (w Write) TellNotes(ctx context.Context, session chela.SessionKey, turn chela.TurnID) (int64, error) {
	return w.tx.Exec(ctx, `update notes set turn = $2 where session = $1 and turn = ''`, string(session), string(turn))
}

// ForgetNotes forgets up to 1,000 notes from before a time that were told, and returns
// how many it forgot.
func (w Write) ForgetNotes(ctx context.Context, before time.Time) (int64, error) {
	return w.tx.Exec(ctx, `delete from notes where key in (
		select key from notes where turn <> '' and created_at < $1 order by created_at limit 1000)`, rows.Micros(before))
}
