package store

import (
	"context"
	"strconv"

	"chela"
)

var turnTable = tableOf[chela.Turn]("turn", "turns", `
	id session thread state origin model overrides? base crashes steps stop failure? created_at
	finished_at`)

// Turn returns the turn with the given id, or NotFound.
func (r *Read) Turn(ctx context.Context, id chela.TurnID) (chela.Turn, error) {
	return turnTable.get(ctx, r.tx, id)
}

// Turns returns the turns of a thread, oldest first.
func (r *Read) Turns(ctx context.Context, thread chela.ThreadID) ([]chela.Turn, error) {
	return turnTable.all(ctx, r.tx, `where thread = $1 order by created_at, id`, thread)
}

// LiveTurns returns the turns that have not ended, oldest first: of one
// session, or of all if key is empty.
func (r *Read) LiveTurns(ctx context.Context, key chela.SessionKey) ([]chela.Turn, error) {
	return turnTable.all(ctx, r.tx, `where state in ('processing', 'awaiting_approval') and (session = $1 or $1 = '')
		order by created_at, id`, key)
}

// StoppingTurns returns the live turns with a stop request, in no order.
func (r *Read) StoppingTurns(ctx context.Context) ([]chela.TurnID, error) {
	return queryAll(ctx, r.tx, scanValue[chela.TurnID], `select id from turns where state in ('processing', 'awaiting_approval') and stop = 1`)
}

// ReadyTurn returns the oldest turn of a session that may run, and whether
// there is one.
func (r *Read) ReadyTurn(ctx context.Context, key chela.SessionKey) (chela.Turn, bool, error) {
	return turnTable.first(ctx, r.tx, `where session = $1 and state = 'processing' order by created_at, id limit 1`, key)
}

// OpenTurn adds a turn. It returns Conflict if the thread has a live turn.
func (w *Write) OpenTurn(ctx context.Context, t chela.Turn) error {
	if err := w.follow(ctx, t); err != nil {
		return err
	}
	return turnTable.add(ctx, w.tx, t)
}

var moveTurn = turnTable.update("state crashes steps failure finished_at overrides", "id = $1 and state = $2")

// MoveTurn stores state, overrides, steps, crashes and failure of a turn that
// was in the state from. The stop request is left unchanged: see RequestStop.
func (w *Write) MoveTurn(ctx context.Context, t chela.Turn, from chela.TurnState) error {
	if !from.CanMove(t.State) && (t.State != from || from.Ended()) {
		return illegalMove("turn", t.ID, from, t.State)
	}
	if t.State != from {
		if err := w.follow(ctx, t); err != nil {
			return err
		}
	}
	return moveTurn.move(ctx, w.tx, t, t.ID, from)
}

// CountCrash records that another run of a live turn died, or failed by an
// internal error, and notifies the turn's follower.
func (w *Write) CountCrash(ctx context.Context, t chela.Turn) error {
	if err := w.follow(ctx, t); err != nil {
		return err
	}
	t.Crashes++
	return w.MoveTurn(ctx, t, t.State)
}

// follow enqueues work for the follower of a turn in the transaction that moves it,
// due at once. A turn without a follower has work when it waits for a person or ended
// at a limit, since people may have to be told. Waiting work of the same key suffices;
// running work becomes due once more, as it may have read the turn before.
func (w *Write) follow(ctx context.Context, t chela.Turn) error {
	if !t.Origin.Followed() && t.State != chela.TurnAwaiting && t.State != chela.TurnLimited {
		return nil
	}
	move := string(t.ID) + "/" + string(t.State)
	return w.SetWork(ctx, chela.Work{
		ID: chela.WorkID("work_" + move), Kind: chela.WorkFollow, Key: move, State: chela.WorkDue, DueAt: t.CreatedAt, CreatedAt: t.CreatedAt,
		Args: []byte(`{"turn":` + strconv.Quote(string(t.ID)) + `}`),
	})
}

// RequestStop records a stop request for a live turn. It returns Conflict if
// the turn has ended.
func (w *Write) RequestStop(ctx context.Context, id chela.TurnID) error {
	return w.tx.Move(ctx, "turn", id,
		`update turns set stop = 1 where id = $1 and state in ('processing', 'awaiting_approval')`, id)
}
