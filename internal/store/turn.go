package store

import (
	"context"
	"strconv"

	"chela"
	"chela/internal/store/engine"
	"chela/internal/store/rows"
)

const turnColumns = `id, session, thread, state, origin, model, overrides, base, crashes, steps, stop, failure, created_at, finished_at`

func scanTurn(row engine.Row) (t chela.Turn, err error) {
	err = row.Scan(&t.ID, &t.Session, &t.Thread, &t.State, rows.JSON(&t.Origin), &t.Model, rows.JSON(&t.Overrides), &t.Base, &t.Crashes, &t.Steps,
		rows.Flag(&t.Stop), rows.JSON(&t.Failure), rows.Time(&t.CreatedAt), rows.Time(&t.FinishedAt))
	return t, err
}

// Turn returns the turn with the given id, or NotFound.
func (r *Read) Turn(ctx context.Context, id chela.TurnID) (chela.Turn, error) {
	return rows.One(ctx, r.tx, scanTurn, "turn", string(id),
		`select `+turnColumns+` from turns where id = $1`, string(id))
}

// Turns returns the turns of a thread, oldest first.
func (r *Read) Turns(ctx context.Context, thread chela.ThreadID) ([]chela.Turn, error) {
	return rows.All(ctx, r.tx, scanTurn,
		`select `+turnColumns+` from turns where thread = $1 order by created_at, id`, string(thread))
}

// LiveTurns returns the turns that have not ended, oldest first: of one
// session, or of all if key is empty.
func (r *Read) LiveTurns(ctx context.Context, key chela.SessionKey) ([]chela.Turn, error) {
	return rows.All(ctx, r.tx, scanTurn, `select `+turnColumns+` from turns
		where state in ('processing', 'awaiting_approval') and (session = $1 or $1 = '')
		order by created_at, id`, string(key))
}

// StoppingTurns returns the turns that have not ended and should stop, in no
// particular order.
func (r *Read) StoppingTurns(ctx context.Context) ([]chela.TurnID, error) {
	return rows.All(ctx, r.tx, func(row engine.Row) (id chela.TurnID, err error) {
		err = row.Scan(&id)
		return id, err
	}, `select id from turns where state in ('processing', 'awaiting_approval') and stop = 1`)
}

// ReadyTurn returns the oldest turn of a session that may run, and whether
// there is one.
func (r *Read) ReadyTurn(ctx context.Context, key chela.SessionKey) (chela.Turn, bool, error) {
	return rows.First(ctx, r.tx, scanTurn, `select `+turnColumns+` from turns
		where session = $1 and state = 'processing' order by created_at, id limit 1`, string(key))
}

// OpenTurn adds a turn. A thread has at most one live turn: a second one is a
// Conflict.
func (w *Write) OpenTurn(ctx context.Context, t chela.Turn) error {
	if err := w.follow(ctx, t); err != nil {
		return err
	}
	return w.tx.Must(ctx,
		`insert into turns (`+turnColumns+`) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		string(t.ID), string(t.Session), string(t.Thread), string(t.State), rows.Text(t.Origin), t.Model, rows.Set(t.Overrides), string(t.Base),
		t.Crashes, t.Steps, rows.Bit(t.Stop), rows.Set(t.Failure), rows.Micros(t.CreatedAt), rows.Micros(t.FinishedAt))
}

// MoveTurn stores state, steps, crashes and failure of a turn that was in the
// state from. The wish to stop is not touched: see RequestStop.
func (w *Write) MoveTurn(ctx context.Context, t chela.Turn, from chela.TurnState) error {
	if !from.CanMove(t.State) && (t.State != from || from.Ended()) {
		return rows.Illegal("turn", string(t.ID), from, t.State)
	}
	if t.State != from {
		if err := w.follow(ctx, t); err != nil {
			return err
		}
	}
	return w.tx.Move(ctx, "turn", string(t.ID), `update turns set state = $3, crashes = $4, steps = $5, failure = $6, finished_at = $7
		where id = $1 and state = $2`,
		string(t.ID), string(from), string(t.State), t.Crashes, t.Steps, rows.Set(t.Failure), rows.Micros(t.FinishedAt))
}

// CountCrash stores that another run of a live turn died, or broke by a fault of
// chela. Whoever follows the turn hears of that.
func (w *Write) CountCrash(ctx context.Context, t chela.Turn) error {
	if err := w.follow(ctx, t); err != nil {
		return err
	}
	t.Crashes++
	return w.MoveTurn(ctx, t, t.State)
}

// follow leaves work for whoever follows a turn, if anybody does, in the
// transaction that moves it: nobody can forget it, whoever moves the turn. It is
// due at once. Where the same is left already, that is enough, unless it is under
// way: then it is due once more, as it may have looked at the turn before.
func (w *Write) follow(ctx context.Context, t chela.Turn) error {
	if !t.Origin.Followed() {
		return nil
	}
	move := string(t.ID) + "/" + string(t.State)
	return w.SetWork(ctx, chela.Work{
		ID: chela.WorkID("work_" + move), Kind: chela.WorkFollow, Key: move, State: chela.WorkDue, DueAt: t.CreatedAt, CreatedAt: t.CreatedAt,
		Args: []byte(`{"turn":` + strconv.Quote(string(t.ID)) + `}`),
	})
}

// RequestStop notes that a live turn should stop. It is a Conflict if the turn
// has ended.
func (w *Write) RequestStop(ctx context.Context, id chela.TurnID) error {
	return w.tx.Move(ctx, "turn", string(id),
		`update turns set stop = 1 where id = $1 and state in ('processing', 'awaiting_approval')`, string(id))
}
