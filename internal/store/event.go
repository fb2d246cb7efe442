package store

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/engine"
)

// Announce stores the durable events of a transaction, all of one turn or
// session. After the commit each has its cursor and time. Cursors grow in the
// order of visibility, across all transactions.
func (w *Write) Announce(ctx context.Context, at time.Time, events []chela.Event) error {
	if len(events) == 0 {
		return nil
	}
	about := events[0]
	kept := make([]chela.Event, len(events))
	for i, e := range events {
		// The common fields are stored in the row.
		e.Cursor, e.Session, e.Thread, e.Turn, e.At = "", "", "", "", time.Time{}
		kept[i] = e
	}
	return w.tx.Queue(ctx, engine.Statement{
		Text: `insert into events (session, thread, turn, body, created_at)
			values ($1, $2, $3, $4, $5) returning tx, seq`,
		Args: []any{about.Session, about.Thread, about.Turn, jsonText(kept), at},
		Each: func(row engine.Row) error {
			var tx, seq int64
			err := row.Scan(&tx, &seq)
			for i := range events {
				events[i].Cursor, events[i].At = chela.NewCursor(tx, seq, i), at
			}
			w.announced = append(w.announced, events...)
			return err
		},
	})
}

// Hint adds an event that is told after the commit and not stored; see [Store.Tell].
func (w *Write) Hint(e chela.Event) { w.announced = append(w.announced, e) }

// An eventRow holds the events of one transaction.
type eventRow struct {
	tx, seq int64
	events  []chela.Event
}

func scanEvents(row engine.Row) (e eventRow, err error) {
	var about chela.Event
	if err = row.Scan(&e.tx, &e.seq, &about.Session, &about.Thread, &about.Turn, jsonColumn{&e.events}, &about.At); err != nil {
		return e, err
	}
	for i := range e.events {
		v := &e.events[i]
		v.Cursor = chela.NewCursor(e.tx, e.seq, i)
		v.Session, v.Thread, v.Turn, v.At = about.Session, about.Thread, about.Turn, about.At
	}
	return e, nil
}

const eventColumns = `tx, seq, session, thread, turn, body, created_at`

// Events returns the events of up to limit transactions after a cursor, in
// order: of one session, or of all if key is empty. It returns none if there
// are none yet, and NotFound if the cursor's event is not retained or never
// existed. An event becomes visible only after all transactions that began
// earlier have ended, so no event ever appears before a reader's position.
func (s *Store) Events(ctx context.Context, after chela.Cursor, key chela.SessionKey, limit int) (events []chela.Event, err error) {
	horizon, err := s.db.Horizon(ctx)
	if err != nil {
		return nil, err
	}
	tx, seq, place, err := after.Parts()
	if err != nil {
		return nil, err
	}
	var at eventRow
	var found []eventRow
	err = s.Read(ctx, func(r *Read) error {
		if at, err = r.eventRow(ctx, after); err != nil {
			return err
		}
		found, err = queryAll(ctx, r.tx, scanEvents, `select `+eventColumns+` from events
			where (tx, seq) > ($1, $2) and tx < $3 and (session = $4 or $4 = '') order by tx, seq limit cast($5 as bigint)`,
			tx, seq, horizon, key, limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(at.events) > 0 && (key == "" || at.events[0].Session == key) {
		events = at.events[place+1:]
	}
	for _, row := range found {
		events = append(events, row.events...)
	}
	return events, nil
}

// eventRow returns the row of a cursor, or NotFound.
func (r *Read) eventRow(ctx context.Context, c chela.Cursor) (eventRow, error) {
	tx, seq, place, err := c.Parts()
	if err != nil {
		return eventRow{}, err
	}
	row, ok, err := queryFirst(ctx, r.tx, scanEvents, `select `+eventColumns+` from events where tx = $1 and seq = $2`, tx, seq)
	if err == nil && (!ok || place > max(len(row.events)-1, 0)) {
		err = noSuch("event", c)
	}
	return row, err
}

// LastEvent returns the cursor of the newest event visible to Events.
func (s *Store) LastEvent(ctx context.Context) (last chela.Cursor, err error) {
	horizon, err := s.db.Horizon(ctx)
	if err != nil {
		return "", err
	}
	err = s.Read(ctx, func(r *Read) error {
		row, _, err := queryFirst(ctx, r.tx, scanEvents,
			`select `+eventColumns+` from events where tx < $1 order by tx desc, seq desc limit 1`, horizon)
		last = chela.NewCursor(row.tx, row.seq, max(len(row.events)-1, 0))
		return err
	})
	return last, err
}

// ForgetEvents deletes the events of up to 1,000 transactions that were
// committed before a time, or have more than keep newer ones. It returns the
// number of deleted rows.
func (w *Write) ForgetEvents(ctx context.Context, before time.Time, keep int64) (int64, error) {
	return w.tx.Exec(ctx, `with newest as (select seq from events order by tx desc, seq desc limit 1)
		delete from events where (tx, seq) in (select tx, seq from events order by tx, seq limit 1000)
		and (created_at < $1 or seq < (select seq from newest) - cast($2 as bigint))
		and seq < (select seq from newest)`, before, keep)
}
