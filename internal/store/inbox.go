package store

import (
	"context"
	"slices"

	"chela"
	"chela/internal/store/engine"
	"chela/internal/store/rows"
)

const inboxColumns = `id, session, thread, seq, channel, account, message_id, state, turn, dropped, node, body, tokens, reply, created_at`

func scanWaiting(row engine.Row) (m chela.Waiting, err error) {
	var seq int64
	var channel, account string
	err = row.Scan(&m.ID, &m.Session, &m.Thread, &seq, &channel, &account, &m.MessageID, &m.State, &m.Turn, &m.Dropped, &m.Node,
		rows.JSON(&m.Inbound), &m.Tokens, &m.Reply, rows.Time(&m.CreatedAt))
	return m, err
}

// Waiting returns up to limit messages of a session that no turn has taken, in
// the order of their arrival.
func (r *Read) Waiting(ctx context.Context, key chela.SessionKey, limit int) ([]chela.Waiting, error) {
	// SQLite would plan the query anew with every limit that it is handed bare.
	return rows.All(ctx, r.tx, scanWaiting, `select `+inboxColumns+` from inbox
		where session = $1 and state = 'waiting' order by seq limit cast($2 as bigint)`, string(key), limit)
}

// WaitingSessions returns the sessions with messages that no turn has taken, in
// no particular order.
func (r *Read) WaitingSessions(ctx context.Context) ([]chela.SessionKey, error) {
	return rows.All(ctx, r.tx, func(row engine.Row) (key chela.SessionKey, err error) {
		err = row.Scan(&key)
		return key, err
	}, `select distinct session from inbox where state = 'waiting'`)
}

// CountWaiting returns how many messages of a session no turn has taken.
func (r *Read) CountWaiting(ctx context.Context, key chela.SessionKey) (n int, err error) {
	n, _, err = rows.First(ctx, r.tx, func(row engine.Row) (n int, err error) {
		err = row.Scan(&n)
		return n, err
	}, `select count(*) from inbox where session = $1 and state = 'waiting'`, string(key))
	return n, err
}

// Message returns the inbox message with the given id, or NotFound.
func (r *Read) Message(ctx context.Context, id chela.InboxID) (chela.Waiting, error) {
	return rows.One(ctx, r.tx, scanWaiting, "message", string(id),
		`select `+inboxColumns+` from inbox where id = $1`, string(id))
}

// Delivered returns the message that a delivery brought, and whether there is
// one.
func (r *Read) Delivered(ctx context.Context, channel, account, messageID string) (chela.Waiting, bool, error) {
	return rows.First(ctx, r.tx, scanWaiting, `select `+inboxColumns+` from inbox
		where channel = $1 and account = $2 and message_id = $3`, channel, account, messageID)
}

// AddMessage adds a message that arrived at place seq of its lane. It reports
// whether it did: a delivery that is known already is left as it is.
func (w *Write) AddMessage(ctx context.Context, m chela.Waiting, seq int64) (bool, error) {
	n, err := w.tx.Exec(ctx, `insert into inbox (`+inboxColumns+`)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) on conflict (channel, account, message_id) do nothing`,
		string(m.ID), string(m.Session), string(m.Thread), seq, m.Origin.Channel, m.Origin.Account, m.MessageID,
		string(m.State), string(m.Turn), string(m.Dropped), string(m.Node), rows.Text(m.Inbound), m.Tokens, m.Reply, rows.Micros(m.CreatedAt))
	return n == 1, err
}

// MoveMessage stores what became of a waiting message.
func (w *Write) MoveMessage(ctx context.Context, m chela.Waiting) error {
	if !chela.InboxWaiting.CanMove(m.State) {
		return rows.Illegal("message", string(m.ID), chela.InboxWaiting, m.State)
	}
	return w.tx.Move(ctx, "message", string(m.ID),
		`update inbox set state = $2, turn = $3, dropped = $4 where id = $1 and state = 'waiting'`,
		string(m.ID), string(m.State), string(m.Turn), string(m.Dropped))
}

// Untold returns the newest messages of a thread, up to limit and in the order of
// their arrival, that were dropped to be summarized and that no turn has told of.
func (r *Read) Untold(ctx context.Context, t chela.Thread, limit int) ([]chela.Waiting, error) {
	found, err := rows.All(ctx, r.tx, scanWaiting, `select `+inboxColumns+` from inbox
		where session = $1 and thread = $2 and dropped = 'summarize' and turn = '' order by seq desc limit cast($3 as bigint)`,
		string(t.Session), string(t.ID), limit)
	slices.Reverse(found)
	return found, err
}

// Tell stores that a turn tells of every message of its thread that Untold would
// return without a limit, and returns how many those are.
func (w *Write) Tell(ctx context.Context, t chela.Turn) (int, error) {
	n, err := w.tx.Exec(ctx, `update inbox set turn = $3
		where session = $1 and thread = $2 and dropped = 'summarize' and turn = ''`, string(t.Session), string(t.Thread), string(t.ID))
	return int(n), err
}
