package api

import "chela"

// A NewToken asks for a token.
type NewToken struct {
	Name  string      `json:"name" check:"is=title max=100" arg:"NAME"`
	Scope chela.Scope `json:"scope" flag:"" help:"what it may do: read, talk, chat or admin; chat without it"`
}

// A MadeToken is a token that was just made; Secret is shown this once.
type MadeToken struct {
	chela.Token
	Secret string `json:"secret"`
}

// A TokenRef names a token.
type TokenRef struct {
	ID chela.TokenID `path:"id" handle:"tok_"`
}

// A TokensQuery asks for the tokens after one of them.
type TokensQuery struct {
	After chela.TokenID `query:"after" check:"id=tok" help:"the id of a token"`
	Limit int           `query:"limit"`
}

// The operations on tokens. A token that does not exist is NotFound, and one that
// was revoked before is a Conflict.
var (
	TokensList = Define[TokensQuery, Page[chela.Token]]("tokens.list", "GET /api/tokens", chela.ScopeAdmin,
		"List tokens, oldest first, with those that were revoked")
	TokensCreate = Define[NewToken, MadeToken]("tokens.create", "POST /api/tokens", chela.ScopeAdmin,
		"Create a token, whose secret is shown once").With(created, secret)
	TokensRevoke = Define[TokenRef, None]("tokens.revoke", "DELETE /api/tokens/{id}", chela.ScopeAdmin,
		"Revoke a token with its logins")
)
