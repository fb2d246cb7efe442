// Package rewinds keeps what happened to the heads of threads: rewinds,
// checkpoints and branches, and reads which turns lie on a path.
package rewinds

import (
	"context"

	"chela"
	"chela/internal/store/engine"
	"chela/internal/store/rows"
)

// A Read is a transaction as far as it reads rewinds.
type Read struct{ tx rows.Tx }

// Reading returns a transaction as far as it reads rewinds.
func Reading(tx rows.Tx) Read { return Read{tx} }

// A Write is a transaction as far as it writes rewinds.
type Write struct{ tx rows.Tx }

// Writing returns a transaction as far as it writes rewinds.
func Writing(tx rows.Tx) Write { return Write{tx} }

const rewindColumns = `id, session, thread, kind, state, key, origin, target, keep_files, changes, not_undone, node, created_at, renewed_at, done_at`

func scanRewind(row engine.Row) (v chela.Rewind, err error) {
	err = row.Scan(&v.ID, &v.Session, &v.Thread, &v.Kind, &v.State, &v.Key, &v.From, &v.To, rows.Flag(&v.KeepFiles),
		rows.JSON(&v.Changes), rows.JSON(&v.NotUndone), &v.Node, rows.Time(&v.CreatedAt), rows.Time(&v.RenewedAt), rows.Time(&v.DoneAt))
	return v, err
}

// Rewind returns the rewind with the given id, or NotFound.
func (r Read) Rewind(ctx context.Context, id chela.RewindID) (chela.Rewind, error) {
	return rows.One(ctx, r.tx, scanRewind, "rewind", string(id),
		`select `+rewindColumns+` from rewinds where id = $1`, string(id))
}

// RewindByKey returns the rewind that a request of a session asked for, and
// whether there is one. A refused one changed nothing and is not returned.
func (r Read) RewindByKey(ctx context.Context, session chela.SessionKey, key string) (chela.Rewind, bool, error) {
	return rows.First(ctx, r.tx, scanRewind, `select `+rewindColumns+` from rewinds
		where session = $1 and key = $2 and key <> '' and state <> 'refused'`, string(session), key)
}

// OpenRewinds returns the rewinds that have not ended, oldest first: of one
// session, or of all if session is empty.
func (r Read) OpenRewinds(ctx context.Context, session chela.SessionKey) ([]chela.Rewind, error) {
	return rows.All(ctx, r.tx, scanRewind, `select `+rewindColumns+` from rewinds
		where state in ('asked', 'planned') and (session = $1 or $1 = '') order by created_at, id`, string(session))
}

// IsRewinding reports whether a session has a rewind that has not ended. Until
// then no turn is opened in it.
func (r Read) IsRewinding(ctx context.Context, session chela.SessionKey) (is bool, err error) {
	_, err = rows.All(ctx, r.tx, func(row engine.Row) (bool, error) { return true, row.Scan(rows.Flag(&is)) },
		`select case when exists (select 1 from rewinds where session = $1 and state in ('asked', 'planned')) then 1 else 0 end`,
		string(session))
	return is, err
}

// LastArrival returns the undo or restore that last brought a thread's head to
// an entry, and whether there is one.
func (r Read) LastArrival(ctx context.Context, thread chela.ThreadID, at chela.EntryID) (chela.Rewind, bool, error) {
	return rows.First(ctx, r.tx, scanRewind, `select `+rewindColumns+` from rewinds
		where thread = $1 and target = $2 and state = 'done' and kind <> 'redo' order by seq desc limit 1`, string(thread), string(at))
}

// AddRewind adds a rewind. A thread has at most one that has not ended, and a
// session one for each key that was not refused: a second one is a Conflict.
func (w Write) AddRewind(ctx context.Context, v chela.Rewind) error {
	return w.tx.Must(ctx, `insert into rewinds (seq, `+rewindColumns+`) values (
			coalesce((select max(seq) from rewinds where thread = $3), 0) + 1,
			$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
		string(v.ID), string(v.Session), string(v.Thread), string(v.Kind), string(v.State), v.Key, string(v.From), string(v.To),
		rows.Bit(v.KeepFiles), rows.List(v.Changes), rows.List(v.NotUndone), string(v.Node),
		rows.Micros(v.CreatedAt), rows.Micros(v.RenewedAt), rows.Micros(v.DoneAt))
}

// MoveRewind stores what became of a rewind that was in the state from.
func (w Write) MoveRewind(ctx context.Context, v chela.Rewind, from chela.RewindState) error {
	if !from.CanMove(v.State) {
		return rows.Illegal("rewind", string(v.ID), from, v.State)
	}
	return w.tx.Move(ctx, "rewind", string(v.ID), `update rewinds
		set state = $3, origin = $4, changes = $5, not_undone = $6, node = $7, done_at = $8 where id = $1 and state = $2`,
		string(v.ID), string(from), string(v.State), string(v.From), rows.List(v.Changes), rows.List(v.NotUndone),
		string(v.Node), rows.Micros(v.DoneAt))
}

// RenewRewind stores that v.Node carries a rewind out at v.RenewedAt. It is a
// Conflict if from did not do so until now, or the rewind has ended.
func (w Write) RenewRewind(ctx context.Context, v chela.Rewind, from chela.NodeID) error {
	return w.tx.Move(ctx, "rewind", string(v.ID), `update rewinds set node = $3, renewed_at = $4
		where id = $1 and node = $2 and state in ('asked', 'planned')`,
		string(v.ID), string(from), string(v.Node), rows.Micros(v.RenewedAt))
}

// A Stretch is what one turn added to a path.
type Stretch struct {
	Turn   chela.TurnID
	Thread chela.ThreadID
	Base   chela.EntryID // the entry before it; empty at the root
	Last   chela.EntryID // its last entry on the path
	Seq    int64         // of that
	Cut    bool          // the turn has more entries, which are not on the path
}

// Stretches returns up to limit stretches of the path from head to the root,
// the newest first. It reads one entry of each.
func (r Read) Stretches(ctx context.Context, head chela.EntryID, limit int) ([]Stretch, error) {
	// A turn's entries have numbers without gaps: no other turn is open meanwhile.
	return rows.All(ctx, r.tx, func(row engine.Row) (s Stretch, err error) {
		err = row.Scan(&s.Turn, &s.Thread, &s.Base, &s.Last, &s.Seq, rows.Flag(&s.Cut))
		return s, err
	}, `with recursive up (turn, thread, base, last, seq, depth) as (
			select t.id, e.thread, t.base, e.id, e.seq, cast(1 as bigint)
				from entries e join turns t on t.id = e.turn where e.id = $1
			union all
			select t.id, e.thread, t.base, e.id, e.seq, up.depth + 1
				from up join entries e on e.id = up.base join turns t on t.id = e.turn where up.depth < $2)
		select turn, thread, base, last, seq, case when exists (
			select 1 from entries e where e.thread = up.thread and e.seq = up.seq + 1 and e.turn = up.turn) then 1 else 0 end
		from up order by depth`, string(head), limit)
}
