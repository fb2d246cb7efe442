package rewind

import (
	"context"
	"time"

	"chela"
	"chela/internal/store"
)

// A node of another machine, whose state is unknown, counts as dead when it has
// not renewed its rewind for strangerTime. An active rewind is renewed every
// renewTime.
const (
	strangerTime = 30 * time.Second
	renewTime    = 10 * time.Second
)

// left reports whether a rewind is abandoned.
func (m *Rewinds) left(v chela.Rewind) bool {
	old := m.now().Sub(v.RenewedAt) > strangerTime
	return v.Node == m.cfg.Node || m.cfg.Dead(v.Node) || old && !m.cfg.Alive(v.Node)
}

// claim reserves a rewind within this process. It reports false if another
// goroutine holds it.
func (m *Rewinds) claim(id chela.RewindID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.busy[id] {
		return false
	}
	m.busy[id] = true
	return true
}

func (m *Rewinds) letGo(id chela.RewindID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.busy, id)
}

// take makes this process the holder of a rewind. It is a Conflict if another
// process was faster.
func (m *Rewinds) take(ctx context.Context, v *chela.Rewind) error {
	from := v.Node
	v.Node, v.RenewedAt = m.cfg.Node, m.now()
	return m.store.Write(ctx, "rewind.take", func(w *store.Write) error { return w.RenewRewind(ctx, *v, from) })
}

// holding runs do while renewing this process's hold of the rewind. The context
// of do is cancelled if another process takes the rewind over.
func (m *Rewinds) holding(ctx context.Context, v chela.Rewind, do func(context.Context) error) error {
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

// keep renews a rewind periodically until ctx ends or the hold is lost, which
// is a Conflict.
func (m *Rewinds) keep(ctx context.Context, v chela.Rewind) error {
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
