package store

import (
	"context"

	"chela"
)

var threadTable = tableOf[chela.Thread]("thread", "threads", `id session title head seq state created_at updated_at`)

// Thread returns the thread with the given id, or NotFound.
func (r *Read) Thread(ctx context.Context, id chela.ThreadID) (chela.Thread, error) {
	return threadTable.get(ctx, r.tx, id)
}

// CurrentThread returns the current thread of a session, or NotFound.
func (r *Read) CurrentThread(ctx context.Context, key chela.SessionKey) (chela.Thread, error) {
	t, ok, err := threadTable.first(ctx, r.tx, `where id = (select thread from sessions where key = $1)`, key)
	if err == nil && !ok {
		err = noSuch("session", key)
	}
	return t, err
}

// Threads returns the threads of a session, oldest first.
func (r *Read) Threads(ctx context.Context, key chela.SessionKey) ([]chela.Thread, error) {
	return threadTable.all(ctx, r.tx, `where session = $1 order by created_at, id`, key)
}

// CreateThread adds a thread.
func (w *Write) CreateThread(ctx context.Context, t chela.Thread) error {
	return threadTable.add(ctx, w.tx, t)
}

// MoveThread stores head, sequence and state of a thread that was read as
// before, and its title if it had none: see TitleThread. It returns Conflict
// after a concurrent change.
func (w *Write) MoveThread(ctx context.Context, before, t chela.Thread) error {
	if t.State != before.State && !before.State.CanMove(t.State) {
		return illegalMove("thread", t.ID, before.State, t.State)
	}
	return w.tx.Move(ctx, "thread", t.ID, `update threads
		set title = case when title = '' then $4 else title end, head = $5, seq = $6, state = $7, updated_at = $8
		where id = $1 and state = $2 and seq = $3`,
		t.ID, before.State, before.Seq, t.Title, t.Head, t.Seq, t.State, t.UpdatedAt)
}

// TitleThread renames a thread, regardless of its turns.
func (w *Write) TitleThread(ctx context.Context, id chela.ThreadID, title string) error {
	return w.tx.Move(ctx, "thread", id, `update threads set title = $2 where id = $1`, id, title)
}
