package work

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/rows"
)

// A Claim says what a node wants to perform.
type Claim struct {
	Node  chela.NodeID
	Kind  string
	Key   string    // that one alone; empty for any
	Now   time.Time // what is due by then
	Until time.Time // how long the node has it, unless it renews that
	Limit int       // pieces
}

// ClaimWork hands work that is due to a node, the longest due first, and returns
// it in no order. No two claims get one piece.
func (w Write) ClaimWork(ctx context.Context, c Claim) ([]chela.Work, error) {
	choice, third := `where kind = $1 and state = 'due' and due_at <= $2 order by due_at, id limit $3`, any(c.Limit)
	if c.Key != "" {
		choice, third = `where kind = $1 and key = $3 and state in ('due', 'running')`, c.Key
	}
	return rows.All(ctx, w.tx, scanWork, `update work set state = 'running', owner = $4, until = $5, token = token + 1, attempts = attempts + 1
		where id in (select id from work `+choice+`) and state = 'due' and due_at <= $2 returning `+workColumns,
		c.Kind, rows.Micros(c.Now), third, string(c.Node), rows.Micros(c.Until))
}

// RenewWork lets a node have all that it has claimed until a time.
func (w Write) RenewWork(ctx context.Context, owner chela.NodeID, until time.Time) error {
	return w.tx.Must(ctx, `update work set until = $2 where owner = $1 and state = 'running'`, string(owner), rows.Micros(until))
}

// endAttempt is the beginning of a statement that ends an attempt at $1 with the
// token $2: the work becomes $3 with $4 attempts, the error $5 and the time $6.
// What was set anew meanwhile is due again, what was dropped is done.
const endAttempt = `update work set
	state = case when again_at <> 0 then 'due' when dropped = 1 then 'done' else $3 end,
	attempts = case when again_at <> 0 then 0 else $4 end,
	error = $5,
	due_at = case when again_at <> 0 and ($3 <> 'due' or again_at < $6) then again_at else $6 end,
	again_at = 0, dropped = 0, owner = '', until = 0
	where id = $1 and token = $2 and state = 'running'`

func ended(k chela.Work) []any {
	return []any{string(k.ID), k.Token, string(k.State), k.Attempts, k.Error, rows.Micros(k.DueAt)}
}

// MoveWork stores the outcome of an attempt by the owner of a piece of work: due
// again, done, which forgets it, or failed, with the attempts, error and time
// of k. It is a Conflict if the claim is lost.
func (w Write) MoveWork(ctx context.Context, k chela.Work) error {
	if !chela.WorkRunning.CanMove(k.State) {
		return rows.Illegal("work", string(k.ID), chela.WorkRunning, k.State)
	}
	if err := w.tx.Move(ctx, "work", string(k.ID), endAttempt+` and owner = $7`, append(ended(k), string(k.Owner))...); err != nil {
		return err
	}
	return w.forgetDone(ctx, k.ID)
}

// FreeWork makes work due again that a node had claimed, with the attempts, error
// and time of k, unless that node has renewed its claim since k was read.
func (w Write) FreeWork(ctx context.Context, k chela.Work) error {
	until := rows.Micros(k.Until)
	k.State = chela.WorkDue
	if err := w.tx.Must(ctx, endAttempt+` and until = $7`, append(ended(k), until)...); err != nil {
		return err
	}
	return w.forgetDone(ctx, k.ID)
}

func (w Write) forgetDone(ctx context.Context, id chela.WorkID) error {
	return w.tx.Must(ctx, `delete from work where id = $1 and state = 'done'`, string(id))
}

// ForgetWork forgets at most a thousand pieces of work that failed before a
// time, and returns how many there were.
func (w Write) ForgetWork(ctx context.Context, before time.Time) (int64, error) {
	return w.tx.Exec(ctx, `delete from work where id in (
		select id from work where state = 'failed' and due_at < $1 order by due_at limit 1000)`, rows.Micros(before))
}
