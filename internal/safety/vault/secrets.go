package vault

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"chela"
	"chela/internal/api"
	"chela/internal/store"
)

// maxHosts bounds the patterns of one secret.
const maxHosts = 32

// Config holds the dependencies of [Secrets]. All fields are required.
type Config struct {
	Source Source
	IDs    *chela.IDs
	Now    func() time.Time
}

// Secrets is the vault of a home: sealed values in the store, opened with the
// master key. It is safe for concurrent use.
type Secrets struct {
	Config
	store *store.Store

	mu  sync.Mutex
	key *Key // guarded by mu; nil until the key is needed
}

// New returns the secrets in a store. The master key is read when it is needed.
func New(s *store.Store, cfg Config) *Secrets { return &Secrets{Config: cfg, store: s} }

// master returns the master key, which is made for the first secret.
func (v *Secrets) master(ctx context.Context, create bool) (Key, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.key != nil {
		return *v.key, nil
	}
	if err := v.settle(ctx); err != nil {
		return Key{}, err
	}
	load := v.Source.Load
	if create {
		load = v.Source.LoadOrCreate
	}
	k, _, err := load(ctx)
	if err != nil {
		return Key{}, err
	}
	v.key = &k
	return k, nil
}

// forget drops a key from memory, so that the next use reads it again.
func (v *Secrets) forget(k Key) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.key != nil && *v.key == k {
		v.key = nil
	}
}

// All returns all secrets without their values, by name.
func (v *Secrets) All(ctx context.Context) ([]chela.Secret, error) {
	all, err := store.Find(ctx, v.store, func(r *store.Read) ([]store.SealedSecret, error) { return r.Secrets(ctx) })
	secrets := make([]chela.Secret, len(all))
	for i, s := range all {
		secrets[i] = s.Secret
	}
	return secrets, err
}

// Set gives a secret a value, or a new version of it. It returns Invalid for a
// name, a value or a host pattern that cannot be used.
func (v *Secrets) Set(ctx context.Context, name chela.SecretName, value api.SecretValue) (chela.Secret, error) {
	hosts, err := checked(name, value)
	if err != nil {
		return chela.Secret{}, err
	}
	k, err := v.master(ctx, true)
	if err != nil {
		return chela.Secret{}, err
	}
	now := v.Now().UTC().Truncate(time.Microsecond)
	var made store.SealedSecret
	err = v.store.Write(ctx, "secret.set", func(w *store.Write) error {
		before, err := w.Secret(ctx, name)
		if err != nil && chela.KindOf(err) != chela.NotFound {
			return err
		}
		made = before
		made.Name, made.Version, made.Hosts, made.Note, made.Key, made.ChangedAt = name, before.Version+1, hosts, value.Note, k.ID(), now
		if before.Version == 0 {
			made.CreatedAt = now
		}
		if made.Sealed, err = k.Seal(string(name), made.Version, []byte(value.Value)); err != nil {
			return err
		}
		return w.PutSecret(ctx, made)
	})
	return made.Secret, err
}

func checked(name chela.SecretName, value api.SecretValue) (hosts []string, err error) {
	switch {
	case !name.Valid():
		return nil, chela.E(chela.Invalid, "the name of the secret is not valid").WithHint("use up to 64 letters, digits, '.', '_' and '-'")
	case value.Value == "":
		return nil, chela.E(chela.Invalid, "the value of the secret is empty")
	case !utf8.ValidString(value.Value):
		return nil, chela.E(chela.Invalid, "the value of the secret is not UTF-8").WithHint("encode it in base64")
	case len(value.Hosts) > maxHosts:
		return nil, chela.E(chela.Invalid, fmt.Sprintf("a secret is bound to at most %d host patterns", maxHosts))
	}
	for _, h := range value.Hosts {
		pattern, err := hostPattern(h)
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, pattern)
	}
	return hosts, nil
}

// hostPattern returns a pattern in the form that package egress compares: names in
// lower case ASCII. A pattern for all hosts is refused.
func hostPattern(text string) (string, error) {
	invalid := chela.E(chela.Invalid, fmt.Sprintf("%.80q is not a host pattern", text)).
		WithHint("write a host name, *.NAME for the hosts below it, and optionally a port: api.github.com, *.example.com:8443")
	host, port, hasPort := strings.Cut(strings.ToLower(strings.TrimSpace(text)), ":")
	stem, wild := strings.CutPrefix(host, "*.")
	name, err := idna.Lookup.ToASCII(strings.TrimSuffix(stem, "."))
	if err != nil || name == "" || wild && !strings.Contains(name, ".") {
		return "", invalid
	}
	if _, err := netip.ParseAddr(name); err != nil && strings.Trim(name, "0123456789.") == "" {
		return "", invalid
	}
	if wild {
		name = "*." + name
	}
	if !hasPort {
		return name, nil
	}
	if port != "*" && (strings.Trim(port, "0123456789") != "" || port == "" || len(port) > 5) {
		return "", invalid
	}
	return name + ":" + port, nil
}

// Delete deletes a secret. One that does not exist is NotFound.
func (v *Secrets) Delete(ctx context.Context, name chela.SecretName) error {
	return v.store.Write(ctx, "secret.delete", func(w *store.Write) error {
		if _, err := w.Secret(ctx, name); err != nil {
			return err
		}
		return w.RemoveSecret(ctx, name)
	})
}

// Use opens a secret and records its use, whose Purpose, Host, Session and Turn
// the caller sets. The value is returned only after the record is committed.
func (v *Secrets) Use(ctx context.Context, name chela.SecretName, use chela.SecretUse) (string, error) {
	sealed, err := store.Find(ctx, v.store, func(r *store.Read) (store.SealedSecret, error) { return r.Secret(ctx, name) })
	if err != nil {
		if chela.KindOf(err) == chela.NotFound {
			err = chela.E(chela.NotFound, "there is no secret "+string(name)).WithHint("set it with: chela secrets set " + string(name))
		}
		return "", err
	}
	value, err := v.open(ctx, sealed)
	if err != nil {
		return "", err
	}
	use.ID, use.Name, use.Version, use.At = v.IDs.SecretUse(), name, sealed.Version, v.Now()
	err = v.store.Write(ctx, "secret.use", func(w *store.Write) error { return w.AddSecretUse(ctx, use) })
	if err != nil {
		return "", err
	}
	return value, nil
}

// open returns the value of a sealed secret.
func (v *Secrets) open(ctx context.Context, s store.SealedSecret) (string, error) {
	k, err := v.master(ctx, false)
	if err == nil && k.ID() != s.Key { // another process may have rotated it
		v.forget(k)
		k, err = v.master(ctx, false)
	}
	if err != nil {
		return "", err
	}
	if k.ID() != s.Key {
		return "", chela.E(chela.Denied, fmt.Sprintf("the secret %s is sealed with another master key", s.Name)).
			WithHint("restore the master key of this home, or set the secret again: chela secrets set " + string(s.Name))
	}
	value, err := k.Open(string(s.Name), s.Version, s.Sealed)
	return string(value), err
}

// Values returns all values by name, for the scanner of leaks. Without a master
// key there are none. Their use is not recorded: they leave nowhere.
func (v *Secrets) Values(ctx context.Context) (map[chela.SecretName]string, error) {
	all, err := store.Find(ctx, v.store, func(r *store.Read) ([]store.SealedSecret, error) { return r.Secrets(ctx) })
	values := map[chela.SecretName]string{}
	for _, s := range all {
		value, wrong := v.open(ctx, s)
		if wrong != nil {
			return values, wrong
		}
		values[s.Name] = value
	}
	return values, err
}

// Uses returns the newest uses of a secret.
func (v *Secrets) Uses(ctx context.Context, name chela.SecretName, limit int) ([]chela.SecretUse, error) {
	return store.Find(ctx, v.store, func(r *store.Read) ([]chela.SecretUse, error) {
		if _, err := r.Secret(ctx, name); err != nil {
			return nil, err
		}
		return r.SecretUses(ctx, name, v.Now().Add(time.Second), limit)
	})
}

// Rotate seals all secrets with a new master key. The new key is written beside
// the old one first, all secrets are sealed in one transaction, and then the new
// key takes the place of the old one. A process that dies in between leaves both
// keys; the next use of the vault compares them with the secrets, and goes on or
// back (settle).
//
// It returns Unsupported where chela does not keep the key itself.
func (v *Secrets) Rotate(ctx context.Context) (api.RotatedSecrets, error) {
	old, err := v.master(ctx, true)
	if err != nil {
		return api.RotatedSecrets{}, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.Source.Environment != "" || !exists(v.Source.File) {
		return api.RotatedSecrets{}, chela.E(chela.Unsupported, "the master key is not in the key file, so chela cannot replace it").
			WithHint("export the secrets you need, change the key where it is kept, and set them again")
	}
	next := v.next()
	if err := next.create(NewKey()); err != nil {
		return api.RotatedSecrets{}, err
	}
	fresh, err := next.read()
	if err != nil {
		return api.RotatedSecrets{}, err
	}
	n, err := v.reseal(ctx, old, fresh)
	if err != nil {
		return api.RotatedSecrets{}, errors.Join(err, v.settle(ctx))
	}
	v.key = nil
	return api.RotatedSecrets{Secrets: n, Key: fresh.ID()}, v.settle(ctx)
}

func (v *Secrets) reseal(ctx context.Context, old, fresh Key) (n int, err error) {
	err = v.store.Write(ctx, "secret.rotate", func(w *store.Write) error {
		all, err := w.Secrets(ctx)
		n = len(all)
		for _, s := range all {
			value, wrong := old.Open(string(s.Name), s.Version, s.Sealed)
			if err = errors.Join(err, wrong); err != nil {
				return err
			}
			if s.Sealed, err = fresh.Seal(string(s.Name), s.Version, value); err != nil {
				return err
			}
			s.Key = fresh.ID()
			if err := w.ResealSecret(ctx, s); err != nil {
				return err
			}
		}
		return err
	})
	return n, err
}

// next is the place of the key that a rotation goes over to.
func (v *Secrets) next() Source { return Source{File: v.Source.File + ".next"} }

// settle ends a rotation that was interrupted: the new key takes the place of the
// old one if the secrets are sealed with it, and is removed if they are not.
func (v *Secrets) settle(ctx context.Context) error {
	next := v.next()
	if !exists(next.File) {
		return nil
	}
	fresh, err := next.read()
	if err != nil {
		return err
	}
	all, err := store.Find(ctx, v.store, func(r *store.Read) ([]store.SealedSecret, error) { return r.Secrets(ctx) })
	if err != nil {
		return err
	}
	done := len(all) == 0
	for _, s := range all {
		done = done || s.Key == fresh.ID()
	}
	if done {
		err = os.Rename(next.File, v.Source.File)
	} else {
		err = os.Remove(next.File)
	}
	if err != nil {
		return fmt.Errorf("end the rotation of the master key: %w", err)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
