package store

import (
	"context"
	"time"
	"unicode/utf8"

	"chela"
)

var outboxTable = tableOf[chela.Outbound]("reply", "outbox", `
	id session turn? entry target=To text state attempts error created_at sent_at channel=To.Channel`)

// Owed returns up to limit unconfirmed replies of a channel, oldest first.
func (r *Read) Owed(ctx context.Context, channel string, limit int) ([]chela.Outbound, error) {
	return outboxTable.all(ctx, r.tx, `where channel = $1 and state = 'pending' order by created_at, id limit $2`, channel, limit)
}

// Undelivered returns the messages of a channel that were created since a time and
// given up after attempts to deliver them, newest first.
func (r *Read) Undelivered(ctx context.Context, channel string, since time.Time) ([]chela.Outbound, error) {
	return outboxTable.all(ctx, r.tx, `where channel = $1 and state = 'failed' and attempts > 0 and created_at >= $2 order by created_at desc, id`, channel, since)
}

// Owe adds a reply.
func (w *Write) Owe(ctx context.Context, o chela.Outbound) error {
	return outboxTable.add(ctx, w.tx, o)
}

var moveOutbound = outboxTable.update("state attempts error sent_at", `id = $1 and state = 'pending'`)

// MoveOutbound stores the outcome of an attempt to deliver a pending reply.
func (w *Write) MoveOutbound(ctx context.Context, o chela.Outbound) error {
	if o.State != chela.OutboxPending && !chela.OutboxPending.CanMove(o.State) {
		return illegalMove("reply", o.ID, chela.OutboxPending, o.State)
	}
	return moveOutbound.move(ctx, w.tx, o, o.ID)
}

// OweOnce adds a notice. It reports whether it did: notices are unique by id.
func (w *Write) OweOnce(ctx context.Context, o chela.Outbound) (bool, error) {
	return outboxTable.addNew(ctx, w.tx, o, "id")
}

// DropOwed withdraws the pending messages with an id prefix: they are obsolete.
func (w *Write) DropOwed(ctx context.Context, beginning string) error {
	_, err := w.tx.Exec(ctx, `update outbox set state = 'failed', error = 'not needed any more'
		where state = 'pending' and substr(id, 1, cast($2 as integer)) = $1`, beginning, utf8.RuneCountInString(beginning))
	return err
}
