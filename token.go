package chela

import "time"

// A Token lets a program or a page use the HTTP API. The token itself is shown
// once, when it is made; the store keeps a hash of it.
type Token struct {
	ID        TokenID   `json:"id"`
	Name      string    `json:"name"` // for people; not unique
	Scope     Scope     `json:"scope"`
	CreatedAt time.Time `json:"created_at"`
	RevokedAt time.Time `json:"revoked_at,omitzero"` // set once it does not work any more
}

// Revoked reports whether the token was taken back: it does not work any more.
func (t Token) Revoked() bool { return !t.RevokedAt.IsZero() }

// A Scope says what a token may do. Each scope may do all that the ones before
// it may.
type Scope string

// The scopes, narrowest first.
const (
	ScopeRead  Scope = "read"  // look at everything but secrets
	ScopeChat  Scope = "chat"  // send messages, stop turns, answer approvals
	ScopeAdmin Scope = "admin" // change settings and tokens, run tools by hand
)

var scopeRanks = map[Scope]int{ScopeRead: 1, ScopeChat: 2, ScopeAdmin: 3}

// Valid reports whether s is one of the scopes.
func (s Scope) Valid() bool { return scopeRanks[s] > 0 }

// Allows reports whether a token of scope s may do what needs the scope need.
func (s Scope) Allows(need Scope) bool {
	return s.Valid() && need.Valid() && scopeRanks[s] >= scopeRanks[need]
}
