package store

import (
	"context"
	"time"

	"chela"
)

var sessionTable = tableOf("sessions", func(s *chela.Session) []column {
	return []column{
		{"key", &s.Key},
		{"agent", &s.Agent},
		{"thread", &s.Thread},
		{"settings", jsonField(&s.Settings)},
		{"created_at", &s.CreatedAt},
		{"updated_at", &s.UpdatedAt},
	}
})

// Session returns the session named key, or NotFound.
func (r *Read) Session(ctx context.Context, key chela.SessionKey) (chela.Session, error) {
	return queryOne(ctx, r.tx, sessionTable.scan, "session", string(key),
		`select `+sessionTable.columns+` from sessions where key = $1`, string(key))
}

// Sessions returns up to limit sessions after the given key, by key.
func (r *Read) Sessions(ctx context.Context, after chela.SessionKey, limit int) ([]chela.Session, error) {
	return queryAll(ctx, r.tx, sessionTable.scan,
		`select `+sessionTable.columns+` from sessions where key > $1 order by key limit $2`, string(after), limit)
}

// IdleSessions returns up to limit sessions after the given key that were last
// used before a time, by key.
func (r *Read) IdleSessions(ctx context.Context, before time.Time, after chela.SessionKey, limit int) ([]chela.Session, error) {
	return queryAll(ctx, r.tx, sessionTable.scan, `select `+sessionTable.columns+` from sessions where key > $1 and `+isIdle+`
		order by key limit $3`, string(after), micros(before), limit)
}

// isIdle is the condition of a session that was last used before $2.
const isIdle = `updated_at < $2 and not exists (select 1 from threads t where t.session = sessions.key and t.updated_at >= $2)`

// IsIdle reports whether a session was last used before a time.
func (r *Read) IsIdle(ctx context.Context, key chela.SessionKey, before time.Time) (bool, error) {
	_, is, err := queryFirst(ctx, r.tx, sessionTable.scan, `select `+sessionTable.columns+` from sessions where key = $1 and `+isIdle, string(key), micros(before))
	return is, err
}

// CreateSession adds a session and its lane, or does nothing if the session
// exists.
func (w *Write) CreateSession(ctx context.Context, s chela.Session, class chela.Class) error {
	n, err := w.tx.Exec(ctx, sessionTable.insert+` on conflict (key) do nothing`, sessionTable.args(s)...)
	if err != nil || n == 0 {
		return err
	}
	return w.tx.Must(ctx, `insert into lanes (session, class) values ($1, $2)`, string(s.Key), string(class))
}

// SaveSession stores the current thread and the settings of a session.
func (w *Write) SaveSession(ctx context.Context, s chela.Session) error {
	return w.tx.Move(ctx, "session", string(s.Key),
		`update sessions set thread = $2, settings = $3, updated_at = $4 where key = $1`,
		string(s.Key), string(s.Thread), jsonText(s.Settings), micros(s.UpdatedAt))
}
