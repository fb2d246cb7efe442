package work

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"chela"
	"chela/internal/store"
)

const (
	firstDelay = time.Second // before the second attempt
	maxDelay   = 10 * time.Minute
)

// An attempt is a running handler.
type attempt struct {
	work   chela.Work
	cancel context.CancelCauseFunc
	unsure bool // ended, but whether that was stored is unknown
}

// claimed identifies a claim. A process may hold two claims of one piece of
// work, if it lost the first and its handler is still running.
type claimed struct {
	id    chela.WorkID
	token int64
}

func claimOf(k chela.Work) claimed { return claimed{k.ID, k.Token} }

// begin starts the handler of a claimed piece of work.
func (r *run) begin(ctx context.Context, k chela.Work) {
	a := &attempt{work: k}
	ctx, a.cancel = context.WithCancelCause(ctx)
	r.performs[claimOf(k)] = a
	r.busy[k.Kind]++
	go func() { // ends with the handler; loop or drain waits for it
		a.unsure = r.perform(ctx, k) != nil
		a.cancel(nil)
		r.ended <- a
	}()
}

// perform makes an attempt and stores its outcome. It returns store errors
// only.
func (r *run) perform(ctx context.Context, k chela.Work) error {
	kind := r.kinds[k.Kind] // read-only by now
	var out Outcome
	var err error
	if kind.Attempts > 0 && k.Attempts > kind.Attempts {
		err = chela.E(chela.Invalid, "the process that performed it died each time")
	} else {
		out, err = r.handle(ctx, kind, k)
	}
	if errors.Is(context.Cause(ctx), errLost) || err == nil && out.Written {
		return nil
	}
	k = r.after(ctx, k, out, err)
	err = r.write(context.WithoutCancel(ctx), kind, k) // the outcome is stored even while the process shuts down
	switch {
	case chela.KindOf(err) == chela.Conflict:
		r.cfg.Log.Warn("claim of work lost to another process", "kind", k.Kind, "key", k.Key)
		return nil
	case err != nil:
		r.cfg.Log.Warn("outcome of work not stored", "kind", k.Kind, "key", k.Key, "error", err)
	}
	return err
}

// handle calls the handler of a kind and recovers its panics.
func (r *run) handle(ctx context.Context, kind Kind, k chela.Work) (out Outcome, err error) {
	late := chela.Ef(chela.Unavailable, "took longer than %v", kind.Timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, kind.Timeout, late)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = chela.E(chela.Internal, "a handler panicked").Because(fmt.Errorf("%v\n%s", p, debug.Stack()))
		}
	}()
	out, err = kind.Handle(ctx, k)
	if err != nil && errors.Is(context.Cause(ctx), late) {
		err = late.Because(err)
	}
	return out, err
}

// after returns the new row of a piece of work after an attempt.
func (r *run) after(ctx context.Context, k chela.Work, out Outcome, err error) chela.Work {
	most := r.kinds[k.Kind].Attempts
	now := r.cfg.Now()
	log := r.cfg.Log.With("kind", k.Kind, "key", k.Key, "attempt", k.Attempts)
	k.State = chela.WorkDue
	switch {
	case err == nil && out.Again.IsZero():
		k.State, k.Error = chela.WorkDone, ""
	case err == nil:
		k.DueAt, k.Attempts, k.Error = out.Again, 0, ""
	case ctx.Err() != nil: // the process is shutting down
		k.Attempts--
	case errors.Is(err, store.ErrTrouble): // not a fault of the work, so the attempt does not count
		delay := r.delay(k.Attempts)
		log.Warn("work waits for the database", "in", delay, "error", err)
		k.DueAt, k.Error = now.Add(delay), chela.MessageOf(err)
		if most > 0 {
			k.Attempts = min(k.Attempts, most-1)
		}
	case most != Forever && hopeless(err) || most > 0 && k.Attempts >= most:
		log.Error("work failed", "error", err)
		k.State, k.DueAt, k.Error = chela.WorkFailed, now, chela.MessageOf(err)
	default:
		delay := r.delay(k.Attempts)
		log.Warn("work is tried again", "in", delay, "error", err)
		k.DueAt, k.Error = now.Add(delay), chela.MessageOf(err)
	}
	return k
}

// hopeless reports whether a retry would fail in the same way.
func hopeless(err error) bool {
	return slices.Contains([]chela.Kind{chela.Invalid, chela.NotFound, chela.Unsupported, chela.Denied}, chela.KindOf(err))
}

// delay returns the backoff after a number of attempts.
func (r *run) delay(attempts int) time.Duration {
	d := min(firstDelay<<min(attempts-1, 20), maxDelay)
	return d - time.Duration(r.cfg.Random()*float64(d/2))
}

// write stores the new row of a piece of work.
func (r *run) write(ctx context.Context, kind Kind, k chela.Work) error {
	told := k.State == chela.WorkFailed && kind.Failed != nil
	err := r.store.Write(ctx, "work.end", func(w *store.Write) error {
		if err := w.MoveWork(ctx, k); err != nil || !told {
			return err
		}
		return kind.Failed(ctx, w, k)
	})
	if !told || err == nil || chela.KindOf(err) == chela.Unavailable {
		return err
	}
	r.cfg.Log.Error("failure of work not handled", "kind", k.Kind, "key", k.Key, "error", err)
	return r.store.Write(ctx, "work.end", func(w *store.Write) error { return w.MoveWork(ctx, k) })
}
