package store

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/engine"
)

var workTable = tableOf[chela.Work]("work", "work", `
	id kind key args state attempts error due_at owner token until created_at`)

// insertWork begins a statement that adds a row unless unfinished work of its
// kind and key exists; the conflict clause follows.
var insertWork = `insert into work (` + workTable.names + `, again_at, dropped) values (` + workTable.marks + `, 0, 0)
	on conflict (kind, key) where state in ('due', 'running') do update set args = excluded.args, dropped = 0, `

// AddWork enqueues work. It reports whether it did: while unfinished work of
// the same kind and key exists nothing is added, unless that work is running
// and was dropped; then it becomes due once more afterwards.
func (w *Write) AddWork(ctx context.Context, k chela.Work) (bool, error) {
	if err := w.forgetFailed(ctx, k.ID); err != nil {
		return false, err
	}
	return w.tx.Did(ctx, insertWork+`again_at = excluded.due_at where work.dropped = 1`, workTable.args(k)...)
}

// forgetFailed deletes failed work, so that its id can be used for a retry.
func (w *Write) forgetFailed(ctx context.Context, id chela.WorkID) error {
	return w.tx.Must(ctx, `delete from work where id = $1 and state = 'failed'`, id)
}

// SetWork enqueues work, or replaces the time and arguments of unfinished work
// of the same kind and key. Waiting work starts with zero attempts. Running
// work becomes due once more afterwards, at the time of k or at the earlier
// time that its handler returns. DueAt must not be zero.
func (w *Write) SetWork(ctx context.Context, k chela.Work) error {
	if err := w.forgetFailed(ctx, k.ID); err != nil {
		return err
	}
	return w.tx.Must(ctx, insertWork+`
		due_at = case when work.state = 'due' then excluded.due_at else work.due_at end,
		again_at = case when work.state = 'due' then 0 else excluded.due_at end,
		attempts = case when work.state = 'due' then 0 else work.attempts end,
		error = case when work.state = 'due' then '' else work.error end`, workTable.args(k)...)
}

// liveWorkAt selects the unfinished work of kind $1 and key $2. The list of
// states matches the index; without it SQLite scans all work of the kind.
const liveWorkAt = `kind = $1 and key = $2 and state in ('due', 'running')`

// DropWork deletes unfinished work, if any. A running handler is not stopped,
// but not called again.
func (w *Write) DropWork(ctx context.Context, kind, key string) error {
	if err := w.tx.Must(ctx, `delete from work where `+liveWorkAt+` and state = 'due'`, kind, key); err != nil {
		return err
	}
	return w.tx.Must(ctx, `update work set dropped = 1, again_at = 0 where `+liveWorkAt+` and state = 'running'`, kind, key)
}

// LiveWork returns the unfinished work of a kind and key, and whether there is
// any.
func (r *Read) LiveWork(ctx context.Context, kind, key string) (chela.Work, bool, error) {
	return workTable.first(ctx, r.tx, `where `+liveWorkAt, kind, key)
}

// NextWork returns the earliest due time of each kind with waiting work. It
// reads one row per kind.
func (r *Read) NextWork(ctx context.Context) (map[string]time.Time, error) {
	next := map[string]time.Time{}
	err := r.tx.Query(ctx, func(row engine.Row) error {
		var kind string
		var due time.Time
		err := row.Scan(&kind, &due)
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

// WorkOwners returns the nodes with claims, each with the earliest end of its
// leases.
func (r *Read) WorkOwners(ctx context.Context) (map[chela.NodeID]time.Time, error) {
	owners := map[chela.NodeID]time.Time{}
	err := r.tx.Query(ctx, func(row engine.Row) error {
		var owner chela.NodeID
		var until time.Time
		err := row.Scan(&owner, &until)
		owners[owner] = until
		return err
	}, `select owner, min(until) from work where state = 'running' group by owner`)
	return owners, err
}

// OwnedWork returns the work claimed by a node, oldest first.
func (r *Read) OwnedWork(ctx context.Context, owner chela.NodeID) ([]chela.Work, error) {
	return workTable.all(ctx, r.tx, `where owner = $1 and state = 'running' order by id`, owner)
}

// FailedWork returns failed work, latest first, at most limit pieces.
func (r *Read) FailedWork(ctx context.Context, limit int) ([]chela.Work, error) {
	return workTable.all(ctx, r.tx, `where state = 'failed' order by due_at desc, id limit $1`, limit)
}
