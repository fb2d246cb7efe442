package chela

import "time"

// A Token authenticates a program or a page to the HTTP API. The token itself
// is shown once, at its creation; the store keeps a hash of it.
type Token struct {
	ID        TokenID   `json:"id"`
	Name      string    `json:"name"` // for people; not unique
	Scope     Scope     `json:"scope"`
	CreatedAt time.Time `json:"created_at"`
	RevokedAt time.Time `json:"revoked_at,omitzero"` // set once revoked
}

// Revoked reports whether the token was revoked and is no longer accepted.
func (t Token) Revoked() bool { return !t.RevokedAt.IsZero() }

// A Scope is the set of rights of a token. Each scope includes all narrower
// ones.
type Scope string

// The scopes, narrowest first.
const (
	ScopeRead  Scope = "read"  // read everything but secrets
	ScopeTalk  Scope = "talk"  // send messages, stop turns
	ScopeChat  Scope = "chat"  // answer approvals; change sessions, documents, jobs and routines
	ScopeAdmin Scope = "admin" // change settings and tokens, run tools by hand
)

var scopeRanks = map[Scope]int{ScopeRead: 1, ScopeTalk: 2, ScopeChat: 3, ScopeAdmin: 4}

// Valid reports whether s is a known scope.
func (s Scope) Valid() bool { return scopeRanks[s] > 0 }

// Allows reports whether scope s includes need.
func (s Scope) Allows(need Scope) bool {
	return s.Valid() && need.Valid() && scopeRanks[s] >= scopeRanks[need]
}
