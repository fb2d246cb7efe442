package store

import (
	"context"
	"time"

	"chela"
)

// ResponseDeleted reports whether a client deleted a response of the
// OpenAI-compatible API.
func (r *Read) ResponseDeleted(ctx context.Context, id string) (bool, error) {
	n, _, err := queryValue[int](ctx, r.tx, `select count(*) from deleted_responses where id = $1`, id)
	return n > 0, err
}

// DeleteResponse marks a response of a turn as deleted. It reports whether it was not
// deleted before.
func (w *Write) DeleteResponse(ctx context.Context, id string, turn chela.TurnID, at time.Time) (bool, error) {
	return w.tx.Did(ctx, `insert into deleted_responses (id, turn, deleted_at) values ($1, $2, $3) on conflict (id) do nothing`,
		id, turn, at)
}
