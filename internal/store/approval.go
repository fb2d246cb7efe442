package store

import (
	"context"

	"chela"
	"chela/internal/store/engine"
	"chela/internal/store/rows"
)

const approvalColumns = `id, call, turn, thread, session, state, tool, effect, args_hash, preview, subjects, exact, reason, floor,
	answer, pattern, comment, answered_by, created_at, expires_at, answered_at`

func scanApproval(row engine.Row) (a chela.Approval, err error) {
	err = row.Scan(&a.ID, &a.Call, &a.Turn, &a.Thread, &a.Session, &a.State, &a.Tool, &a.Effect, &a.ArgsHash, &a.Preview,
		rows.JSON(&a.Subjects), rows.Flag(&a.Exact), &a.Reason, rows.Flag(&a.Floor), &a.Answer, &a.Pattern, &a.Comment, &a.AnsweredBy,
		rows.Time(&a.CreatedAt), rows.Time(&a.ExpiresAt), rows.Time(&a.AnsweredAt))
	return a, err
}

// Approval returns the approval with the given id, or NotFound.
func (r *Read) Approval(ctx context.Context, id chela.ApprovalID) (chela.Approval, error) {
	return rows.One(ctx, r.tx, scanApproval, "approval", string(id),
		`select `+approvalColumns+` from approvals where id = $1`, string(id))
}

// PendingApprovals returns the approvals that wait for an answer, oldest
// first: of one session, or of all if key is empty.
func (r *Read) PendingApprovals(ctx context.Context, key chela.SessionKey) ([]chela.Approval, error) {
	return rows.All(ctx, r.tx, scanApproval, `select `+approvalColumns+` from approvals
		where state = 'pending' and (session = $1 or $1 = '') order by created_at, id`, string(key))
}

// Approvals returns the newest approvals, answered or not, at most limit.
func (r *Read) Approvals(ctx context.Context, limit int) ([]chela.Approval, error) {
	return rows.All(ctx, r.tx, scanApproval,
		`select `+approvalColumns+` from approvals order by created_at desc, id desc limit $1`, limit)
}

// TurnApprovals returns the approvals of a turn, oldest first.
func (r *Read) TurnApprovals(ctx context.Context, turn chela.TurnID) ([]chela.Approval, error) {
	return rows.All(ctx, r.tx, scanApproval,
		`select `+approvalColumns+` from approvals
			where call in (select id from tool_calls where turn = $1) order by created_at, id`, string(turn))
}

// AddApproval adds an approval. A call has at most one: a second is a
// Conflict.
func (w *Write) AddApproval(ctx context.Context, a chela.Approval) error {
	return w.tx.Must(ctx, `insert into approvals (`+approvalColumns+`)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)`,
		string(a.ID), string(a.Call), string(a.Turn), string(a.Thread), string(a.Session), string(a.State), a.Tool,
		string(a.Effect), a.ArgsHash, a.Preview, rows.Text(a.Subjects), rows.Bit(a.Exact), a.Reason, rows.Bit(a.Floor), string(a.Answer), a.Pattern,
		a.Comment, a.AnsweredBy, rows.Micros(a.CreatedAt), rows.Micros(a.ExpiresAt), rows.Micros(a.AnsweredAt))
}

// MoveApproval stores the outcome of a pending approval. It is a Conflict if
// somebody else answered first.
func (w *Write) MoveApproval(ctx context.Context, a chela.Approval) error {
	if !chela.ApprovalPending.CanMove(a.State) {
		return rows.Illegal("approval", string(a.ID), chela.ApprovalPending, a.State)
	}
	return w.tx.Move(ctx, "approval", string(a.ID), `update approvals
		set state = $2, answer = $3, pattern = $4, comment = $5, answered_by = $6, answered_at = $7
		where id = $1 and state = 'pending'`,
		string(a.ID), string(a.State), string(a.Answer), a.Pattern, a.Comment, a.AnsweredBy, rows.Micros(a.AnsweredAt))
}

const grantColumns = `id, agent, session, tool, pattern, literal, approval, created_at`

func scanGrant(row engine.Row) (g chela.Grant, err error) {
	err = row.Scan(&g.ID, &g.Agent, &g.Session, &g.Tool, &g.Pattern, rows.Flag(&g.Literal), &g.Approval, rows.Time(&g.CreatedAt))
	return g, err
}

// Grants returns the standing answers of an agent that hold in a session, or
// all of them if key is empty; with an empty agent those of all agents.
func (r *Read) Grants(ctx context.Context, agent string, key chela.SessionKey) ([]chela.Grant, error) {
	return rows.All(ctx, r.tx, scanGrant, `select `+grantColumns+` from grants
		where (agent = $1 or $1 = '') and (session = '' or session = $2 or $2 = '') order by created_at, id`, agent, string(key))
}

// AddGrant adds a standing answer.
func (w *Write) AddGrant(ctx context.Context, g chela.Grant) error {
	return w.tx.Must(ctx, `insert into grants (`+grantColumns+`) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
		string(g.ID), g.Agent, string(g.Session), g.Tool, g.Pattern, rows.Bit(g.Literal), string(g.Approval), rows.Micros(g.CreatedAt))
}

// RevokeGrant removes a standing answer, or is NotFound.
func (w *Write) RevokeGrant(ctx context.Context, id chela.GrantID) error {
	n, err := w.tx.Exec(ctx, `delete from grants where id = $1`, string(id))
	if err == nil && n == 0 {
		err = chela.E(chela.NotFound, "there is no grant "+string(id))
	}
	return err
}
