package orchestrator

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"io"
	"sync"
	"time"
)

// tokenLife is how long a token is valid after its last use.
const tokenLife = time.Hour

// A token is chela's record of the secret of a worker.
type token struct {
	hash [sha256.Size]byte

	mu      sync.Mutex
	expires time.Time // guarded by mu; zero once revoked
}

// newToken returns a new secret and its token.
func newToken(random io.Reader, now time.Time) (secret string, t *token, err error) {
	var b [32]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", nil, fmt.Errorf("make a token: %w", err)
	}
	secret = hex.EncodeToString(b[:])
	return secret, &token{hash: sha256.Sum256([]byte(secret)), expires: now.Add(tokenLife)}, nil
}

// admits reports whether a secret is valid, and extends it if so.
func (t *token) admits(secret string, now time.Time) bool {
	hash := sha256.Sum256([]byte(secret))
	same := subtle.ConstantTimeCompare(hash[:], t.hash[:]) == 1
	t.mu.Lock()
	defer t.mu.Unlock()
	if !same || !now.Before(t.expires) {
		return false
	}
	t.expires = now.Add(tokenLife)
	return true
}

// revoke makes the secret invalid.
func (t *token) revoke() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expires = time.Time{}
}
