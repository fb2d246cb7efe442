package store

import (
	"context"

	"chela"
	"chela/internal/store/engine"
)

const approvalColumns = `id, call, turn, thread, session, state, tool, effect, args_hash, preview, subjects, exact, offers, reason, floor,
	answer, pattern, comment, answered_by, created_at, expires_at, answered_at`

func scanApproval(row engine.Row) (a chela.Approval, err error) {
	err = row.Scan(&a.ID, &a.Call, &a.Turn, &a.Thread, &a.Session, &a.State, &a.Tool, &a.Effect, &a.ArgsHash, &a.Preview,
		scanJSON(&a.Subjects), scanFlag(&a.Exact), scanJSON(&a.Offers), &a.Reason, scanFlag(&a.Floor), &a.Answer, &a.Pattern, &a.Comment, &a.AnsweredBy,
		scanTime(&a.CreatedAt), scanTime(&a.ExpiresAt), scanTime(&a.AnsweredAt))
	return a, err
}

// Approval returns the approval with the given id, or NotFound.
func (r *Read) Approval(ctx context.Context, id chela.ApprovalID) (chela.Approval, error) {
	return queryOne(ctx, r.tx, scanApproval, "approval", string(id),
		`select `+approvalColumns+` from approvals where id = $1`, string(id))
}

// PendingApprovals returns the pending approvals, oldest first: of one session,
// or of all if key is empty.
func (r *Read) PendingApprovals(ctx context.Context, key chela.SessionKey) ([]chela.Approval, error) {
	return queryAll(ctx, r.tx, scanApproval, `select `+approvalColumns+` from approvals
		where state = 'pending' and (session = $1 or $1 = '') order by created_at, id`, string(key))
}

// Approvals returns the newest approvals in any state, at most limit.
func (r *Read) Approvals(ctx context.Context, limit int) ([]chela.Approval, error) {
	return queryAll(ctx, r.tx, scanApproval,
		`select `+approvalColumns+` from approvals order by created_at desc, id desc limit $1`, limit)
}

// TurnApprovals returns the approvals of a turn, oldest first.
func (r *Read) TurnApprovals(ctx context.Context, turn chela.TurnID) ([]chela.Approval, error) {
	return queryAll(ctx, r.tx, scanApproval,
		`select `+approvalColumns+` from approvals
			where call in (select id from tool_calls where turn = $1) order by created_at, id`, string(turn))
}

// AddApproval adds an approval. A call has at most one: a second returns
// Conflict.
func (w *Write) AddApproval(ctx context.Context, a chela.Approval) error {
	return w.tx.Must(ctx, `insert into approvals (`+approvalColumns+`)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)`,
		string(a.ID), string(a.Call), string(a.Turn), string(a.Thread), string(a.Session), string(a.State), a.Tool,
		string(a.Effect), a.ArgsHash, a.Preview, jsonText(a.Subjects), bit(a.Exact), jsonText(a.Offers), a.Reason, bit(a.Floor), string(a.Answer), a.Pattern,
		a.Comment, a.AnsweredBy, micros(a.CreatedAt), micros(a.ExpiresAt), micros(a.AnsweredAt))
}

// MoveApproval stores the outcome of a pending approval. It returns Conflict if
// it was already answered.
func (w *Write) MoveApproval(ctx context.Context, a chela.Approval) error {
	if !chela.ApprovalPending.CanMove(a.State) {
		return illegalMove("approval", string(a.ID), chela.ApprovalPending, a.State)
	}
	return w.tx.Move(ctx, "approval", string(a.ID), `update approvals
		set state = $2, answer = $3, pattern = $4, comment = $5, answered_by = $6, answered_at = $7
		where id = $1 and state = 'pending'`,
		string(a.ID), string(a.State), string(a.Answer), a.Pattern, a.Comment, a.AnsweredBy, micros(a.AnsweredAt))
}

const grantColumns = `id, agent, session, tool, pattern, literal, approval, created_at`

func scanGrant(row engine.Row) (g chela.Grant, err error) {
	err = row.Scan(&g.ID, &g.Agent, &g.Session, &g.Tool, &g.Pattern, scanFlag(&g.Literal), &g.Approval, scanTime(&g.CreatedAt))
	return g, err
}

// Grants returns the grants of an agent that apply to a session, or all of them
// if key is empty; an empty agent selects those of all agents.
func (r *Read) Grants(ctx context.Context, agent string, key chela.SessionKey) ([]chela.Grant, error) {
	return queryAll(ctx, r.tx, scanGrant, `select `+grantColumns+` from grants
		where (agent = $1 or $1 = '') and (session = '' or session = $2 or $2 = '') order by created_at, id`, agent, string(key))
}

// AddGrant adds a grant, which is a standing answer.
func (w *Write) AddGrant(ctx context.Context, g chela.Grant) error {
	return w.tx.Must(ctx, `insert into grants (`+grantColumns+`) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
		string(g.ID), g.Agent, string(g.Session), g.Tool, g.Pattern, bit(g.Literal), string(g.Approval), micros(g.CreatedAt))
}

// RevokeGrant removes a grant. It returns NotFound if there is none.
func (w *Write) RevokeGrant(ctx context.Context, id chela.GrantID) error {
	n, err := w.tx.Exec(ctx, `delete from grants where id = $1`, string(id))
	if err == nil && n == 0 {
		err = chela.E(chela.NotFound, "there is no grant "+string(id))
	}
	return err
}
