package work

import (
	"cmp"
	"context"
	"errors"
	"time"

	"chela"
	"chela/internal/store"
)

// errLost is the cancellation cause of a handler whose claim was lost.
var errLost = errors.New("another process has taken the work")

// tend releases the claims of dead processes, renews the claims of this one,
// and occasionally deletes old failed work. It reports whether more work became
// due.
func (r *run) tend(ctx context.Context, now time.Time, owners map[chela.NodeID]time.Time) (freed bool, err error) {
	for node, until := range owners {
		if node == r.cfg.Node {
			continue
		}
		dead := r.cfg.Dead(node)
		if !dead && until.After(now) {
			continue
		}
		if err := r.free(ctx, node, func(k chela.Work) bool { return dead || !k.Until.After(now) }); err != nil {
			return false, err
		}
		freed = true
	}
	_, claimed := owners[r.cfg.Node]
	if now.Sub(r.renewed) >= renewTime && (claimed || len(r.performs) > 0) {
		if err := r.renew(ctx); err != nil {
			return false, err
		}
		freed = true // an over-approximation, which is rare
	}
	stays, _ := r.mine()
	if stays && now.Sub(r.forgotten) >= forgetTime {
		err = r.forgetFailed(ctx, now)
	}
	return freed, err
}

// free makes work due again that a node claimed and no longer performs: at once
// the first time, with backoff if its owners keep dying.
func (r *run) free(ctx context.Context, owner chela.NodeID, gone func(chela.Work) bool) error {
	var freed []chela.Work
	err := r.store.Write(ctx, "work.free", func(w *store.Write) error {
		freed = nil
		owned, err := w.OwnedWork(ctx, owner)
		if err != nil {
			return err
		}
		for _, k := range owned {
			if !gone(k) {
				continue
			}
			if k.Attempts > 1 {
				k.DueAt = r.cfg.Now().Add(r.delay(k.Attempts - 1))
			}
			k.Error = cmp.Or(k.Error, "the process that performed it died")
			if err := w.FreeWork(ctx, k); err != nil {
				return err
			}
			freed = append(freed, k)
		}
		return nil
	})
	if err == nil && len(freed) > 0 {
		r.cfg.Log.Info("work of a dead process released", "node", owner, "pieces", len(freed))
	}
	return err
}

// renew extends the claims of this process. Claims that it does not know,
// because a commit succeeded without confirmation, are released; handlers with
// a lost claim are cancelled.
func (r *run) renew(ctx context.Context) error {
	now := r.cfg.Now()
	var kept map[claimed]bool
	err := r.store.Write(ctx, "work.renew", func(w *store.Write) error {
		kept = map[claimed]bool{}
		owned, err := w.OwnedWork(ctx, r.cfg.Node)
		if err != nil {
			return err
		}
		for _, k := range owned {
			if r.performs[claimOf(k)] != nil {
				kept[claimOf(k)] = true
				continue
			}
			k.Attempts--
			if err := w.FreeWork(ctx, k); err != nil {
				return err
			}
		}
		return w.RenewWork(ctx, r.cfg.Node, now.Add(leaseTime))
	})
	if err != nil {
		return err
	}
	r.renewed = now
	for c, a := range r.performs {
		if !kept[c] {
			a.cancel(errLost)
		}
	}
	return nil
}

// forgetFailed deletes old failed work.
func (r *run) forgetFailed(ctx context.Context, now time.Time) error {
	for n := int64(1); n > 0; {
		err := r.store.Write(ctx, "work.forget", func(w *store.Write) (err error) {
			n, err = w.ForgetWork(ctx, now.Add(-failedTime))
			return err
		})
		if err != nil {
			return err
		}
	}
	r.forgotten = now
	return nil
}
