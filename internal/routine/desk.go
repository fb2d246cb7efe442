package routine

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"chela"
	"chela/internal/matcher"
	"chela/internal/notice"
	"chela/internal/routine/rule"
	"chela/internal/store"
	"chela/internal/work"
)

// The kinds of work of routines.
const (
	workFire   = "fire"   // key: the routine; due when that is
	workRun    = "run"    // key: the run, which looks for a place and begins
	workPost   = "post"   // key: the run, of which the main session hears at once
	workListen = "listen" // one; reads what chela announces
	workTend   = "tend"   // one; finds runs that nothing will end any more
)

// Defaults are what the configuration says of routines that say nothing.
type Defaults = rule.Defaults

// Config is what a desk needs. All fields are required.
type Config struct {
	IDs      *chela.IDs
	Now      func() time.Time
	Zone     *time.Location // of the home
	Emit     func(chela.Event)
	Log      *slog.Logger
	Work     *work.Engine
	Notices  *notice.Desk
	Defaults Defaults

	// Submit stores a message and lets its turn begin. A delivery that was
	// accepted before is not stored again.
	Submit func(ctx context.Context, in chela.Inbound) error

	// Job makes a job of a run, whose text is what is to be done, unless that run
	// has one.
	Job func(ctx context.Context, v chela.Routine, run chela.RoutineRun, text string) (chela.JobID, error)

	// Agent returns an error unless there is an agent of that name.
	Agent func(name string) error

	// Secret returns what a reference such as env:NAME stands for.
	Secret func(reference string) ([]byte, error)
}

// A Desk keeps routines, lets them fire and follows what comes of it. It may be
// used by several goroutines at once.
type Desk struct {
	store *store.Store
	cfg   Config

	mu      sync.Mutex
	heard   store.RoutineStamp // of the routines that patterns was made of; guarded by mu
	matches *matcher.Set       // guarded by mu
}

// New returns a desk over a store.
func New(s *store.Store, cfg Config) *Desk { return &Desk{store: s, cfg: cfg} }

// atOnce is how many routines fire at once, and how many runs look for a place. They
// share commits, which come ten times a second where many people talk: with fewer at
// once, what is due in the same second waits for several of them.
const atOnce = 8

// Kinds returns the kinds of work that the desk performs.
func (d *Desk) Kinds() []work.Kind {
	return []work.Kind{
		{Name: workFire, Attempts: work.Forever, Parallel: atOnce, Handle: d.fire},
		{Name: workRun, Attempts: work.Forever, Parallel: atOnce, Brief: true, Handle: d.begin},
		{Name: workPost, Handle: d.wake},
		{Name: workListen, Attempts: work.Forever, Handle: d.listen},
		{Name: workTend, Attempts: work.Forever, Handle: d.tend},
	}
}

// Stay adds the work that is always there in a process that stays.
func (d *Desk) Stay(ctx context.Context) error {
	last, err := d.store.LastEvent(ctx)
	if err != nil {
		return err
	}
	return d.write(ctx, "routine.stay", func(c *change) error {
		if _, err := d.cfg.Work.Add(ctx, c.Write, chela.Work{Kind: workListen, Key: workListen, Args: after(last)}); err != nil {
			return err
		}
		_, err := d.cfg.Work.Add(ctx, c.Write, chela.Work{Kind: workTend, Key: workTend})
		return err
	})
}

// day is 24 hours.
const day = 24 * time.Hour

// now is the time as it is stored.
func (d *Desk) now() time.Time { return d.cfg.Now().UTC().Truncate(time.Microsecond) }

// Routine returns the routine with an id or a name, or NotFound.
func (d *Desk) Routine(ctx context.Context, idOrName string) (chela.Routine, error) {
	return store.Find(ctx, d.store, func(r *store.Read) (chela.Routine, error) { return find(ctx, r, idOrName) })
}

func find(ctx context.Context, r *store.Read, idOrName string) (chela.Routine, error) {
	v, ok, err := r.RoutineNamed(ctx, idOrName)
	if err != nil || ok {
		return v, err
	}
	v, err = r.Routine(ctx, chela.RoutineID(idOrName))
	if err == nil && !v.DeletedAt.IsZero() || chela.KindOf(err) == chela.NotFound {
		err = chela.E(chela.NotFound, fmt.Sprintf("there is no routine %q", rule.Shown(idOrName))).
			WithHint("chela routines list shows those that there are")
	}
	return v, err
}

// pageSize is how many routines are read at once.
const pageSize = 500

// Routines returns all routines, in the order of their names.
func (d *Desk) Routines(ctx context.Context) ([]chela.Routine, error) {
	return store.Find(ctx, d.store, func(r *store.Read) ([]chela.Routine, error) { return All(ctx, r) })
}

// All returns all routines of a home, in the order of their names.
func All(ctx context.Context, r *store.Read) (all []chela.Routine, err error) {
	for after := ""; ; after = all[len(all)-1].Name {
		page, err := r.Routines(ctx, after, pageSize)
		all = append(all, page...)
		if err != nil || len(page) < pageSize {
			return all, err
		}
	}
}

// Runs returns up to limit runs of a routine that were made before one of them, the
// newest first; all if before is empty.
func (d *Desk) Runs(ctx context.Context, id chela.RoutineID, before chela.RunID, limit int) ([]chela.RoutineRun, error) {
	return store.Find(ctx, d.store, func(r *store.Read) ([]chela.RoutineRun, error) {
		if _, err := r.Routine(ctx, id); err != nil {
			return nil, err
		}
		return r.RoutineRuns(ctx, id, before, limit)
	})
}

// Run returns the run with an id, or NotFound. Of one that has not begun it tells what
// it waits for.
func (d *Desk) Run(ctx context.Context, id chela.RunID) (chela.RoutineRun, error) {
	return store.Find(ctx, d.store, func(r *store.Read) (chela.RoutineRun, error) {
		run, err := r.RoutineRun(ctx, id)
		if err != nil || run.State != chela.RunPending {
			return run, err
		}
		v, err := r.Routine(ctx, run.Routine)
		if err != nil {
			return run, err
		}
		next, _, err := r.NextRun(ctx, v.ID)
		if err != nil {
			return run, err
		}
		p, err := places(ctx, r)
		run.Waits = d.cfg.Defaults.ToBegin(d.cfg.Defaults.Filled(v), p, next.ID == run.ID)
		return run, err
	})
}

// Report stores what a run says of itself, by the turn in which it is said. A turn
// that is not of a run has nothing to report: that is a Denied error.
func (d *Desk) Report(ctx context.Context, turn chela.TurnID, report chela.Report) error {
	return d.store.Write(ctx, "routine.report", func(w *store.Write) error {
		t, err := w.Turn(ctx, turn)
		if err != nil {
			return err
		}
		if !t.Origin.Followed() || t.Origin.Channel != chela.ChannelRoutine {
			return chela.E(chela.Denied, "this turn is not a run of a routine").WithHint("answer in plain text instead")
		}
		return w.ReportRun(ctx, chela.RunID(t.Origin.To), report)
	})
}
