package store

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/engine"
	"chela/internal/store/rows"
)

// Announce keeps the durable events of a transaction, which are all of one
// turn or session. Once the transaction is committed each has its cursor and time.
// Cursors grow in the order in which readers can come to see the events, across all
// transactions.
func (w *Write) Announce(ctx context.Context, at time.Time, events []chela.Event) error {
	if len(events) == 0 {
		return nil
	}
	about := events[0]
	kept := make([]chela.Event, len(events))
	for i, e := range events {
		// What all have in common is in the row.
		e.Cursor, e.Session, e.Thread, e.Turn, e.At = "", "", "", "", time.Time{}
		kept[i] = e
	}
	return w.tx.Queue(ctx, engine.Statement{
		Text: `insert into events (session, thread, turn, body, created_at)
			values ($1, $2, $3, $4, $5) returning tx, seq`,
		Args: []any{string(about.Session), string(about.Thread), string(about.Turn), rows.Text(kept), rows.Micros(at)},
		Each: func(row engine.Row) error {
			var tx, seq int64
			err := row.Scan(&tx, &seq)
			for i := range events {
				events[i].Cursor, events[i].At = chela.NewCursor(tx, seq, i), at
			}
			return err
		},
	})
}

// An eventRow is what one transaction announced.
type eventRow struct {
	tx, seq int64
	events  []chela.Event
}

func scanEvents(row engine.Row) (e eventRow, err error) {
	var about chela.Event
	if err = row.Scan(&e.tx, &e.seq, &about.Session, &about.Thread, &about.Turn, rows.JSON(&e.events), rows.Time(&about.At)); err != nil {
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

// Events returns the events of up to limit transactions that come after a
// cursor, in order: of one session, or of all if key is empty. It returns none
// if there are none yet, and a NotFound error if it is not known what came after
// the cursor: the event it names is not kept any more, or never was. An event
// appears once no transaction of the database runs that began earlier, so that
// none ever appears before the place where a reader is.
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
		found, err = rows.All(ctx, r.tx, scanEvents, `select `+eventColumns+` from events
			where (tx, seq) > ($1, $2) and tx < $3 and (session = $4 or $4 = '') order by tx, seq limit cast($5 as bigint)`,
			tx, seq, horizon, string(key), limit)
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

// eventRow returns the row that a cursor names, or NotFound.
func (r *Read) eventRow(ctx context.Context, c chela.Cursor) (eventRow, error) {
	tx, seq, place, err := c.Parts()
	if err != nil {
		return eventRow{}, err
	}
	row, err := rows.One(ctx, r.tx, scanEvents, "event", string(c), `select `+eventColumns+` from events where tx = $1 and seq = $2`, tx, seq)
	if err == nil && place > max(len(row.events)-1, 0) {
		err = chela.E(chela.NotFound, "there is no event "+string(c))
	}
	return row, err
}

// LastEvent returns the cursor of the newest event that Events would return.
func (s *Store) LastEvent(ctx context.Context) (last chela.Cursor, err error) {
	horizon, err := s.db.Horizon(ctx)
	if err != nil {
		return "", err
	}
	err = s.Read(ctx, func(r *Read) error {
		row, _, err := rows.First(ctx, r.tx, scanEvents,
			`select `+eventColumns+` from events where tx < $1 order by tx desc, seq desc limit 1`, horizon)
		last = chela.NewCursor(row.tx, row.seq, max(len(row.events)-1, 0))
		return err
	})
	return last, err
}

// ForgetEvents removes up to 1,000 transactions' events that were committed
// before a time, or have more than keep newer ones. The newest stay. It returns
// how many it removed.
func (w *Write) ForgetEvents(ctx context.Context, before time.Time, keep int64) (int64, error) {
	return w.tx.Exec(ctx, `with newest as (select seq from events order by tx desc, seq desc limit 1)
		delete from events where (tx, seq) in (select tx, seq from events order by tx, seq limit 1000)
		and (created_at < $1 or seq < (select seq from newest) - cast($2 as bigint))
		and seq < (select seq from newest)`, rows.Micros(before), keep)
}
