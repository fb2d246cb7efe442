package vault

import (
	"context"
	"fmt"
	"sync"
	"time"

	"chela"
)

// fresh is how long the value of a secret is used before the vault is asked whether
// it has changed.
const fresh = 5 * time.Second

// ReferenceConfig holds the dependencies of [References]. All fields but Learn are
// required.
type ReferenceConfig struct {
	Commands *Commands
	Variable func(name string) string // of the environment

	// Learn is told each value that a reference had.
	Learn func(reference chela.SecretReference, value string)
}

// References resolves references to secrets, such as those of settings. It is safe
// for concurrent use.
//
// A secret of the vault is kept in memory. Its use is recorded once for each version,
// when it leaves the vault, and a new version is used within five seconds. What a
// command printed is used until it is rejected; see [References.Rejected].
type References struct {
	ReferenceConfig
	secrets *Secrets

	mu   sync.Mutex
	kept map[chela.SecretName]keptSecret // guarded by mu
}

// A keptSecret is a secret that has left the vault.
type keptSecret struct {
	value   string
	version int
	changed time.Time // when this version was set: a secret that was deleted and set again may have the same version
	checked time.Time
}

// NewReferences returns a resolver.
func NewReferences(s *Secrets, cfg ReferenceConfig) *References {
	return &References{ReferenceConfig: cfg, secrets: s, kept: map[chela.SecretName]keptSecret{}}
}

// Resolve returns the secret of a reference, for a purpose such as the key of a
// setting. It returns [chela.Invalid] for a malformed reference and a variable that
// is not set, [chela.NotFound] for a secret that does not exist, and the errors of
// [Secrets.Use] and [Commands.Resolve].
func (r *References) Resolve(ctx context.Context, reference chela.SecretReference, purpose string) (string, error) {
	value, err := r.resolve(ctx, reference, purpose)
	if err == nil && r.Learn != nil {
		r.Learn(reference, value)
	}
	return value, err
}

func (r *References) resolve(ctx context.Context, reference chela.SecretReference, purpose string) (string, error) {
	switch place, name := reference.Split(); place {
	case chela.PlaceEnvironment:
		if value := r.Variable(name); value != "" {
			return value, nil
		}
		return "", chela.E(chela.Invalid, "the variable "+name+" is not set").
			WithHint("set it where chela is started, or put the secret into the vault: chela secrets set NAME")
	case chela.PlaceVault:
		return r.secret(ctx, chela.SecretName(name), purpose)
	case chela.PlaceCommand:
		return r.Commands.Resolve(ctx, name)
	}
	return "", chela.E(chela.Invalid, "this does not say where a secret is").
		WithHint("write env:NAME, secret:NAME or, in settings, exec:COMMAND, never the secret itself")
}

// secret returns a secret of the vault.
func (r *References) secret(ctx context.Context, name chela.SecretName, purpose string) (string, error) {
	now := r.secrets.Now()
	r.mu.Lock()
	kept, known := r.kept[name]
	r.mu.Unlock()
	if known && now.Sub(kept.checked) < fresh {
		return kept.value, nil
	}
	s, err := r.secrets.Secret(ctx, name)
	if err != nil {
		r.drop(name)
		return "", err
	}
	if !known || kept.version != s.Version || !kept.changed.Equal(s.ChangedAt) {
		if kept.value, s, err = r.secrets.use(ctx, name, chela.SecretUse{Purpose: purpose}); err != nil {
			return "", err
		}
	}
	kept.version, kept.changed, kept.checked = s.Version, s.ChangedAt, now
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept[name] = kept
	return kept.value, nil
}

// drop forgets a secret.
func (r *References) drop(name chela.SecretName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.kept, name)
}

// Rejected states that a server did not accept the secret of a reference, so that
// the next use asks for it again.
func (r *References) Rejected(reference chela.SecretReference) {
	switch place, name := reference.Split(); place {
	case chela.PlaceVault:
		r.drop(chela.SecretName(name))
	case chela.PlaceCommand:
		r.Commands.Forget(name)
	}
}

// Examine returns why a reference cannot be resolved, or nil. It records no use.
func (r *References) Examine(ctx context.Context, reference chela.SecretReference) error {
	place, name := reference.Split()
	if place != chela.PlaceVault {
		_, err := r.Resolve(ctx, reference, "")
		return err
	}
	values, err := r.secrets.Values(ctx)
	if _, ok := values[chela.SecretName(name)]; err == nil && !ok {
		err = noSecret(chela.SecretName(name))
	}
	return err
}

// Vault returns the number of secrets in the vault and where its key is, or why they
// cannot be opened.
func (r *References) Vault(ctx context.Context) (n int, place Place, err error) {
	values, err := r.secrets.Values(ctx)
	if err != nil || len(values) == 0 {
		return 0, "", err
	}
	_, place, err = r.secrets.Source.Load(ctx)
	return len(values), place, err
}

// noSecret is the error for a secret that does not exist.
func noSecret(name chela.SecretName) error {
	return chela.E(chela.NotFound, fmt.Sprintf("there is no secret %q", name)).WithHint("set it with: chela secrets set " + string(name))
}
