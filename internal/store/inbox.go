package store

import (
	"context"
	"slices"

	"chela"
	"chela/internal/store/engine"
)

var inboxTable = tableOf("inbox", func(m *chela.InboxMessage) []column {
	return []column{
		{"id", &m.ID},
		{"session", &m.Session},
		{"thread", &m.Thread},
		{"channel", &m.Origin.Channel},
		{"account", &m.Origin.Account},
		{"message_id", &m.MessageID},
		{"state", &m.State},
		{"turn", &m.Turn},
		{"dropped", &m.Dropped},
		{"node", &m.Node},
		{"body", jsonField(&m.Inbound)},
		{"tokens", &m.Tokens},
		{"reply", &m.Reply},
		{"created_at", &m.CreatedAt},
	}
})

// Waiting returns up to limit messages of a session without a turn, in the
// order of arrival.
func (r *Read) Waiting(ctx context.Context, key chela.SessionKey, limit int) ([]chela.InboxMessage, error) {
	// Without the cast SQLite would plan the query again for every limit.
	return queryAll(ctx, r.tx, inboxTable.scan, `select `+inboxTable.columns+` from inbox
		where session = $1 and state = 'waiting' order by seq limit cast($2 as bigint)`, string(key), limit)
}

// WaitingSessions returns the sessions with messages without a turn, in no
// order.
func (r *Read) WaitingSessions(ctx context.Context) ([]chela.SessionKey, error) {
	return queryAll(ctx, r.tx, func(row engine.Row) (key chela.SessionKey, err error) {
		err = row.Scan(&key)
		return key, err
	}, `select distinct session from inbox where state = 'waiting'`)
}

// CountWaiting returns the number of messages of a session without a turn.
func (r *Read) CountWaiting(ctx context.Context, key chela.SessionKey) (n int, err error) {
	n, _, err = queryFirst(ctx, r.tx, func(row engine.Row) (n int, err error) {
		err = row.Scan(&n)
		return n, err
	}, `select count(*) from inbox where session = $1 and state = 'waiting'`, string(key))
	return n, err
}

// Message returns the inbox message with the given id, or NotFound.
func (r *Read) Message(ctx context.Context, id chela.InboxID) (chela.InboxMessage, error) {
	return queryOne(ctx, r.tx, inboxTable.scan, "message", string(id),
		`select `+inboxTable.columns+` from inbox where id = $1`, string(id))
}

// Delivered returns the message of a delivery, and whether there is one.
func (r *Read) Delivered(ctx context.Context, channel, account, messageID string) (chela.InboxMessage, bool, error) {
	return queryFirst(ctx, r.tx, inboxTable.scan, `select `+inboxTable.columns+` from inbox
		where channel = $1 and account = $2 and message_id = $3`, channel, account, messageID)
}

// AddMessage adds a message at place seq of its lane. It reports whether it did: a
// known delivery is left unchanged. The report is final when the transaction has
// committed, as an optimistic one may run again.
func (w *Write) AddMessage(ctx context.Context, m chela.InboxMessage, seq int64) (bool, error) {
	text := `insert into inbox (` + inboxTable.names + `, seq)
		values (` + inboxTable.marks + `, $15) on conflict (channel, account, message_id) do nothing`
	args := append(inboxTable.args(m), seq)
	if w.tx.Optimistic() { // most deliveries are new
		return true, w.tx.Queue(ctx, engine.Statement{Text: text, Args: args, Unmoved: engine.ErrRepeat})
	}
	n, err := w.tx.Exec(ctx, text, args...)
	return n == 1, err
}

// MoveMessage stores the outcome of a waiting message.
func (w *Write) MoveMessage(ctx context.Context, m chela.InboxMessage) error {
	if !chela.InboxWaiting.CanMove(m.State) {
		return illegalMove("message", string(m.ID), chela.InboxWaiting, m.State)
	}
	return w.tx.Move(ctx, "message", string(m.ID),
		`update inbox set state = $2, turn = $3, dropped = $4 where id = $1 and state = 'waiting'`,
		string(m.ID), string(m.State), string(m.Turn), string(m.Dropped))
}

// Untold returns up to limit of a thread's newest dropped messages that await
// their summary, in the order of arrival.
func (r *Read) Untold(ctx context.Context, t chela.Thread, limit int) ([]chela.InboxMessage, error) {
	found, err := queryAll(ctx, r.tx, inboxTable.scan, `select `+inboxTable.columns+` from inbox
		where session = $1 and thread = $2 and dropped = 'summarize' and turn = '' order by seq desc limit cast($3 as bigint)`,
		string(t.Session), string(t.ID), limit)
	slices.Reverse(found)
	return found, err
}

// Tell assigns all messages that Untold would return without a limit to a turn,
// whose prompt summarizes them, and returns their number.
func (w *Write) Tell(ctx context.Context, t chela.Turn) (int, error) {
	n, err := w.tx.Exec(ctx, `update inbox set turn = $3
		where session = $1 and thread = $2 and dropped = 'summarize' and turn = ''`, string(t.Session), string(t.Thread), string(t.ID))
	return int(n), err
}
