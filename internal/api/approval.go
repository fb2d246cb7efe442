package api

import "chela"

// An Answer answers an approval.
type Answer struct {
	Answer  chela.Answer `json:"answer"`
	Pattern string       `json:"pattern,omitempty" check:"max=10000"`
	Reason  string       `json:"reason,omitempty" check:"max=10000"`   // with a no; the model sees it
	Secret  string       `json:"secret,omitempty" check:"max=65536"`   // with once: the value of the secret that the approval asks for
	By      string       `json:"by,omitempty" check:"is=line max=256"` // who, if a program answers for a person; added to who asks
}

// An ApprovalRef names an approval.
type ApprovalRef struct {
	ID chela.ApprovalID `path:"id" handle:"apr_"`
}

// An ApprovalFilter selects approvals; an empty field selects all.
type ApprovalFilter struct {
	State chela.ApprovalState `query:"state" help:"only those in this state; all without it"`
	After chela.ApprovalID    `query:"after" check:"id=apr" help:"the id of an approval"`
	Limit int                 `query:"limit"` // 1 to MaxPage; UsualPage when 0
}

// An AnswerRequest answers an approval.
type AnswerRequest struct {
	ApprovalRef
	Answer Answer `body:"required"`
}

// A GrantRef names a grant.
type GrantRef struct {
	ID chela.GrantID `path:"id" arg:"GRANT" handle:"gra_"`
}

// A GrantsQuery asks for the grants after one of them.
type GrantsQuery struct {
	After chela.GrantID `query:"after" check:"id=gra" help:"the id of a grant"`
	Limit int           `query:"limit"`
}

// The operations on approvals and on grants, which answers create. An approval or
// a grant that does not exist is NotFound, and an approval that was answered before
// is a Conflict. A pattern that covers no part of the call is Invalid. An answer
// returns before the turn continues.
var (
	ApprovalsList = Define[ApprovalFilter, Page[chela.Approval]]("approvals.list", "GET /api/approvals", chela.ScopeRead,
		"List approvals, oldest first")
	ApprovalsShow = Define[ApprovalRef, chela.Approval]("approvals.show", "GET /api/approvals/{id}", chela.ScopeRead,
		"Show an approval")
	ApprovalsAnswer = Define[AnswerRequest, chela.Approval]("approvals.answer", "POST /api/approvals/{id}", chela.ScopeChat,
		"Answer an approval")
	GrantsList = Define[GrantsQuery, Page[chela.Grant]]("grants.list", "GET /api/grants", chela.ScopeRead,
		"List grants, oldest first")
	GrantsRevoke = Define[GrantRef, None]("grants.revoke", "DELETE /api/grants/{id}", chela.ScopeChat,
		"Revoke a grant")
)
