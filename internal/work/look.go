package work

import (
	"context"
	"maps"
	"time"

	"chela"
	"chela/internal/store"
)

// rollbackTime is how long it takes at most until what was added in a
// transaction is there, or never will be.
const rollbackTime = time.Minute

// A view is what a look finds.
type view struct {
	owners map[chela.NodeID]time.Time // and until when they have the first of their work
	first  map[place]time.Time        // when something that this process performs is due; the key may be empty
}

// see looks at what this process may perform and at who has claimed something.
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

// wonder tells once of work that nobody here can perform. An older process may
// have met the work of a newer one.
func (r *run) wonder(kind string, known bool) {
	if known || r.strange[kind] {
		return
	}
	r.strange[kind] = true
	r.cfg.Log.Warn("work of an unknown kind waits", "kind", kind)
}

// mine returns whether this process stays, and else what it has to perform.
func (e *Engine) mine() (stays bool, own map[place]time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stays, maps.Clone(e.own)
}

// disown forgets places where nothing is, unless it may still be committed.
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

// open returns what can be claimed: it is due and its kind has room.
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

// next returns when something may be due, and whether something is now, for which
// there is no room or which somebody else took.
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

// claim claims work and begins to perform it. It returns how many pieces it got.
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
		r.renewed = time.Time{} // the next look sees whether they are claimed nevertheless
		return 0, err
	}
	for _, k := range got {
		r.begin(ctx, k)
	}
	return len(got), nil
}
