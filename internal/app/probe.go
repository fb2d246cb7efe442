package app

import (
	"context"
	"sync"
	"time"

	"chela/internal/store"
)

// probeTime is how long the result of a probe is cached, because anyone may
// request it and each probe is a commit.
const probeTime = time.Second

// A probe checks whether the database accepts messages, by writing to it. It is
// safe for concurrent use.
type probe struct {
	store *store.Store
	now   func() time.Time

	mu      sync.Mutex
	outcome error     // guarded by mu; nil: the write succeeded
	at      time.Time // guarded by mu; time of the last write
}

// check returns nil if a message that arrived now would be stored.
func (p *probe) check(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if age := p.now().Sub(p.at); p.at.IsZero() || age < 0 || age >= probeTime {
		p.outcome = p.store.Probe(context.WithoutCancel(ctx)) // concurrent callers share the result
		p.at = p.now()
	}
	return p.outcome
}
