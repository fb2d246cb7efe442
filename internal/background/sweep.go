package background

import (
	"context"
	"time"

	"chela/internal/store"
)

const (
	keepEvents = 72 * time.Hour // retention of events for readers that reconnect
	maxEvents  = 1_000_000      // maximum number of transactions with events
	sweepTime  = 10 * time.Minute

	// reapTime is the interval between removals of containers that are left: the
	// engine may finish one for a process that died after its successor looked.
	reapTime = 15 * time.Second
)

// sweep unloads idle lanes, archives idle sessions and deletes expired events.
func (b *Background) sweep(ctx context.Context) {
	b.cfg.Lanes.Prune(b.cfg.Settings.Session.IdleUnload)
	b.archive(ctx)
	if n, err := b.copies.Sweep(ctx); err != nil && ctx.Err() == nil {
		b.cfg.Log.Warn("copies of folders not removed", "copies", n, "error", err)
	}
	if err := b.forgetEvents(ctx); err != nil && ctx.Err() == nil {
		b.cfg.Log.Warn("old events not removed", "error", err)
	}
}

// archive archives the sessions that have been idle for long enough.
func (b *Background) archive(ctx context.Context) {
	days := b.cfg.Settings.Session.ArchiveDays
	if days == 0 {
		return
	}
	n, err := b.cfg.Sessions.Archive(ctx, b.cfg.Now().AddDate(0, 0, -days))
	switch {
	case err != nil && ctx.Err() == nil:
		b.cfg.Log.Warn("idle sessions not archived", "sessions", n, "error", err)
	case n > 0:
		b.cfg.Log.Info("idle sessions archived", "sessions", n)
	}
}

// forgetEvents deletes expired events, a bounded number per transaction.
func (b *Background) forgetEvents(ctx context.Context) error {
	for n := int64(1); n > 0; {
		err := b.cfg.Store.Write(ctx, "events.forget", func(w *store.Write) (err error) {
			n, err = w.ForgetEvents(ctx, b.cfg.Now().Add(-keepEvents), maxEvents)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// reap removes containers again. That the engine does not answer was logged at the
// start, and is logged by each command that needs it.
func (b *Background) reap(ctx context.Context) {
	if err := b.removeContainers(ctx); err != nil {
		b.cfg.Log.Debug("containers of dead processes not removed", "error", err)
	}
}

// removeContainers removes the containers of processes of this home that died.
func (b *Background) removeContainers(ctx context.Context) error {
	n, err := b.cfg.Reap(ctx)
	if n > 0 {
		b.cfg.Log.Info("containers of dead processes removed", "count", n)
	}
	return err
}
