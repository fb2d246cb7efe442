// Package token authenticates programs and pages: it creates secrets and
// resolves a secret to its token.
package token

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"chela"
	"chela/internal/api"
	"chela/internal/store"
)

const (
	secretPrefix = "chela_"
	secretBytes  = 32                  // random bytes of a secret: it cannot be guessed, so a plain hash is sufficient
	maxTokenName = 100                 // characters
	loginTime    = 30 * 24 * time.Hour // lifetime of a page's login
	trustTime    = time.Second         // how long a token is cached after a lookup
	maxTrusted   = 1024                // maximum number of cached tokens
)

// Config holds the dependencies of a keeper. All fields are required.
type Config struct {
	IDs    *chela.IDs
	Now    func() time.Time
	Random io.Reader
}

// A Keeper creates, authenticates and revokes tokens. Secrets are looked up by
// their hash, so the time of a lookup reveals nothing about existing secrets.
// It is safe for concurrent use.
type Keeper struct {
	Config
	store *store.Store

	mu      sync.Mutex
	trusted map[string]trusted // guarded by mu; by hash
	revoked int                // guarded by mu; number of revocations in this process
	claims  int                // guarded by mu; number of claims in this process
}

// A trusted token is a cached lookup.
type trusted struct {
	token chela.Token
	until time.Time
}

// New returns a keeper of the tokens in a store.
func New(s *store.Store, cfg Config) *Keeper { return &Keeper{Config: cfg, store: s} }

// CreateToken creates a token and returns its secret, which cannot be recovered
// later.
func (k *Keeper) CreateToken(ctx context.Context, name string, scope chela.Scope) (chela.Token, string, error) {
	made := chela.Token{ID: k.IDs.Token(), Name: strings.TrimSpace(name), Scope: scope, CreatedAt: k.Now().UTC().Truncate(time.Microsecond)}
	switch {
	case made.Name == "" || utf8.RuneCountInString(made.Name) > maxTokenName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return chela.Token{}, "", chela.E(chela.Invalid, "the token name is invalid").
			WithHint(fmt.Sprintf("use up to %d printable characters, such as the program that will use it", maxTokenName))
	case !scope.Valid():
		return chela.Token{}, "", chela.E(chela.Invalid, fmt.Sprintf("%.40q is not a scope", scope)).WithHint("use read, talk, chat or admin")
	}
	secret, err := k.secret(secretPrefix)
	if err != nil {
		return chela.Token{}, "", err
	}
	err = k.store.Write(ctx, "token.create", func(w *store.Write) error { return w.AddToken(ctx, made, hashOf(secret)) })
	return made, secret, err
}

// secret returns a new secret.
func (k *Keeper) secret(prefix string) (string, error) {
	raw := make([]byte, secretBytes)
	if _, err := io.ReadFull(k.Random, raw); err != nil {
		return "", fmt.Errorf("read randomness for a secret: %w", err)
	}
	return prefix + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw)), nil
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Tokens returns all tokens, oldest first.
func (k *Keeper) Tokens(ctx context.Context) ([]chela.Token, error) {
	return store.Find(ctx, k.store, func(r *store.Read) ([]chela.Token, error) { return r.Tokens(ctx) })
}

// RevokeToken revokes a token and its logins, at once in this process and
// within a second in others. An unknown token is NotFound, one revoked before a
// Conflict.
func (k *Keeper) RevokeToken(ctx context.Context, id chela.TokenID) error {
	all, err := k.Tokens(ctx)
	if err != nil {
		return err
	}
	known := false
	for _, token := range all {
		known = known || token.ID == id
	}
	if !known {
		return chela.E(chela.NotFound, fmt.Sprintf("there is no token %.60q", id))
	}
	err = k.store.Write(ctx, "token.revoke", func(w *store.Write) error { return w.RevokeToken(ctx, id, k.Now()) })
	if chela.KindOf(err) == chela.Conflict {
		err = chela.E(chela.Conflict, fmt.Sprintf("token %s is already revoked", id)).Because(err)
	}
	k.mu.Lock()
	k.trusted = nil
	k.revoked++
	k.mu.Unlock()
	return err
}

// errUnknown is the only answer to an invalid secret, so that it does not
// reveal the reason.
var errUnknown = chela.E(chela.Denied, "the token is unknown or was revoked").WithHint("make one with chela tokens create")

// Authenticate returns the token of a secret, or Denied.
func (k *Keeper) Authenticate(ctx context.Context, secret string) (chela.Token, error) {
	hash := hashOf(secret)
	known, revoked := k.remembered(hash)
	if k.Now().Before(known.until) {
		return known.token, nil
	}
	token, err := store.Find(ctx, k.store, func(r *store.Read) (chela.Token, error) { return r.TokenByHash(ctx, hash) })
	switch {
	case chela.KindOf(err) == chela.NotFound, err == nil && !token.RevokedAt.IsZero():
		return chela.Token{}, errUnknown
	case err != nil:
		return chela.Token{}, err
	}
	k.remember(hash, token, revoked)
	return token, nil
}

// remembered returns the cached lookup of a hash and the current number of
// revocations.
func (k *Keeper) remembered(hash string) (known trusted, revoked int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.trusted[hash], k.revoked
}

// remember caches a token, unless a token was revoked since its lookup.
func (k *Keeper) remember(hash string, token chela.Token, revoked int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.revoked != revoked {
		return
	}
	if k.trusted == nil || len(k.trusted) >= maxTrusted {
		k.trusted = map[string]trusted{}
	}
	k.trusted[hash] = trusted{token, k.Now().Add(trustTime)}
}

// Login creates a cookie for the holder of a token's secret.
func (k *Keeper) Login(ctx context.Context, secret string) (string, api.LoggedIn, error) {
	token, err := k.Authenticate(ctx, secret)
	if err != nil {
		return "", api.LoggedIn{}, err
	}
	cookie, err := k.secret("")
	if err != nil {
		return "", api.LoggedIn{}, err
	}
	now := k.Now()
	login := store.Login{Token: token, ExpiresAt: now.Add(loginTime)}
	err = k.store.Write(ctx, "login.create", func(w *store.Write) error { return w.AddLogin(ctx, login, hashOf(cookie), now) })
	return cookie, loggedIn(login, cookie), err
}

// LoggedIn returns the token behind a cookie, or Denied.
func (k *Keeper) LoggedIn(ctx context.Context, cookie string) (chela.Token, api.LoggedIn, error) {
	login, err := store.Find(ctx, k.store, func(r *store.Read) (store.Login, error) { return r.LoginByHash(ctx, hashOf(cookie)) })
	switch {
	case chela.KindOf(err) == chela.NotFound, err == nil && (!login.RevokedAt.IsZero() || k.Now().After(login.ExpiresAt)):
		return chela.Token{}, api.LoggedIn{}, chela.E(chela.Denied, "the login has expired").WithHint("log in again with a token")
	case err != nil:
		return chela.Token{}, api.LoggedIn{}, err
	}
	return login.Token, loggedIn(login, cookie), nil
}

// loggedIn returns the login as shown to the page. The CSRF value is derived
// from the cookie, which only the page's own browser has.
func loggedIn(l store.Login, cookie string) api.LoggedIn {
	return api.LoggedIn{Name: l.Name, Scope: l.Scope, CSRF: hashOf("csrf " + cookie)[:32], Expires: l.ExpiresAt}
}

// Logout ends a login.
func (k *Keeper) Logout(ctx context.Context, cookie string) error {
	return k.store.Write(ctx, "login.end", func(w *store.Write) error { return w.RemoveLogin(ctx, hashOf(cookie)) })
}
