package store

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/engine"
)

var tokenTable = tableOf("tokens", func(t *chela.Token) []column {
	return []column{
		{"id", &t.ID}, {"name", &t.Name}, {"scope", &t.Scope}, {"created_at", &t.CreatedAt}, {"revoked_at", &t.RevokedAt},
	}
})

// AddToken adds a token and the hash of its secret.
func (w *Write) AddToken(ctx context.Context, t chela.Token, hash string) error {
	return w.tx.Must(ctx, `insert into tokens (`+tokenTable.names+`, hash) values (`+tokenTable.marks+`, $6)`,
		append(tokenTable.args(t), hash)...)
}

// Tokens returns all tokens, revoked ones included, oldest first.
func (r *Read) Tokens(ctx context.Context) ([]chela.Token, error) {
	return queryAll(ctx, r.tx, tokenTable.scan, `select `+tokenTable.columns+` from tokens order by created_at, id`)
}

// TokenByHash returns the token whose secret has a hash, or NotFound.
func (r *Read) TokenByHash(ctx context.Context, hash string) (chela.Token, error) {
	return queryOne(ctx, r.tx, tokenTable.scan, "token", "with that secret", `select `+tokenTable.columns+` from tokens where hash = $1`, hash)
}

// RevokeToken revokes a token, and the logins made with it. It returns Conflict
// if the token does not exist or was already revoked.
func (w *Write) RevokeToken(ctx context.Context, id chela.TokenID, at time.Time) error {
	if err := w.tx.Must(ctx, `delete from logins where token = $1`, string(id)); err != nil {
		return err
	}
	return w.tx.Move(ctx, "token", string(id),
		`update tokens set revoked_at = $2 where id = $1 and revoked_at = 0`, string(id), micros(at))
}

// A Login is a cookie that stands for a token.
type Login struct {
	chela.Token
	ExpiresAt time.Time
}

// AddLogin stores the hash of a cookie, and deletes the logins that have
// expired at a time.
func (w *Write) AddLogin(ctx context.Context, l Login, hash string, at time.Time) error {
	if err := w.tx.Must(ctx, `delete from logins where expires_at < $1`, micros(at)); err != nil {
		return err
	}
	return w.tx.Must(ctx, `insert into logins (hash, token, created_at, expires_at) values ($1, $2, $3, $4)`,
		hash, string(l.ID), micros(at), micros(l.ExpiresAt))
}

// LoginByHash returns the login whose cookie has a hash, or NotFound.
func (r *Read) LoginByHash(ctx context.Context, hash string) (Login, error) {
	return queryOne(ctx, r.tx, func(row engine.Row) (l Login, err error) {
		err = row.Scan(&l.ID, &l.Name, &l.Scope, scanTime(&l.CreatedAt), scanTime(&l.RevokedAt), scanTime(&l.ExpiresAt))
		return l, err
	}, "login", "with that cookie", `select t.id, t.name, t.scope, t.created_at, t.revoked_at, l.expires_at
		from logins l join tokens t on t.id = l.token where l.hash = $1`, hash)
}

// RemoveLogin deletes a login, if there is one.
func (w *Write) RemoveLogin(ctx context.Context, hash string) error {
	return w.tx.Must(ctx, `delete from logins where hash = $1`, hash)
}
