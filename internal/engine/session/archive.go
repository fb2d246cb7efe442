package session

import (
	"context"
	"errors"
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
			switch err := ss.archive(ctx, s, before); {
			case err == nil:
				n++
			case !errors.Is(err, errInUse):
				return n, err
			}
		}
		if len(idle) < page {
			return n, nil
		}
		after = idle[len(idle)-1].Key
	}
}

// errInUse is the error for a session that was used in the meantime.
var errInUse = chela.E(chela.Conflict, "the session is in use")

// archive archives one session unless it was used in the meantime. It does not
// change the time of its last use.
func (ss *Sessions) archive(ctx context.Context, idle chela.Session, before time.Time) error {
	s, err := ss.change(ctx, "session.archive", idle.Key, func(w *store.Write, s *chela.Session) error {
		lane, err := w.LockLane(ctx, s.Key)
		if err != nil {
			return err
		}
		live, err := w.LiveTurns(ctx, s.Key)
		if err != nil {
			return err
		}
		waiting, err := w.CountWaiting(ctx, s.Key)
		if err != nil {
			return err
		}
		unused, err := w.IsIdle(ctx, s.Key, before)
		if err != nil {
			return err
		}
		if lane.Owner != "" || len(live)+waiting > 0 || !unused || !s.Settings.ArchivedAt.IsZero() {
			return errInUse
		}
		s.Settings.ArchivedAt, s.UpdatedAt = s.UpdatedAt, idle.UpdatedAt
		return nil
	})
	if err == nil {
		ss.cfg.Ended(End{Session: s.Key, Thread: s.Thread, Reason: Archived})
	}
	return err
}
