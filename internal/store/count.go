package store

import (
	"context"

	"chela/internal/store/engine"
)

// Counts holds the sizes shown on a status page.
type Counts struct {
	Sessions         int
	TurnsLive        int
	ApprovalsPending int
	InboxWaiting     int
	OutboxPending    int
}

// Counts counts the rows for a status page.
func (r *Read) Counts(ctx context.Context) (Counts, error) {
	c, _, err := queryFirst(ctx, r.tx, func(row engine.Row) (c Counts, err error) {
		err = row.Scan(&c.Sessions, &c.TurnsLive, &c.ApprovalsPending, &c.InboxWaiting, &c.OutboxPending)
		return c, err
	}, `select
		(select count(*) from sessions),
		(select count(*) from turns where state in ('processing', 'awaiting_approval')),
		(select count(*) from approvals where state = 'pending'),
		(select count(*) from inbox where state = 'waiting'),
		(select count(*) from outbox where state = 'pending')`)
	return c, err
}
