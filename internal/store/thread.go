package store

import (
	"context"

	"chela"
)

var threadTable = tableOf("threads", func(t *chela.Thread) []column {
	return []column{
		{"id", &t.ID},
		{"session", &t.Session},
		{"title", &t.Title},
		{"head", &t.Head},
		{"seq", &t.Seq},
		{"state", &t.State},
		{"created_at", &t.CreatedAt},
		{"updated_at", &t.UpdatedAt},
	}
})

// Thread returns the thread with the given id, or NotFound.
func (r *Read) Thread(ctx context.Context, id chela.ThreadID) (chela.Thread, error) {
	return queryOne(ctx, r.tx, threadTable.scan, "thread", string(id),
		`select `+threadTable.columns+` from threads where id = $1`, string(id))
}

// CurrentThread returns the current thread of a session, or NotFound.
func (r *Read) CurrentThread(ctx context.Context, key chela.SessionKey) (chela.Thread, error) {
	return queryOne(ctx, r.tx, threadTable.scan, "session", string(key), `select `+threadTable.columns+
		` from threads where id = (select thread from sessions where key = $1)`, string(key))
}

// Threads returns the threads of a session, oldest first.
func (r *Read) Threads(ctx context.Context, key chela.SessionKey) ([]chela.Thread, error) {
	return queryAll(ctx, r.tx, threadTable.scan,
		`select `+threadTable.columns+` from threads where session = $1 order by created_at, id`, string(key))
}

// CreateThread adds a thread.
func (w *Write) CreateThread(ctx context.Context, t chela.Thread) error {
	return w.tx.Must(ctx, threadTable.insert, threadTable.args(t)...)
}

// MoveThread stores head, sequence and state of a thread that was read as
// before, and its title if it had none: see TitleThread. It returns Conflict
// after a concurrent change.
func (w *Write) MoveThread(ctx context.Context, before, t chela.Thread) error {
	if t.State != before.State && !before.State.CanMove(t.State) {
		return illegalMove("thread", string(t.ID), before.State, t.State)
	}
	return w.tx.Move(ctx, "thread", string(t.ID), `update threads
		set title = case when title = '' then $4 else title end, head = $5, seq = $6, state = $7, updated_at = $8
		where id = $1 and state = $2 and seq = $3`,
		string(t.ID), string(before.State), before.Seq, t.Title, string(t.Head), t.Seq, string(t.State), micros(t.UpdatedAt))
}

// TitleThread renames a thread, regardless of its turns.
func (w *Write) TitleThread(ctx context.Context, id chela.ThreadID, title string) error {
	return w.tx.Move(ctx, "thread", string(id), `update threads set title = $2 where id = $1`, string(id), title)
}
