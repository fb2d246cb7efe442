package store

import (
	"context"
	"time"

	"chela"
)

// A WorkClaim is a node's request for due work.
type WorkClaim struct {
	Node  chela.NodeID
	Kind  string
	Key   string    // one piece only; empty for any
	Now   time.Time // upper bound of the due times
	Until time.Time // end of the lease
	Limit int       // most pieces
}

// ClaimWork claims due work for a node, the longest due first, and returns it
// in no order. No two claims get the same piece.
func (w *Write) ClaimWork(ctx context.Context, c WorkClaim) ([]chela.Work, error) {
	choice, third := `where kind = $1 and state = 'due' and due_at <= $2 order by due_at, id limit $3`, any(c.Limit)
	if c.Key != "" {
		choice, third = `where kind = $1 and key = $3 and state in ('due', 'running')`, c.Key
	}
	return queryAll(ctx, w.tx, workTable.scan, `update work set state = 'running', owner = $4, until = $5, token = token + 1, attempts = attempts + 1
		where id in (select id from work `+choice+`) and state = 'due' and due_at <= $2 returning `+workTable.columns,
		c.Kind, c.Now, third, c.Node, c.Until)
}

// RenewWork extends the leases of all work claimed by a node.
func (w *Write) RenewWork(ctx context.Context, owner chela.NodeID, until time.Time) error {
	return w.tx.Must(ctx, `update work set until = $2 where owner = $1 and state = 'running'`, owner, until)
}

// endWorkAttempt begins a statement that ends an attempt at $1 with the token
// $2: the work gets state $3, $4 attempts, the error $5 and the time $6. Work
// that was set in the meantime is due again, dropped work is done.
const endWorkAttempt = `update work set
	state = case when again_at <> 0 then 'due' when dropped = 1 then 'done' else $3 end,
	attempts = case when again_at <> 0 then 0 else $4 end,
	error = $5,
	due_at = case when again_at <> 0 and ($3 <> 'due' or again_at < $6) then again_at else $6 end,
	again_at = 0, dropped = 0, owner = '', until = 0
	where id = $1 and token = $2 and state = 'running'`

func endedWorkArgs(k chela.Work) []any {
	return []any{k.ID, k.Token, k.State, k.Attempts, k.Error, k.DueAt}
}

// MoveWork stores the outcome of an attempt by the owner of a piece of work:
// due again, done, which deletes the row, or failed, with the attempts, error
// and time of k. It returns Conflict if the claim is lost.
func (w *Write) MoveWork(ctx context.Context, k chela.Work) error {
	if !chela.WorkRunning.CanMove(k.State) {
		return illegalMove("work", k.ID, chela.WorkRunning, k.State)
	}
	if err := w.tx.Move(ctx, "work", k.ID, endWorkAttempt+` and owner = $7`, append(endedWorkArgs(k), k.Owner)...); err != nil {
		return err
	}
	return w.forgetDone(ctx, k.ID)
}

// FreeWork makes work claimed by a node due again, with the attempts, error and
// time of k, unless the node has renewed its claim since k was read.
func (w *Write) FreeWork(ctx context.Context, k chela.Work) error {
	k.State = chela.WorkDue
	if err := w.tx.Must(ctx, endWorkAttempt+` and until = $7`, append(endedWorkArgs(k), k.Until)...); err != nil {
		return err
	}
	return w.forgetDone(ctx, k.ID)
}

func (w *Write) forgetDone(ctx context.Context, id chela.WorkID) error {
	return w.tx.Must(ctx, `delete from work where id = $1 and state = 'done'`, id)
}

// ForgetWork deletes at most a thousand pieces of work that failed before a
// time, and returns their number.
func (w *Write) ForgetWork(ctx context.Context, before time.Time) (int64, error) {
	return w.tx.Exec(ctx, `delete from work where id in (
		select id from work where state = 'failed' and due_at < $1 order by due_at limit 1000)`, before)
}
