package store

import (
	"context"
	"unicode/utf8"

	"chela"
)

var outboxTable = tableOf("outbox", func(o *chela.Outbound) []column {
	return []column{
		{"id", &o.ID},
		{"session", &o.Session},
		{"turn", nullColumn{&o.Turn}},
		{"entry", &o.Entry},
		{"target", jsonField(&o.To)},
		{"text", &o.Text},
		{"state", &o.State},
		{"attempts", &o.Attempts},
		{"error", &o.Error},
		{"created_at", &o.CreatedAt},
		{"sent_at", &o.SentAt},
	}
})

// Owed returns up to limit unconfirmed replies of a channel, oldest first.
func (r *Read) Owed(ctx context.Context, channel string, limit int) ([]chela.Outbound, error) {
	return queryAll(ctx, r.tx, outboxTable.scan, `select `+outboxTable.columns+` from outbox
		where channel = $1 and state = 'pending' order by created_at, id limit $2`, channel, limit)
}

// Owe adds a reply.
func (w *Write) Owe(ctx context.Context, o chela.Outbound) error {
	return w.tx.Must(ctx, owe, owed(o)...)
}

var owe = `insert into outbox (` + outboxTable.names + `, channel) values (` + outboxTable.marks + `, $12)`

func owed(o chela.Outbound) []any { return append(outboxTable.args(o), o.To.Channel) }

// MoveOutbound stores the outcome of an attempt to deliver a pending reply.
func (w *Write) MoveOutbound(ctx context.Context, o chela.Outbound) error {
	if o.State != chela.OutboxPending && !chela.OutboxPending.CanMove(o.State) {
		return illegalMove("reply", string(o.ID), chela.OutboxPending, o.State)
	}
	return w.tx.Move(ctx, "reply", string(o.ID),
		`update outbox set state = $2, attempts = $3, error = $4, sent_at = $5 where id = $1 and state = 'pending'`,
		string(o.ID), string(o.State), o.Attempts, o.Error, micros(o.SentAt))
}

// OweOnce adds a notice. It reports whether it did: notices are unique by id.
func (w *Write) OweOnce(ctx context.Context, o chela.Outbound) (bool, error) {
	n, err := w.tx.Exec(ctx, owe+` on conflict (id) do nothing`, owed(o)...)
	return n == 1, err
}

// DropOwed withdraws the pending messages with an id prefix, which have become
// obsolete.
func (w *Write) DropOwed(ctx context.Context, beginning string) error {
	_, err := w.tx.Exec(ctx, `update outbox set state = 'failed', error = 'not needed any more'
		where state = 'pending' and substr(id, 1, cast($2 as integer)) = $1`, beginning, utf8.RuneCountInString(beginning))
	return err
}
