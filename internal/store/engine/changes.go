package engine

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Topic is a set of rows that are read for every message and seldom written,
// and so worth keeping in memory. The store defines which rows belong to it.
type Topic uint8

// maxTopics bounds the topics of a store.
const maxTopics = 8

// changes counts the transactions that wrote rows of each topic.
type changes struct {
	counts   [maxTopics]atomic.Int64
	complete atomic.Bool // changes by other processes are counted too
}

// touched holds the topics that a transaction wrote.
type touched [maxTopics]bool

// add counts a transaction that ended. A failed one is counted too, because a lost
// connection leaves its outcome unknown.
func (c *changes) add(t touched) {
	for topic, wrote := range t {
		if wrote {
			c.counts[topic].Add(1)
		}
	}
}

// Changes returns a number that is different after rows of a topic were written. Rows
// that were read after a call are current while later calls return the same number.
// It is increased before the Write that changes rows returns, and for a Write of another
// process on PostgreSQL when its notification arrives. It returns false while
// notifications may be lost; then only the rows themselves are reliable. A SQLite
// database belongs to one process.
func (d *Database) Changes(ctx context.Context, t Topic) (n int64, ok bool) {
	if e, ok := d.engine.(*postgres); ok {
		e.listening.Do(func() {
			life, end := context.WithCancel(context.WithoutCancel(ctx))
			e.unlisten = end
			go e.listen(life) // close waits for it
		})
	} else {
		d.changes.complete.Store(true)
	}
	complete := d.changes.complete.Load()
	return d.changes.counts[t].Load(), complete
}

// Changed records that the transaction writes rows of a topic.
func (t Tx) Changed(ctx context.Context, topic Topic) error {
	t.touched[topic] = true
	if _, ok := t.conn.(*postgresConn); !ok {
		return nil
	}
	return t.Queue(ctx, Statement{Text: notify, Args: []any{strconv.Itoa(int(topic))}})
}

// notify sends a payload to the processes that listen, when the transaction commits.
const notify = `select pg_notify('chela_changes', $1)`

// The listener confirms its connection when it has heard nothing for quietTime,
// and starts again retryTime after a failure. A notification that takes longer than
// answerTime counts as lost.
const (
	quietTime  = 10 * time.Second
	answerTime = 5 * time.Second
	retryTime  = time.Second
)

// listen receives the notifications of all processes until the engine is closed.
func (e *postgres) listen(ctx context.Context) {
	defer close(e.listened)
	retry := time.NewTicker(retryTime)
	defer retry.Stop()
	for ctx.Err() == nil {
		e.follow(ctx)
		e.changes.complete.Store(false)
		select {
		case <-retry.C:
		case <-ctx.Done():
		}
	}
}

// follow listens on a connection of its own until that fails. Before it trusts the
// connection, and whenever it is quiet, it sends itself a notification through the pool:
// a connection pooler may accept the listen command and deliver nothing.
func (e *postgres) follow(ctx context.Context) {
	conn, err := pgx.ConnectConfig(ctx, e.pool.Config().ConnConfig)
	if err != nil {
		return
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, `listen chela_changes`); err != nil {
		return
	}
	if !e.confirm(ctx, conn) {
		return
	}
	e.changes.add(touched{true, true, true, true, true, true, true, true}) // what was missed is unknown
	e.changes.complete.Store(true)
	for {
		switch err := e.next(ctx, conn, quietTime); {
		case err == nil:
		case ctx.Err() != nil || conn.IsClosed():
			return
		case !e.confirm(ctx, conn):
			return
		}
	}
}

// confirm reports whether a notification arrives.
func (e *postgres) confirm(ctx context.Context, conn *pgx.Conn) bool {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if _, err := e.pool.Exec(ctx, notify, ""); err != nil {
		return false
	}
	return e.next(ctx, conn, answerTime) == nil
}

// next waits for one notification and counts what it announces.
func (e *postgres) next(ctx context.Context, conn *pgx.Conn, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	heard, err := conn.WaitForNotification(ctx)
	if err != nil {
		return err
	}
	if topic, err := strconv.ParseUint(heard.Payload, 10, 8); err == nil && topic < maxTopics {
		e.changes.counts[topic].Add(1)
	}
	return nil
}
