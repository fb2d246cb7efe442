package store

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/engine"
)

const sessionColumns = `key, agent, thread, settings, created_at, updated_at`

func scanSession(row engine.Row) (s chela.Session, err error) {
	err = row.Scan(&s.Key, &s.Agent, &s.Thread, scanJSON(&s.Settings), scanTime(&s.CreatedAt), scanTime(&s.UpdatedAt))
	return s, err
}

// Session returns the session named key, or NotFound.
func (r *Read) Session(ctx context.Context, key chela.SessionKey) (chela.Session, error) {
	return queryOne(ctx, r.tx, scanSession, "session", string(key),
		`select `+sessionColumns+` from sessions where key = $1`, string(key))
}

// Sessions returns up to limit sessions after the given key, by key.
func (r *Read) Sessions(ctx context.Context, after chela.SessionKey, limit int) ([]chela.Session, error) {
	return queryAll(ctx, r.tx, scanSession,
		`select `+sessionColumns+` from sessions where key > $1 order by key limit $2`, string(after), limit)
}

// IdleSessions returns up to limit sessions after the given key that were last
// used before a time, by key.
func (r *Read) IdleSessions(ctx context.Context, before time.Time, after chela.SessionKey, limit int) ([]chela.Session, error) {
	return queryAll(ctx, r.tx, scanSession, `select `+sessionColumns+` from sessions where key > $1 and `+isIdle+`
		order by key limit $3`, string(after), micros(before), limit)
}

// isIdle is the condition of a session that was last used before $2.
const isIdle = `updated_at < $2 and not exists (select 1 from threads t where t.session = sessions.key and t.updated_at >= $2)`

// IsIdle reports whether a session was last used before a time.
func (r *Read) IsIdle(ctx context.Context, key chela.SessionKey, before time.Time) (bool, error) {
	_, is, err := queryFirst(ctx, r.tx, scanSession, `select `+sessionColumns+` from sessions where key = $1 and `+isIdle, string(key), micros(before))
	return is, err
}

// CreateSession adds a session and its lane, or does nothing if the session
// exists.
func (w *Write) CreateSession(ctx context.Context, s chela.Session, class chela.Class) error {
	n, err := w.tx.Exec(ctx,
		`insert into sessions (`+sessionColumns+`) values ($1, $2, $3, $4, $5, $6) on conflict (key) do nothing`,
		string(s.Key), s.Agent, string(s.Thread), jsonText(s.Settings), micros(s.CreatedAt), micros(s.UpdatedAt))
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
