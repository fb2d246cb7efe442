// Package work keeps what is to be done later.
package work

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/engine"
	"chela/internal/store/rows"
)

// A Read is a transaction as far as it reads work.
type Read struct{ tx rows.Tx }

// Reading returns a transaction as far as it reads work.
func Reading(tx rows.Tx) Read { return Read{tx} }

// A Write is a transaction as far as it writes work.
type Write struct{ tx rows.Tx }

// Writing returns a transaction as far as it writes work.
func Writing(tx rows.Tx) Write { return Write{tx} }

const workColumns = `id, kind, key, args, state, attempts, error, due_at, owner, created_at`

func scanWork(row engine.Row) (k chela.Work, err error) {
	var args string
	err = row.Scan(&k.ID, &k.Kind, &k.Key, &args, &k.State, &k.Attempts, &k.Error, rows.Time(&k.DueAt), &k.Owner, rows.Time(&k.CreatedAt))
	k.Args = rows.Raw(args)
	return k, err
}

// AddWork adds something to be done later. It reports whether it did: while
// unfinished work of the same kind and key exists, or any with the same id, nothing
// is added.
func (w Write) AddWork(ctx context.Context, k chela.Work) (bool, error) {
	n, err := w.tx.Exec(ctx, `insert into work (`+workColumns+`) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		on conflict do nothing`,
		string(k.ID), k.Kind, k.Key, string(k.Args), string(k.State), k.Attempts, k.Error, rows.Micros(k.DueAt), string(k.Owner), rows.Micros(k.CreatedAt))
	return n == 1, err
}

// NextWork returns when the next unfinished work is due, and whether there is
// any.
func (r Read) NextWork(ctx context.Context) (time.Time, bool, error) {
	return rows.First(ctx, r.tx, func(row engine.Row) (t time.Time, err error) {
		err = row.Scan(rows.Time(&t))
		return t, err
	}, `select due_at from work where state in ('due', 'running') order by due_at limit 1`)
}

// ClaimWork hands up to limit pieces of work that are due to node, which has
// until the given time to finish them; after that another claim gets them.
func (w Write) ClaimWork(ctx context.Context, node chela.NodeID, now, until time.Time, limit int) ([]chela.Work, error) {
	due, err := rows.All(ctx, w.tx, scanWork, `select `+workColumns+` from work
		where state in ('due', 'running') and due_at <= $1 order by due_at, id limit $2`, rows.Micros(now), limit)
	if err != nil {
		return nil, err
	}
	var mine []chela.Work
	for _, k := range due {
		n, err := w.tx.Exec(ctx, `update work set state = 'running', owner = $4, attempts = attempts + 1, due_at = $5
			where id = $1 and state = $2 and due_at = $3`,
			string(k.ID), string(k.State), rows.Micros(k.DueAt), string(node), rows.Micros(until))
		if err != nil {
			return nil, err
		}
		if n == 1 {
			k.State, k.Owner, k.DueAt = chela.WorkRunning, node, until
			k.Attempts++
			mine = append(mine, k)
		}
	}
	return mine, nil
}

// MoveWork stores the outcome of an attempt by the owner of a piece of work:
// done, which removes it, failed, or due again. It is a Conflict if another node has
// it now.
func (w Write) MoveWork(ctx context.Context, k chela.Work) error {
	if !chela.WorkRunning.CanMove(k.State) {
		return rows.Illegal("work", string(k.ID), chela.WorkRunning, k.State)
	}
	if k.State == chela.WorkDone {
		return w.tx.Move(ctx, "work", string(k.ID), `delete from work where id = $1 and owner = $2 and state = 'running'`, string(k.ID), string(k.Owner))
	}
	return w.tx.Move(ctx, "work", string(k.ID), `update work set state = $3, error = $4, due_at = $5
		where id = $1 and owner = $2 and state = 'running'`,
		string(k.ID), string(k.Owner), string(k.State), k.Error, rows.Micros(k.DueAt))
}
