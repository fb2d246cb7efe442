package routines

import (
	"context"

	"chela"
	"chela/internal/store/engine"
	"chela/internal/store/rows"
)

const noteColumns = `key, session, source, text, turn, created_at`

func scanNote(row engine.Row) (n chela.Note, err error) {
	err = row.Scan(&n.Key, &n.Session, &n.From, &n.Text, &n.Turn, rows.Time(&n.CreatedAt))
	return n, err
}

// Notes returns up to limit notes that a session was not told of yet, oldest
// first.
func (r Read) Notes(ctx context.Context, session chela.SessionKey, limit int) ([]chela.Note, error) {
	return rows.All(ctx, r.tx, scanNote, `select `+noteColumns+` from notes
		where session = $1 and turn = '' order by created_at, key limit cast($2 as bigint)`, string(session), limit)
}

// AddNote adds a note. It reports whether it did: the same note is kept once.
func (w Write) AddNote(ctx context.Context, n chela.Note) (bool, error) {
	added, err := w.tx.Exec(ctx, `insert into notes (`+noteColumns+`) values ($1, $2, $3, $4, $5, $6) on conflict (key) do nothing`,
		n.Key, string(n.Session), n.From, n.Text, string(n.Turn), rows.Micros(n.CreatedAt))
	return added == 1, err
}

// TellNote stores that a turn is told of a note. It is a Conflict if another one
// was.
func (w Write) TellNote(ctx context.Context, key string, turn chela.TurnID) error {
	return w.tx.Move(ctx, "note", key, `update notes set turn = $2 where key = $1 and turn = ''`, key, string(turn))
}
