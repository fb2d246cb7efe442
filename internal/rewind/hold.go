package rewind

import (
	"context"
	"time"

	"chela"
	"chela/internal/store"
)

// A node of which nothing is known, one of another machine, is taken for dead
// when it has not renewed its rewind for strangerTime. Who carries one out
// renews it every renewTime.
const (
	strangerTime = 30 * time.Second
	renewTime    = 10 * time.Second
)

// left reports whether nobody carries a rewind out.
func (m *Mover) left(v chela.Rewind) bool {
	old := m.now().Sub(v.RenewedAt) > strangerTime
	return v.Node == m.cfg.Node || m.cfg.Dead(v.Node) || old && !m.cfg.Alive(v.Node)
}

// claim keeps the goroutines of this process apart: it reports false if another
// one carries a rewind out.
func (m *Mover) claim(id chela.RewindID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.busy[id] {
		return false
	}
	m.busy[id] = true
	return true
}

func (m *Mover) letGo(id chela.RewindID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.busy, id)
}

// take makes this process the one that carries a rewind out. It is a Conflict if
// another one was faster.
func (m *Mover) take(ctx context.Context, v *chela.Rewind) error {
	from := v.Node
	v.Node, v.RenewedAt = m.cfg.Node, m.now()
	return m.store.Write(ctx, "rewind.take", func(w *store.Write) error { return w.RenewRewind(ctx, *v, from) })
}

// holding does a part of a rewind that takes time, and keeps the rewind this
// process's until it is done. The context of do ends if another process took it
// nevertheless, as this one was thought to be dead.
func (m *Mover) holding(ctx context.Context, v chela.Rewind, do func(context.Context) error) error {
	ctx, end := context.WithCancelCause(ctx)
	kept := make(chan struct{})
	go func() { // until do has returned; holding waits
		defer close(kept)
		end(m.keep(ctx, v))
	}()
	err := do(ctx)
	end(nil)
	<-kept
	return err
}

// keep renews a rewind from time to time until ctx ends or it is lost.
func (m *Mover) keep(ctx context.Context, v chela.Rewind) error {
	tick := time.NewTicker(renewTime)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		switch err := m.take(ctx, &v); {
		case chela.KindOf(err) == chela.Conflict:
			return err
		case err != nil && ctx.Err() == nil:
			m.cfg.Log.Warn("rewind not renewed", "thread", v.Thread, "error", err)
		}
	}
}
