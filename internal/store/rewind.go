package store

// The history of thread heads: rewinds, checkpoints and branches, and the turns
// on a path.

import (
	"context"

	"chela"
	"chela/internal/store/engine"
)

var rewindTable = tableOf[chela.Rewind]("rewind", "rewinds", `
	id session thread kind state key origin=From target=To keep_files changes? not_undone? node
	created_at renewed_at done_at`)

// Rewind returns the rewind with the given id, or NotFound.
func (r *Read) Rewind(ctx context.Context, id chela.RewindID) (chela.Rewind, error) {
	return rewindTable.get(ctx, r.tx, id)
}

// RewindByKey returns the rewind that a request of a session created, and
// whether there is one. Refused rewinds changed nothing and are ignored.
func (r *Read) RewindByKey(ctx context.Context, session chela.SessionKey, key string) (chela.Rewind, bool, error) {
	return rewindTable.first(ctx, r.tx, `where session = $1 and key = $2 and key <> '' and state <> 'refused'`, session, key)
}

// OpenRewinds returns the rewinds in progress, oldest first: of one session, or
// of all if session is empty.
func (r *Read) OpenRewinds(ctx context.Context, session chela.SessionKey) ([]chela.Rewind, error) {
	return rewindTable.all(ctx, r.tx, `where state in ('asked', 'planned') and (session = $1 or $1 = '') order by created_at, id`, session)
}

// IsRewinding reports whether a session has a rewind in progress, which blocks
// the opening of turns.
func (r *Read) IsRewinding(ctx context.Context, session chela.SessionKey) (is bool, err error) {
	is, _, err = queryValue[bool](ctx, r.tx, `select case when `+hasRewind+` then 1 else 0 end`, session)
	return is, err
}

// LastArrival returns the last undo or restore that moved a thread's head to an
// entry, and whether there is one.
func (r *Read) LastArrival(ctx context.Context, thread chela.ThreadID, at chela.EntryID) (chela.Rewind, bool, error) {
	return rewindTable.first(ctx, r.tx, `where thread = $1 and target = $2 and state = 'done' and kind <> 'redo' order by seq desc limit 1`, thread, at)
}

// AddRewind adds a rewind. It returns Conflict if the thread has one in
// progress, or if the session has an unrefused one with its key.
func (w *Write) AddRewind(ctx context.Context, v chela.Rewind) error {
	return w.tx.Must(ctx, `insert into rewinds (seq, `+rewindTable.names+`) values (
			coalesce((select max(seq) from rewinds where thread = $3), 0) + 1, `+rewindTable.marks+`)`, rewindTable.args(v)...)
}

var (
	moveRewind  = rewindTable.update("state origin changes not_undone node done_at", "id = $1 and state = $2")
	renewRewind = rewindTable.update("node renewed_at", "id = $1 and node = $2 and state in ('asked', 'planned')")
)

// MoveRewind stores the outcome of a rewind that was in the state from.
func (w *Write) MoveRewind(ctx context.Context, v chela.Rewind, from chela.RewindState) error {
	if !from.CanMove(v.State) {
		return illegalMove("rewind", v.ID, from, v.State)
	}
	return moveRewind.move(ctx, w.tx, v, v.ID, from)
}

// RenewRewind makes v.Node the executor of a rewind at v.RenewedAt. It returns
// Conflict unless from was the executor, or if the rewind has ended.
func (w *Write) RenewRewind(ctx context.Context, v chela.Rewind, from chela.NodeID) error {
	return renewRewind.move(ctx, w.tx, v, v.ID, from)
}

// A Segment is the part of a path that one turn added.
type Segment struct {
	Turn   chela.TurnID
	Thread chela.ThreadID
	Base   chela.EntryID // entry before it; empty at the root
	Last   chela.EntryID // its last entry on the path
	Seq    int64         // sequence number of Last
	Cut    bool          // the turn has further entries off the path
}

// Stretches returns up to limit stretches of the path from head to the root,
// newest first. It reads one entry of each.
func (r *Read) Stretches(ctx context.Context, head chela.EntryID, limit int) ([]Segment, error) {
	// A turn's entries have consecutive numbers, as a thread has one open turn
	// at a time.
	return queryAll(ctx, r.tx, func(row engine.Row) (s Segment, err error) {
		err = row.Scan(&s.Turn, &s.Thread, &s.Base, &s.Last, &s.Seq, &s.Cut)
		return s, err
	}, `with recursive up (turn, thread, base, last, seq, depth) as (
			select t.id, e.thread, t.base, e.id, e.seq, cast(1 as bigint)
				from entries e join turns t on t.id = e.turn where e.id = $1
			union all
			select t.id, e.thread, t.base, e.id, e.seq, up.depth + 1
				from up join entries e on e.id = up.base join turns t on t.id = e.turn where up.depth < $2)
		select turn, thread, base, last, seq, case when exists (
			select 1 from entries e where e.thread = up.thread and e.seq = up.seq + 1 and e.turn = up.turn) then 1 else 0 end
		from up order by depth`, head, limit)
}
