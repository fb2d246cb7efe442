package store

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/engine"
)

const callColumns = `id, turn, thread, session, step, place, ref, tool, args, effect, resume, state, why, intent, changes, created_at, started_at, finished_at`

func scanCall(row engine.Row) (c chela.ToolCall, err error) {
	var args, intent string
	err = row.Scan(&c.ID, &c.Turn, &c.Thread, &c.Session, &c.Step, &c.Index, &c.Ref, &c.Tool, &args, &c.Effect, &c.Resume,
		&c.State, &c.Why, &intent, scanJSON(&c.Changes), scanTime(&c.CreatedAt), scanTime(&c.StartedAt), scanTime(&c.FinishedAt))
	c.Args, c.Intent = rawJSON(args), rawJSON(intent)
	return c, err
}

// Call returns the tool call with the given id, or NotFound.
func (r *Read) Call(ctx context.Context, id chela.CallID) (chela.ToolCall, error) {
	return queryOne(ctx, r.tx, scanCall, "tool call", string(id),
		`select `+callColumns+` from tool_calls where id = $1`, string(id))
}

// Calls returns the tool calls of a turn, by step and place.
func (r *Read) Calls(ctx context.Context, turn chela.TurnID) ([]chela.ToolCall, error) {
	return queryAll(ctx, r.tx, scanCall,
		`select `+callColumns+` from tool_calls where turn = $1 order by step, place`, string(turn))
}

// HandedOut returns up to limit calls of client tools that were handed out at
// the given time or before and whose turns wait for their results, oldest
// first.
func (r *Read) HandedOut(ctx context.Context, before time.Time, limit int) ([]chela.ToolCall, error) {
	// The state of the turn is a condition twice: once in the form that matches
	// the index of live turns.
	return queryAll(ctx, r.tx, scanCall, `select `+callColumns+` from tool_calls
		where state = 'running' and resume = 'wait' and started_at <= $1 and turn in (
			select id from turns where state in ('processing', 'awaiting_approval') and state = 'awaiting_approval')
		order by started_at, id limit $2`, micros(before), limit)
}

// AddCall adds a tool call.
func (w *Write) AddCall(ctx context.Context, c chela.ToolCall) error {
	return w.tx.Must(ctx, `insert into tool_calls (`+callColumns+`)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
		string(c.ID), string(c.Turn), string(c.Thread), string(c.Session), c.Step, c.Index, c.Ref, c.Tool, string(c.Args),
		string(c.Effect), string(c.Resume), string(c.State), c.Why, string(c.Intent), jsonList(c.Changes),
		micros(c.CreatedAt), micros(c.StartedAt), micros(c.FinishedAt))
}

// MoveCall stores the outcome of a tool call that was in the state from.
func (w *Write) MoveCall(ctx context.Context, c chela.ToolCall, from chela.CallState) error {
	if !from.CanMove(c.State) && (c.State != from || from.Ended()) {
		return illegalMove("tool call", string(c.ID), from, c.State)
	}
	return w.tx.Move(ctx, "tool call", string(c.ID), `update tool_calls
		set state = $3, args = $4, effect = $5, resume = $6, why = $7, intent = $8, changes = $9, started_at = $10, finished_at = $11
		where id = $1 and state = $2`,
		string(c.ID), string(from), string(c.State), string(c.Args), string(c.Effect), string(c.Resume), c.Why, string(c.Intent), jsonList(c.Changes),
		micros(c.StartedAt), micros(c.FinishedAt))
}
