package store

import (
	"context"

	"chela"
)

var approvalTable = tableOf("approvals", func(a *chela.Approval) []column {
	return []column{
		{"id", &a.ID},
		{"call", &a.Call},
		{"turn", &a.Turn},
		{"thread", &a.Thread},
		{"session", &a.Session},
		{"state", &a.State},
		{"tool", &a.Tool},
		{"effect", &a.Effect},
		{"args_hash", &a.ArgsHash},
		{"preview", &a.Preview},
		{"subjects", jsonField(&a.Subjects)},
		{"exact", &a.Exact},
		{"offers", jsonField(&a.Offers)},
		{"reason", &a.Reason},
		{"floor", &a.Floor},
		{"answer", &a.Answer},
		{"pattern", &a.Pattern},
		{"comment", &a.Comment},
		{"answered_by", &a.AnsweredBy},
		{"created_at", &a.CreatedAt},
		{"expires_at", &a.ExpiresAt},
		{"answered_at", &a.AnsweredAt},
	}
})

// Approval returns the approval with the given id, or NotFound.
func (r *Read) Approval(ctx context.Context, id chela.ApprovalID) (chela.Approval, error) {
	return queryOne(ctx, r.tx, approvalTable.scan, "approval", string(id),
		`select `+approvalTable.columns+` from approvals where id = $1`, string(id))
}

// PendingApprovals returns the pending approvals, oldest first: of one session,
// or of all if key is empty.
func (r *Read) PendingApprovals(ctx context.Context, key chela.SessionKey) ([]chela.Approval, error) {
	return queryAll(ctx, r.tx, approvalTable.scan, `select `+approvalTable.columns+` from approvals
		where state = 'pending' and (session = $1 or $1 = '') order by created_at, id`, string(key))
}

// Approvals returns the newest approvals in any state, at most limit.
func (r *Read) Approvals(ctx context.Context, limit int) ([]chela.Approval, error) {
	return queryAll(ctx, r.tx, approvalTable.scan,
		`select `+approvalTable.columns+` from approvals order by created_at desc, id desc limit $1`, limit)
}

// TurnApprovals returns the approvals of a turn, oldest first.
func (r *Read) TurnApprovals(ctx context.Context, turn chela.TurnID) ([]chela.Approval, error) {
	return queryAll(ctx, r.tx, approvalTable.scan,
		`select `+approvalTable.columns+` from approvals
			where call in (select id from tool_calls where turn = $1) order by created_at, id`, string(turn))
}

// AddApproval adds an approval. A call has at most one: a second returns
// Conflict.
func (w *Write) AddApproval(ctx context.Context, a chela.Approval) error {
	return w.tx.Must(ctx, approvalTable.insert, approvalTable.args(a)...)
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

var grantTable = tableOf("grants", func(g *chela.Grant) []column {
	return []column{
		{"id", &g.ID},
		{"agent", &g.Agent},
		{"session", &g.Session},
		{"tool", &g.Tool},
		{"pattern", &g.Pattern},
		{"literal", &g.Literal},
		{"approval", &g.Approval},
		{"created_at", &g.CreatedAt},
	}
})

// Grants returns the grants of an agent that apply to a session, or all of them
// if key is empty; an empty agent selects those of all agents.
func (r *Read) Grants(ctx context.Context, agent string, key chela.SessionKey) ([]chela.Grant, error) {
	return queryAll(ctx, r.tx, grantTable.scan, `select `+grantTable.columns+` from grants
		where (agent = $1 or $1 = '') and (session = '' or session = $2 or $2 = '') order by created_at, id`, agent, string(key))
}

// AddGrant adds a grant, which is a standing answer.
func (w *Write) AddGrant(ctx context.Context, g chela.Grant) error {
	return w.tx.Must(ctx, grantTable.insert, grantTable.args(g)...)
}

// RevokeGrant removes a grant. It returns NotFound if there is none.
func (w *Write) RevokeGrant(ctx context.Context, id chela.GrantID) error {
	n, err := w.tx.Exec(ctx, `delete from grants where id = $1`, string(id))
	if err == nil && n == 0 {
		err = chela.E(chela.NotFound, "there is no grant "+string(id))
	}
	return err
}
