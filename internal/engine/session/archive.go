package session

import (
	"context"
	"time"

	"chela"
	"chela/internal/store"
)

// page is the batch size of queries.
const page = 200

// Archive archives the sessions unused since a time, without running turns and
// waiting messages, and returns their number. Archived sessions stay readable;
// a new message restores them.
func (ss *Sessions) Archive(ctx context.Context, before time.Time) (n int, err error) {
	var after chela.SessionKey
	for {
		idle, err := store.Find(ctx, ss.store, func(r *store.Read) ([]chela.Session, error) { return r.IdleSessions(ctx, before, after, page) })
		if err != nil {
			return n, err
		}
		for _, s := range idle {
			if !s.Settings.ArchivedAt.IsZero() {
				continue
			}
			done, err := ss.archive(ctx, s.Key, before)
			if err != nil {
				return n, err
			}
			if done {
				n++
			}
		}
		if len(idle) < page {
			return n, nil
		}
		after = idle[len(idle)-1].Key
	}
}

// archive archives one session unless it was used in the meantime. It does not
// change the time of its last use.
func (ss *Sessions) archive(ctx context.Context, key chela.SessionKey, before time.Time) (done bool, err error) {
	var s chela.Session
	err = ss.store.Tell(ctx, "session.archive", ss.cfg.Emit, func(w *store.Write) error {
		done = false
		lane, err := w.LockLane(ctx, key)
		if err != nil {
			return err
		}
		if s, err = w.Session(ctx, key); err != nil {
			return err
		}
		live, err := w.LiveTurns(ctx, key)
		if err != nil {
			return err
		}
		waiting, err := w.CountWaiting(ctx, key)
		if err != nil {
			return err
		}
		idle, err := w.IsIdle(ctx, key, before)
		if err != nil || lane.Owner != "" || len(live)+waiting > 0 || !idle || !s.Settings.ArchivedAt.IsZero() {
			return err
		}
		done, s.Settings.ArchivedAt = true, ss.now()
		if err := w.SaveSession(ctx, s); err != nil {
			return err
		}
		return w.Announce(ctx, s.Settings.ArchivedAt, []chela.Event{{Kind: chela.EventSessionChanged, Session: s.Key, Thread: s.Thread}})
	})
	if err != nil || !done {
		return false, err
	}
	ss.cfg.Ended(End{Session: s.Key, Thread: s.Thread, Reason: Archived})
	return true, nil
}
