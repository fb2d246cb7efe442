package store

import (
	"context"
	"time"

	"chela"
)

var callTable = tableOf[chela.ToolCall]("tool call", "tool_calls", `
	id turn thread session step place=Index ref tool args effect resume state why intent changes?
	created_at started_at finished_at`)

// Call returns the tool call with the given id, or NotFound.
func (r *Read) Call(ctx context.Context, id chela.CallID) (chela.ToolCall, error) {
	return callTable.get(ctx, r.tx, id)
}

// Calls returns the tool calls of a turn, by step and place.
func (r *Read) Calls(ctx context.Context, turn chela.TurnID) ([]chela.ToolCall, error) {
	return callTable.all(ctx, r.tx, `where turn = $1 order by step, place`, turn)
}

// HandedOut returns up to limit calls of client tools that were handed out at
// the given time or before and whose turns wait for their results, oldest
// first.
func (r *Read) HandedOut(ctx context.Context, before time.Time, limit int) ([]chela.ToolCall, error) {
	// The state of the turn is a condition twice: once in the form that matches
	// the index of live turns.
	return callTable.all(ctx, r.tx, `where state = 'running' and resume = 'wait' and started_at <= $1 and turn in (
			select id from turns where state in ('processing', 'awaiting_approval') and state = 'awaiting_approval')
		order by started_at, id limit $2`, before, limit)
}

// AddCall adds a tool call.
func (w *Write) AddCall(ctx context.Context, c chela.ToolCall) error {
	return callTable.add(ctx, w.tx, c)
}

var moveCall = callTable.update("state args effect resume why intent changes started_at finished_at", "id = $1 and state = $2")

// MoveCall stores the outcome of a tool call that was in the state from.
func (w *Write) MoveCall(ctx context.Context, c chela.ToolCall, from chela.CallState) error {
	if !from.CanMove(c.State) && (c.State != from || from.Ended()) {
		return illegalMove("tool call", c.ID, from, c.State)
	}
	return moveCall.move(ctx, w.tx, c, c.ID, from)
}
