package work

import (
	"cmp"
	"context"
	"errors"
	"time"

	"chela"
	"chela/internal/store"
)

// errLost is the cause with which a handler is ended whose claim is lost.
var errLost = errors.New("another process has taken the work")

// tend frees what dead processes have claimed and renews the claims of this one,
// and now and then forgets what failed long ago. It reports whether something is
// due that was not.
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
		freed = true // perhaps, and this is rare
	}
	stays, _ := r.mine()
	if stays && now.Sub(r.forgotten) >= forgetTime {
		err = r.forgetFailed(ctx, now)
	}
	return freed, err
}

// free makes work due again that a node has claimed and does not perform any
// more. The first time that is at once; work whose owners die again and again
// has to wait.
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
			k.Error = cmp.Or(k.Error, "the process that performed it ended")
			if err := w.FreeWork(ctx, k); err != nil {
				return err
			}
			freed = append(freed, k)
		}
		return nil
	})
	if err == nil && len(freed) > 0 {
		r.cfg.Log.Info("work taken from a process that is gone", "node", owner, "pieces", len(freed))
	}
	return err
}

// renew extends the claims of this process. What it does not perform, because it
// was not told of a commit, is given back; handlers whose claim is lost are ended.
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

// forgetFailed forgets what failed long ago.
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
