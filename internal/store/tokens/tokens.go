// Package tokens keeps tokens, and the logins made with them.
package tokens

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/engine"
	"chela/internal/store/rows"
)

// A Read is a transaction as far as it reads tokens.
type Read struct{ tx rows.Tx }

// Reading returns a transaction as far as it reads tokens.
func Reading(tx rows.Tx) Read { return Read{tx} }

// A Write is a transaction as far as it writes tokens.
type Write struct{ tx rows.Tx }

// Writing returns a transaction as far as it writes tokens.
func Writing(tx rows.Tx) Write { return Write{tx} }

const tokenColumns = `id, name, scope, created_at, revoked_at`

func scanToken(row engine.Row) (t chela.Token, err error) {
	err = row.Scan(&t.ID, &t.Name, &t.Scope, rows.Time(&t.CreatedAt), rows.Time(&t.RevokedAt))
	return t, err
}

// AddToken adds a token and the hash of its secret.
func (w Write) AddToken(ctx context.Context, t chela.Token, hash string) error {
	return w.tx.Must(ctx, `insert into tokens (`+tokenColumns+`, hash) values ($1, $2, $3, $4, $5, $6)`,
		string(t.ID), t.Name, string(t.Scope), rows.Micros(t.CreatedAt), rows.Micros(t.RevokedAt), hash)
}

// Tokens returns all tokens, oldest first, those that were revoked among them.
func (r Read) Tokens(ctx context.Context) ([]chela.Token, error) {
	return rows.All(ctx, r.tx, scanToken, `select `+tokenColumns+` from tokens order by created_at, id`)
}

// TokenByHash returns the token whose secret has a hash, or NotFound.
func (r Read) TokenByHash(ctx context.Context, hash string) (chela.Token, error) {
	return rows.One(ctx, r.tx, scanToken, "token", "with that secret", `select `+tokenColumns+` from tokens where hash = $1`, hash)
}

// RevokeToken ends a token, and the logins made with it. It is a Conflict if
// the token does not exist or was revoked before.
func (w Write) RevokeToken(ctx context.Context, id chela.TokenID, at time.Time) error {
	if err := w.tx.Must(ctx, `delete from logins where token = $1`, string(id)); err != nil {
		return err
	}
	return w.tx.Move(ctx, "token", string(id),
		`update tokens set revoked_at = $2 where id = $1 and revoked_at = 0`, string(id), rows.Micros(at))
}

// A Login is a cookie that stands for a token.
type Login struct {
	chela.Token
	ExpiresAt time.Time
}

// AddLogin keeps the hash of a cookie, and removes the logins whose time is over
// at a time.
func (w Write) AddLogin(ctx context.Context, l Login, hash string, at time.Time) error {
	if err := w.tx.Must(ctx, `delete from logins where expires_at < $1`, rows.Micros(at)); err != nil {
		return err
	}
	return w.tx.Must(ctx, `insert into logins (hash, token, created_at, expires_at) values ($1, $2, $3, $4)`,
		hash, string(l.ID), rows.Micros(at), rows.Micros(l.ExpiresAt))
}

// LoginByHash returns the login whose cookie has a hash, or NotFound.
func (r Read) LoginByHash(ctx context.Context, hash string) (Login, error) {
	return rows.One(ctx, r.tx, func(row engine.Row) (l Login, err error) {
		err = row.Scan(&l.ID, &l.Name, &l.Scope, rows.Time(&l.CreatedAt), rows.Time(&l.RevokedAt), rows.Time(&l.ExpiresAt))
		return l, err
	}, "login", "with that cookie", `select t.id, t.name, t.scope, t.created_at, t.revoked_at, l.expires_at
		from logins l join tokens t on t.id = l.token where l.hash = $1`, hash)
}

// RemoveLogin ends a login, if there is one.
func (w Write) RemoveLogin(ctx context.Context, hash string) error {
	return w.tx.Must(ctx, `delete from logins where hash = $1`, hash)
}
