package store

import (
	"context"

	"chela"
	"chela/internal/store/engine"
	"chela/internal/store/rows"
)

// A Lane is the single file of a session as stored.
type Lane struct {
	chela.Lease
	Class    chela.Class
	Turn     chela.TurnID // the turn that the newest holder runs or ran
	Arrivals int64        // messages that ever arrived; the newest one's place
}

const laneColumns = `session, class, owner, token, expires_at, turn, arrivals`

func scanLane(row engine.Row) (l Lane, err error) {
	err = row.Scan(&l.Session, &l.Class, &l.Owner, &l.Token, rows.Time(&l.ExpiresAt), &l.Turn, &l.Arrivals)
	return l, err
}

// Lane returns the lane of a session, or NotFound.
func (r *Read) Lane(ctx context.Context, key chela.SessionKey) (Lane, error) {
	return rows.One(ctx, r.tx, scanLane, "session", string(key),
		`select `+laneColumns+` from lanes where session = $1`, string(key))
}

// HeldLanes returns every lane that has an owner, those first whose turns broke
// the fewest runs.
func (r *Read) HeldLanes(ctx context.Context) ([]Lane, error) {
	return rows.All(ctx, r.tx, scanLane, `select `+laneColumns+` from lanes where owner <> ''
		order by coalesce((select crashes from turns where id = lanes.turn), 0), session`)
}

// FreeLanes returns up to limit lanes without an owner that have something to
// run: a turn that may go on, or a message whose thread does not wait for the
// answer to a question.
func (r *Read) FreeLanes(ctx context.Context, limit int) ([]Lane, error) {
	return rows.All(ctx, r.tx, scanLane, `select `+laneColumns+` from lanes where owner = '' and session in (
			select session from turns where state = 'processing'
			union
			select session from inbox where state = 'waiting' and thread not in (
				select thread from approvals where state = 'pending'))
		order by session limit $1`, limit)
}

// More is what a session can go on with.
type More struct {
	Turns  bool // a turn that may run, or a message that waits
	Rewind bool // a rewind that has not ended; until then no message opens a turn
}

// HasMore returns what a session has to go on with.
func (r *Read) HasMore(ctx context.Context, key chela.SessionKey) (More, error) {
	more, _, err := rows.First(ctx, r.tx, func(row engine.Row) (more More, err error) {
		err = row.Scan(rows.Flag(&more.Turns), rows.Flag(&more.Rewind))
		return more, err
	}, `select case when exists (select 1 from turns where session = $1 and state = 'processing')
			or exists (select 1 from inbox where session = $1 and state = 'waiting') then 1 else 0 end,
		case when exists (select 1 from rewinds where session = $1 and state in ('asked', 'planned')) then 1 else 0 end`, string(key))
	return more, err
}

// An Arrival is what a message finds in its session.
type Arrival struct {
	Lane    Lane
	Session chela.Session
	Thread  chela.Thread // the current one
	Waits   bool         // another message waits, or the session is rewinding
	Untold  bool         // a dropped message waits to be summarized, or a note to be told
}

const arriveInLane = `update lanes set arrivals = arrivals + 1 where session = $1 returning ` + laneColumns

// ArriveAt is Arrive, and returns also what else an arrival must know.
func (w *Write) ArriveAt(ctx context.Context, key chela.SessionKey) (a Arrival, ok bool, err error) {
	err = w.tx.Queue(ctx, engine.Statement{Text: arriveInLane, Args: []any{string(key)}, Each: func(row engine.Row) (err error) {
		a.Lane, err = scanLane(row)
		ok = true
		return err
	}})
	if err != nil {
		return a, false, err
	}
	// Each of these sees what was committed while the lane was waited for.
	s, t := &a.Session, &a.Thread
	err = w.tx.Queue(ctx, engine.Statement{Text: `select s.key, s.agent, s.thread, s.settings, s.created_at, s.updated_at,
			t.id, t.session, t.title, t.head, t.seq, t.state, t.created_at, t.updated_at
		from sessions s join threads t on t.id = s.thread where s.key = $1`, Args: []any{string(key)}, Each: func(row engine.Row) error {
		return row.Scan(&s.Key, &s.Agent, &s.Thread, rows.JSON(&s.Settings), rows.Time(&s.CreatedAt), rows.Time(&s.UpdatedAt),
			&t.ID, &t.Session, &t.Title, &t.Head, &t.Seq, &t.State, rows.Time(&t.CreatedAt), rows.Time(&t.UpdatedAt))
	}})
	if err != nil {
		return a, false, err
	}
	err = w.tx.Query(ctx, func(row engine.Row) error { return row.Scan(rows.Flag(&a.Waits), rows.Flag(&a.Untold)) }, `select
		case when exists (select 1 from inbox where session = $1 and state = 'waiting')
			or exists (select 1 from rewinds where session = $1 and state in ('asked', 'planned')) then 1 else 0 end,
		case when exists (select 1 from inbox where session = $1 and dropped = 'summarize' and turn = '')
			or exists (select 1 from notes where session = $1 and turn = '') then 1 else 0 end`, string(key))
	return a, ok && err == nil, err
}

// Arrive counts an arrival in a lane and returns the lane, and whether the
// session exists. The lane's row stays locked until the transaction ends, so
// arrivals and endings of one session never cross.
func (w *Write) Arrive(ctx context.Context, key chela.SessionKey) (Lane, bool, error) {
	return rows.First(ctx, w.tx, scanLane, arriveInLane, string(key))
}

// LockLane returns the lane of a session and keeps its row locked until the
// transaction ends. Whatever decides about the turns of a session locks its lane
// first, so that arrivals, answers, wishes to stop and endings never cross.
func (w *Write) LockLane(ctx context.Context, key chela.SessionKey) (Lane, error) {
	return rows.One(ctx, w.tx, scanLane, "session", string(key),
		`update lanes set owner = owner where session = $1 returning `+laneColumns, string(key))
}

// TakeLane stores a new holder of a lane that was read as before, and the turn
// that it runs. The new token must be the old one plus one. It is a Conflict if
// somebody else was faster.
func (w *Write) TakeLane(ctx context.Context, before Lane, l chela.Lease, turn chela.TurnID) error {
	if l.Token != before.Token+1 {
		return rows.Illegal("lane", string(l.Session), before.Token, l.Token)
	}
	return w.tx.Move(ctx, "lane", string(l.Session), `update lanes set owner = $4, token = $5, expires_at = $6, turn = $7
		where session = $1 and owner = $2 and token = $3`,
		string(l.Session), string(before.Owner), before.Token, string(l.Owner), l.Token, rows.Micros(l.ExpiresAt), string(turn))
}

// ContinueLane stores that the holder of a lane goes on with another turn. It
// is a Conflict if the lane has another holder.
func (w *Write) ContinueLane(ctx context.Context, l chela.Lease, turn chela.TurnID) error {
	return w.tx.Move(ctx, "lane", string(l.Session),
		`update lanes set turn = $4 where session = $1 and owner = $2 and token = $3`,
		string(l.Session), string(l.Owner), l.Token, string(turn))
}

// ErrLaneLost is the Conflict of whoever writes for a turn when its lane has
// another holder by now.
var ErrLaneLost = chela.E(chela.Conflict, "the lane has another holder")

const holdLane = `update lanes set expires_at = $4 where session = $1 and owner = $2 and token = $3`

// HoldLane extends a lease, and locks the lane's row until the transaction
// ends. The transaction fails with ErrLaneLost if the lane has another holder:
// whoever writes for a turn calls it first in the same transaction, so that an
// old holder cannot write.
func (w *Write) HoldLane(ctx context.Context, l chela.Lease) error {
	return w.tx.Queue(ctx, engine.Statement{
		Text:    holdLane,
		Args:    []any{string(l.Session), string(l.Owner), l.Token, rows.Micros(l.ExpiresAt)},
		Unmoved: ErrLaneLost,
	})
}

// RenewLane is HoldLane for several lanes: it reports whether the lane has the
// same holder still, and the transaction goes on if not.
func (w *Write) RenewLane(ctx context.Context, l chela.Lease) (bool, error) {
	n, err := w.tx.Exec(ctx, holdLane, string(l.Session), string(l.Owner), l.Token, rows.Micros(l.ExpiresAt))
	return n == 1, err
}

// ReleaseLane gives a lane back. It is a Conflict if the lane has another
// holder.
func (w *Write) ReleaseLane(ctx context.Context, l chela.Lease) error {
	return w.tx.Move(ctx, "lane", string(l.Session),
		`update lanes set owner = '', expires_at = 0 where session = $1 and owner = $2 and token = $3`,
		string(l.Session), string(l.Owner), l.Token)
}
