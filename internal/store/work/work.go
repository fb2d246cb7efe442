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

const workColumns = `id, kind, key, args, state, attempts, error, due_at, owner, token, until, created_at`

func scanWork(row engine.Row) (k chela.Work, err error) {
	var args string
	err = row.Scan(&k.ID, &k.Kind, &k.Key, &args, &k.State, &k.Attempts, &k.Error, rows.Time(&k.DueAt), &k.Owner, &k.Token,
		rows.Time(&k.Until), rows.Time(&k.CreatedAt))
	k.Args = rows.Raw(args)
	return k, err
}

// insertWork is the beginning of a statement that adds a row where no unfinished
// work of its kind and key exists; what follows says what happens where some does.
const insertWork = `insert into work (` + workColumns + `, again_at, dropped)
	values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 0, 0)
	on conflict (kind, key) where state in ('due', 'running') do update set args = excluded.args, dropped = 0, `

func inserted(k chela.Work) []any {
	return []any{
		string(k.ID), k.Kind, k.Key, string(k.Args), string(k.State), k.Attempts, k.Error, rows.Micros(k.DueAt), string(k.Owner), k.Token,
		rows.Micros(k.Until), rows.Micros(k.CreatedAt),
	}
}

// AddWork adds something to be done later. It reports whether it did: while
// unfinished work of the same kind and key exists, nothing is added, unless that
// runs and was dropped; then it is due once more afterwards.
func (w Write) AddWork(ctx context.Context, k chela.Work) (bool, error) {
	if err := w.forgetFailed(ctx, k.ID); err != nil {
		return false, err
	}
	n, err := w.tx.Exec(ctx, insertWork+`again_at = excluded.due_at where work.dropped = 1`, inserted(k)...)
	return n == 1, err
}

// forgetFailed makes room for work that is to be tried once more under the id of
// an earlier try.
func (w Write) forgetFailed(ctx context.Context, id chela.WorkID) error {
	return w.tx.Must(ctx, `delete from work where id = $1 and state = 'failed'`, string(id))
}

// SetWork adds something to be done later, or gives unfinished work of the same
// kind and key the time and arguments of k. Work that waits begins to count its
// attempts anew. Work that runs is due once more afterwards, at the time of k
// or earlier if what runs asks for that. DueAt must not be zero.
func (w Write) SetWork(ctx context.Context, k chela.Work) error {
	if err := w.forgetFailed(ctx, k.ID); err != nil {
		return err
	}
	return w.tx.Must(ctx, insertWork+`
		due_at = case when work.state = 'due' then excluded.due_at else work.due_at end,
		again_at = case when work.state = 'due' then 0 else excluded.due_at end,
		attempts = case when work.state = 'due' then 0 else work.attempts end,
		error = case when work.state = 'due' then '' else work.error end`, inserted(k)...)
}

// liveAt finds the unfinished work of kind $1 and key $2. The list of states is that
// of the index; without it SQLite looks through all work of the kind.
const liveAt = `kind = $1 and key = $2 and state in ('due', 'running')`

// DropWork forgets unfinished work, if there is some. What runs already is not
// stopped, but not tried again.
func (w Write) DropWork(ctx context.Context, kind, key string) error {
	if err := w.tx.Must(ctx, `delete from work where `+liveAt+` and state = 'due'`, kind, key); err != nil {
		return err
	}
	return w.tx.Must(ctx, `update work set dropped = 1, again_at = 0 where `+liveAt+` and state = 'running'`, kind, key)
}

// LiveWork returns the unfinished work of a kind and key, and whether there is
// some.
func (r Read) LiveWork(ctx context.Context, kind, key string) (chela.Work, bool, error) {
	return rows.First(ctx, r.tx, scanWork, `select `+workColumns+` from work where `+liveAt, kind, key)
}

// NextWork returns for each kind of which something waits when the first of it
// is due. It looks at one row of each kind, however many wait.
func (r Read) NextWork(ctx context.Context) (map[string]time.Time, error) {
	next := map[string]time.Time{}
	err := r.tx.Query(ctx, func(row engine.Row) error {
		var kind string
		var due time.Time
		err := row.Scan(&kind, rows.Time(&due))
		next[kind] = due
		return err
	}, `with recursive kinds (kind) as (
			select min(kind) from work where state = 'due'
			union all
			select (select min(work.kind) from work where work.state = 'due' and work.kind > kinds.kind) from kinds where kinds.kind is not null
		)
		select kind, (select min(due_at) from work where work.state = 'due' and work.kind = kinds.kind) from kinds where kind is not null`)
	return next, err
}

// WorkOwners returns for each node that has claimed work until when it has the
// first of it.
func (r Read) WorkOwners(ctx context.Context) (map[chela.NodeID]time.Time, error) {
	owners := map[chela.NodeID]time.Time{}
	err := r.tx.Query(ctx, func(row engine.Row) error {
		var owner chela.NodeID
		var until time.Time
		err := row.Scan(&owner, rows.Time(&until))
		owners[owner] = until
		return err
	}, `select owner, min(until) from work where state = 'running' group by owner`)
	return owners, err
}

// OwnedWork returns what a node has claimed, oldest first.
func (r Read) OwnedWork(ctx context.Context, owner chela.NodeID) ([]chela.Work, error) {
	return rows.All(ctx, r.tx, scanWork, `select `+workColumns+` from work where owner = $1 and state = 'running' order by id`, string(owner))
}

// FailedWork returns what is not tried any more, latest first, at most limit
// pieces.
func (r Read) FailedWork(ctx context.Context, limit int) ([]chela.Work, error) {
	return rows.All(ctx, r.tx, scanWork, `select `+workColumns+` from work where state = 'failed' order by due_at desc, id limit $1`, limit)
}
