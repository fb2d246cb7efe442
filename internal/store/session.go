package store

import (
	"context"
	"time"

	"chela"
)

var sessionTable = tableOf[chela.Session]("session", "sessions", `key agent thread settings created_at updated_at`)

// Session returns the session named key, or NotFound.
func (r *Read) Session(ctx context.Context, key chela.SessionKey) (chela.Session, error) {
	return sessionTable.get(ctx, r.tx, key)
}

// Sessions returns up to limit sessions after the given key, by key.
func (r *Read) Sessions(ctx context.Context, after chela.SessionKey, limit int) ([]chela.Session, error) {
	return sessionTable.all(ctx, r.tx, `where key > $1 order by key limit $2`, after, limit)
}

// IdleSessions returns up to limit sessions after the given key that were last
// used before a time, by key.
func (r *Read) IdleSessions(ctx context.Context, before time.Time, after chela.SessionKey, limit int) ([]chela.Session, error) {
	return sessionTable.all(ctx, r.tx, `where key > $1 and `+isIdle+`
		order by key limit $3`, after, before, limit)
}

// isIdle is the condition of a session that was last used before $2.
const isIdle = `updated_at < $2 and not exists (select 1 from threads t where t.session = sessions.key and t.updated_at >= $2)`

// IsIdle reports whether a session was last used before a time.
func (r *Read) IsIdle(ctx context.Context, key chela.SessionKey, before time.Time) (bool, error) {
	_, is, err := sessionTable.first(ctx, r.tx, `where key = $1 and `+isIdle, key, before)
	return is, err
}

// CreateSession adds a session and its lane, or does nothing if the session
// exists.
func (w *Write) CreateSession(ctx context.Context, s chela.Session, class chela.Class) error {
	added, err := sessionTable.addNew(ctx, w.tx, s, "key")
	if err != nil || !added {
		return err
	}
	return w.tx.Must(ctx, `insert into lanes (session, class) values ($1, $2)`, s.Key, class)
}

var saveSession = sessionTable.update("thread settings updated_at", "key = $1")

// SaveSession stores the current thread and the settings of a session.
func (w *Write) SaveSession(ctx context.Context, s chela.Session) error {
	return saveSession.move(ctx, w.tx, s, s.Key)
}
