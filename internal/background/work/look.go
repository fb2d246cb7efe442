package work

import (
	"context"
	"maps"
	"time"

	"chela"
	"chela/internal/store"
)

// rollbackTime bounds the time after which rows of an open transaction are
// either visible or rolled back.
const rollbackTime = time.Minute

// A view is the result of one poll.
type view struct {
	owners map[chela.NodeID]time.Time // nodes with claims, and the earliest end of their leases
	first  map[place]time.Time        // next due time by kind, of work for this process; the key may be empty
}

// see reads the work for this process and the owners of claims.
func (r *run) see(ctx context.Context) (view, error) {
	stays, own := r.mine()
	var gone []place
	v, err := store.Find(ctx, r.store, func(tx *store.Read) (v view, err error) {
		gone, v.first = nil, map[place]time.Time{}
		if v.owners, err = tx.WorkOwners(ctx); err != nil {
			return v, err
		}
		next, err := tx.NextWork(ctx)
		if err != nil {
			return v, err
		}
		for name, due := range next {
			kind, known := r.kinds[name]
			if known && (stays || kind.Brief) {
				v.first[place{name, ""}] = due
			}
			r.wonder(name, known || !stays)
		}
		for p := range own {
			k, live, err := tx.LiveWork(ctx, p.kind, p.key)
			switch {
			case err != nil:
				return v, err
			case !live:
				gone = append(gone, p)
			case k.State == chela.WorkDue && r.kinds[p.kind].Name != "":
				v.first[p] = k.DueAt
			}
		}
		return v, nil
	})
	if err == nil {
		r.disown(gone)
	}
	return v, err
}

// wonder logs once that work of an unknown kind waits. An older process may see
// the work of a newer one.
func (r *run) wonder(kind string, known bool) {
	if known || r.strange[kind] {
		return
	}
	r.strange[kind] = true
	r.cfg.Log.Warn("work of an unknown kind waits", "kind", kind)
}

// mine returns whether this process stays, and if not, the work that it added
// itself.
func (e *Engine) mine() (stays bool, own map[place]time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stays, maps.Clone(e.own)
}

// disown drops own work that no longer has a row, unless its transaction may
// still commit.
func (e *Engine) disown(gone []place) {
	now := e.cfg.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range gone {
		if now.Sub(e.own[p]) >= rollbackTime {
			delete(e.own, p)
		}
	}
}

// open returns the claims to attempt: work that is due and whose kind has a
// free slot.
func (v view) open(r *run, now time.Time) []store.WorkClaim {
	room := map[string]int{}
	for name, kind := range r.kinds {
		room[name] = kind.Parallel - r.busy[name]
	}
	var claims []store.WorkClaim
	for p, due := range v.first {
		if due.After(now) || room[p.kind] <= 0 {
			continue
		}
		c := store.WorkClaim{Node: r.cfg.Node, Kind: p.kind, Key: p.key, Now: now, Until: now.Add(leaseTime), Limit: 1}
		if p.key == "" {
			c.Limit = room[p.kind]
		}
		room[p.kind] -= c.Limit
		claims = append(claims, c)
	}
	return claims
}

// next returns the delay until something may be due, and whether something is
// due now but had no free slot or was claimed by another process.
func (v view) next(now time.Time) (in time.Duration, due bool) {
	in = lookTime
	for _, at := range v.first {
		if at.After(now) {
			in = min(in, at.Sub(now))
		} else {
			due = true
		}
	}
	return in, due
}

// claim claims work and starts its handlers. It returns the number of claims.
func (r *run) claim(ctx context.Context, claims []store.WorkClaim) (int, error) {
	if len(claims) == 0 {
		return 0, nil
	}
	var got []chela.Work
	err := r.store.Write(ctx, "work.claim", func(w *store.Write) error {
		got = nil
		for _, c := range claims {
			some, err := w.ClaimWork(ctx, c)
			if err != nil {
				return err
			}
			got = append(got, some...)
		}
		return nil
	})
	if err != nil {
		r.renewed = time.Time{} // forces a renewal, in case the claims were committed without confirmation
		return 0, err
	}
	for _, k := range got {
		r.begin(ctx, k)
	}
	return len(got), nil
}
