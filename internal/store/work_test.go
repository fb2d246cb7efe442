package store_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"chela"
	"chela/internal/store"
)

// TestWorkIsFoundAmongMany: 20,000 pieces wait, as many have been claimed as
// processes can and some have failed. Nothing that is asked of them takes as long as
// to look through all.
func TestWorkIsFoundAmongMany(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		place := d.place(t)
		s := open(t, place)
		db := d.raw(t, place)
		// Of every thousand pieces one is running and one has failed. All of kind 0 are
		// due at the same time.
		must(t, db, `with recursive n (i) as (select cast(1 as bigint) union all select i + 1 from n where i < 20000)
			insert into work (id, kind, key, args, state, attempts, error, due_at, again_at, dropped, owner, token, until, created_at)
			select 'work_' || i, 'kind ' || (i % 10), 'key ' || i, '{}',
				case i % 1000 when 1 then 'running' when 2 then 'failed' else 'due' end, 0, '', case i % 10 when 0 then 1 else i * 1000000 end, 0, 0,
				case i % 1000 when 1 then 'node_a' else '' end, 0, 1, 0 from n`)
		must(t, db, "analyze")
		at := func(seconds int64) time.Time { return time.UnixMicro(seconds * 1_000_000) }
		held := chela.Work{ID: "work_1", Owner: "node_a", State: chela.WorkDone, Until: time.UnixMicro(1)}
		ctx := t.Context()
		all := quickestScan(t, db)
		for name, ask := range map[string]func(w *store.Write) error{
			"next":   func(w *store.Write) error { _, err := w.NextWork(ctx); return err },
			"owners": func(w *store.Write) error { _, err := w.WorkOwners(ctx); return err },
			"owned":  func(w *store.Write) error { _, err := w.OwnedWork(ctx, "node_a"); return err },
			"failed": func(w *store.Write) error { _, err := w.FailedWork(ctx, 10); return err },
			"add": func(w *store.Write) error {
				_, err := w.AddWork(ctx, chela.Work{ID: "new", Kind: "new", Key: "new", State: chela.WorkDue})
				return err
			},
			"set": func(w *store.Write) error {
				return w.SetWork(ctx, chela.Work{ID: "new", Kind: "kind 3", Key: "key 18003", State: chela.WorkDue, DueAt: at(1)})
			},
			"drop": func(w *store.Write) error { return w.DropWork(ctx, "kind 3", "key 18003") },
			"claim": func(w *store.Write) error {
				_, err := w.ClaimWork(ctx, store.WorkClaim{Node: "node_b", Kind: "kind 3", Now: at(10_000), Until: at(18_000), Limit: 10})
				return err
			},
			"claim of a crowd": func(w *store.Write) error {
				_, err := w.ClaimWork(ctx, store.WorkClaim{Node: "node_b", Kind: "kind 0", Now: at(10_000), Until: at(18_000), Limit: 10})
				return err
			},
			"claim one": func(w *store.Write) error {
				_, err := w.ClaimWork(ctx, store.WorkClaim{Node: "node_b", Kind: "kind 3", Key: "key 18003", Now: at(19_999), Until: at(20_000)})
				return err
			},
			"renew":  func(w *store.Write) error { return w.RenewWork(ctx, "node_a", at(9)) },
			"move":   func(w *store.Write) error { return w.MoveWork(ctx, held) },
			"free":   func(w *store.Write) error { return w.FreeWork(ctx, held) },
			"forget": func(w *store.Write) error { _, err := w.ForgetWork(ctx, at(20_000)); return err },
		} {
			if best := quickest(t, s, ask); best > max(all, 5*time.Millisecond) {
				t.Errorf("%s takes %v, and looking through all %v", name, best, all)
			}
		}
	})
}

var errUndo = errors.New("undone")

// quickest returns how long a part of a transaction takes at best, with all that
// it has queued. The transaction is undone.
func quickest(t *testing.T, s *store.Store, ask func(*store.Write) error) time.Duration {
	t.Helper()
	best := time.Hour
	for range 10 {
		err := s.Write(context.WithoutCancel(t.Context()), "test", func(w *store.Write) error {
			look := func() error { _, _, err := w.LiveWork(t.Context(), "kind 4", "key 4"); return err }
			if err := look(); err != nil {
				return err
			}
			begun := time.Now()
			if err := errors.Join(ask(w), look()); err != nil {
				return err
			}
			best = min(best, time.Since(begun))
			return errUndo
		})
		if !errors.Is(err, errUndo) {
			t.Fatal(err)
		}
	}
	return best
}

// quickestScan returns how long it takes at best to look through all work.
func quickestScan(t *testing.T, db *sql.DB) time.Duration {
	t.Helper()
	best := time.Hour
	for range 5 {
		begun := time.Now()
		var n int
		if err := db.QueryRowContext(t.Context(), `select count(*) from work where args <> 'none' and owner <> 'nobody'`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(begun))
	}
	return best
}
