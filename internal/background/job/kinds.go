package job

import (
	"context"

	"chela"
	"chela/internal/background/work"
	"chela/internal/store"
)

// Parallelism and attempts for each kind of work.
const (
	atOnce   = 4
	attempts = 20
)

// Kinds returns the kinds of work that jobs enqueue, except the following of
// turns, which other packages enqueue too; see [Jobs.Look].
func (d *Jobs) Kinds() []work.Kind {
	return []work.Kind{
		{Name: workDispatch, Attempts: work.Forever, Parallel: 2, Handle: handler(func(ctx context.Context, of dispatchArgs) error {
			return d.giveAway(ctx, of.Class)
		})},
		{Name: workBegin, Attempts: attempts, Parallel: atOnce, Handle: handler(d.send), Failed: d.unsent},
		{Name: workAnnounce, Attempts: attempts, Parallel: atOnce, Handle: handler(d.tell), Failed: d.untellable},
		{Name: workArchive, Attempts: work.Forever, Handle: func(ctx context.Context, k chela.Work) (work.Outcome, error) {
			of, err := work.ArgsOf[lookArgs](k)
			if err != nil {
				return work.Outcome{}, err
			}
			later, err := d.archive(ctx, of.Job)
			return work.Outcome{Again: later}, err
		}},
	}
}

// handler adapts a function with typed arguments to a work handler.
func handler[A any](do func(ctx context.Context, args A) error) func(context.Context, chela.Work) (work.Outcome, error) {
	return func(ctx context.Context, k chela.Work) (work.Outcome, error) {
		args, err := work.ArgsOf[A](k)
		if err == nil {
			err = do(ctx, args)
		}
		return work.Outcome{}, err
	}
}

// unsent ends a job whose message could not be sent.
func (d *Jobs) unsent(ctx context.Context, w *store.Write, k chela.Work) error {
	m, err := work.ArgsOf[messageArgs](k)
	if err != nil {
		return err
	}
	a := d.within(w)
	j, err := w.LockJob(ctx, m.Job)
	if err != nil || j.Attempt != m.Attempt || j.State != chela.JobInProgress && j.State != chela.JobAwaiting {
		return err
	}
	j.Reason = k.Error
	if err := a.end(ctx, &j, chela.JobFailed); err != nil {
		return err
	}
	if err := a.dispatch(ctx, j.Class(), false); err != nil {
		return err
	}
	return a.look(ctx, j.ID)
}

// untellable records in the story of a job that its ending could not be
// delivered.
func (d *Jobs) untellable(ctx context.Context, w *store.Write, k chela.Work) error {
	of, err := work.ArgsOf[attemptArgs](k)
	if err != nil {
		return err
	}
	j, err := w.LockJob(ctx, of.Job)
	if err != nil {
		return err
	}
	return d.within(w).announced(ctx, &j, of, "not told: "+k.Error)
}
