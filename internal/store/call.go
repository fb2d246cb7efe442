package store

import (
	"context"
	"time"

	"chela"
)

var callTable = tableOf("tool_calls", func(c *chela.ToolCall) []column {
	return []column{
		{"id", &c.ID},
		{"turn", &c.Turn},
		{"thread", &c.Thread},
		{"session", &c.Session},
		{"step", &c.Step},
		{"place", &c.Index},
		{"ref", &c.Ref},
		{"tool", &c.Tool},
		{"args", &c.Args},
		{"effect", &c.Effect},
		{"resume", &c.Resume},
		{"state", &c.State},
		{"why", &c.Why},
		{"intent", &c.Intent},
		{"changes", optionalJSON(&c.Changes)},
		{"created_at", &c.CreatedAt},
		{"started_at", &c.StartedAt},
		{"finished_at", &c.FinishedAt},
	}
})

// Call returns the tool call with the given id, or NotFound.
func (r *Read) Call(ctx context.Context, id chela.CallID) (chela.ToolCall, error) {
	return queryOne(ctx, r.tx, callTable.scan, "tool call", string(id),
		`select `+callTable.columns+` from tool_calls where id = $1`, string(id))
}

// Calls returns the tool calls of a turn, by step and place.
func (r *Read) Calls(ctx context.Context, turn chela.TurnID) ([]chela.ToolCall, error) {
	return queryAll(ctx, r.tx, callTable.scan,
		`select `+callTable.columns+` from tool_calls where turn = $1 order by step, place`, string(turn))
}

// HandedOut returns up to limit calls of client tools that were handed out at
// the given time or before and whose turns wait for their results, oldest
// first.
func (r *Read) HandedOut(ctx context.Context, before time.Time, limit int) ([]chela.ToolCall, error) {
	// The state of the turn is a condition twice: once in the form that matches
	// the index of live turns.
	return queryAll(ctx, r.tx, callTable.scan, `select `+callTable.columns+` from tool_calls
		where state = 'running' and resume = 'wait' and started_at <= $1 and turn in (
			select id from turns where state in ('processing', 'awaiting_approval') and state = 'awaiting_approval')
		order by started_at, id limit $2`, micros(before), limit)
}

// AddCall adds a tool call.
func (w *Write) AddCall(ctx context.Context, c chela.ToolCall) error {
	return w.tx.Must(ctx, callTable.insert, callTable.args(c)...)
}

// MoveCall stores the outcome of a tool call that was in the state from.
func (w *Write) MoveCall(ctx context.Context, c chela.ToolCall, from chela.CallState) error {
	if !from.CanMove(c.State) && (c.State != from || from.Ended()) {
		return illegalMove("tool call", string(c.ID), from, c.State)
	}
	return w.tx.Move(ctx, "tool call", string(c.ID), `update tool_calls
		set state = $3, args = $4, effect = $5, resume = $6, why = $7, intent = $8, changes = $9, started_at = $10, finished_at = $11
		where id = $1 and state = $2`,
		string(c.ID), string(from), string(c.State), string(c.Args), string(c.Effect), string(c.Resume), c.Why, string(c.Intent), optionalJSON(&c.Changes).stored(),
		micros(c.StartedAt), micros(c.FinishedAt))
}
