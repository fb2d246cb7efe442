package store

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/engine"
)

// A SealedSecret is a secret with its sealed value, which only the vault can open.
type SealedSecret struct {
	chela.Secret
	Sealed []byte
}

var (
	secretTable    = tableOf[SealedSecret]("secret", "secrets", `name version hosts? note master_key=Key sealed created_at changed_at`)
	secretUseTable = tableOf[chela.SecretUse]("use of a secret", "secret_uses", `id name version purpose host session turn at`)
)

// Secrets returns all secrets with their sealed values, by name.
func (r *Read) Secrets(ctx context.Context) ([]SealedSecret, error) {
	all, err := secretTable.all(ctx, r.tx, `order by name`)
	for i := range all {
		if err == nil {
			err = r.countUses(ctx, &all[i].Secret)
		}
	}
	return all, err
}

// Secret returns the secret with a name, or NotFound.
func (r *Read) Secret(ctx context.Context, name chela.SecretName) (SealedSecret, error) {
	s, err := secretTable.one(ctx, r.tx, name, secretTable.selects+`where name = $1`, name)
	if err == nil {
		err = r.countUses(ctx, &s.Secret)
	}
	return s, err
}

// countUses sets how often a secret was used, and when last.
func (r *Read) countUses(ctx context.Context, s *chela.Secret) error {
	return r.tx.Query(ctx, func(row engine.Row) error { return row.Scan(&s.Uses, &s.UsedAt) },
		`select count(*), coalesce(max(at), 0) from secret_uses where name = $1`, s.Name)
}

// PutSecret adds a secret, or replaces the version before s.Version. It returns
// Conflict if the secret has another version by now.
func (w *Write) PutSecret(ctx context.Context, s SealedSecret) error {
	if s.Version == 1 {
		return w.tx.Must(ctx, secretTable.insert, secretTable.args(s)...)
	}
	return w.tx.Move(ctx, "secret", s.Name, `update secrets set version = $2, hosts = $3, note = $4, master_key = $5, sealed = $6,
		created_at = $7, changed_at = $8 where name = $1 and version = $2 - 1`, secretTable.args(s)...)
}

// ResealSecret replaces the sealed value of a version, which another master key
// seals now. It returns Conflict if the secret has another version by now.
func (w *Write) ResealSecret(ctx context.Context, s SealedSecret) error {
	return w.tx.Move(ctx, "secret", s.Name, `update secrets set version = $2, hosts = $3, note = $4, master_key = $5, sealed = $6,
		created_at = $7, changed_at = $8 where name = $1 and version = $2`, secretTable.args(s)...)
}

// RemoveSecret deletes a secret. It returns Conflict if there is none.
func (w *Write) RemoveSecret(ctx context.Context, name chela.SecretName) error {
	return w.tx.Move(ctx, "secret", name, `delete from secrets where name = $1`, name)
}

// AddSecretUse records a use of a secret.
func (w *Write) AddSecretUse(ctx context.Context, u chela.SecretUse) error {
	return w.tx.Must(ctx, secretUseTable.insert, secretUseTable.args(u)...)
}

// SecretUses returns up to limit uses of a secret before a time, newest first.
func (r *Read) SecretUses(ctx context.Context, name chela.SecretName, before time.Time, limit int) ([]chela.SecretUse, error) {
	return secretUseTable.all(ctx, r.tx, `where name = $1 and at < $2 order by at desc, id desc limit cast($3 as bigint)`, name, before, limit)
}
