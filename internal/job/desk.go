package job

import (
	"context"
	"log/slog"
	"time"

	"chela"
	"chela/internal/store"
)

// Config is what a desk needs. All fields but Moved and Ended are required.
type Config struct {
	IDs  *chela.IDs
	Now  func() time.Time
	Emit func(chela.Event)
	Log  *slog.Logger
	Work works

	// Submit sends a message into the lane of its session. The same message sent
	// again changes nothing.
	Submit func(ctx context.Context, in chela.Inbound) error

	// Stop asks a turn to stop. It is a Conflict if that has ended.
	Stop func(ctx context.Context, id chela.TurnID) error

	// Agent returns why there is no agent of a name, or nil.
	Agent func(name string) error

	Jobs         Limits        // of jobs and their parts
	Subagents    Limits        // of subagents
	MaxParts     int           // of one job in all
	ArchiveAfter time.Duration // after which a subagent that is kept leaves the lists; 0 means never

	// Broke takes part in the transaction that finds that a run of a job's turn died or
	// broke. It returns why, for people, and whether the turn is to be stopped.
	Broke func(ctx context.Context, w *store.Write, t chela.Turn) (why string, stop bool, err error)

	// GiveUp is after how many recoveries a turn is not tried again.
	GiveUp int

	// Moved takes part in transactions that change a job of a run, Ended in those in
	// which one ends. Nil does nothing.
	Moved, Ended func(ctx context.Context, w *store.Write, j chela.Job) error
}

// Limits are those of the jobs of a class. What a job's options say goes before
// all but the first two.
type Limits struct {
	Parallel int           // that may be in progress at once
	Waiting  int           // that may be pending
	Steps    int           // of a turn; 0 means those of the home
	Timeout  time.Duration // of a run of a turn; 0 means that of the home
	Tokens   int64         // that all turns of an attempt may take; 0 means no limit
}

// works adds work within a transaction and looks for it after.
type works interface {
	Add(ctx context.Context, w *store.Write, k chela.Work) (bool, error)
	Set(ctx context.Context, w *store.Write, k chela.Work) error
	Nudge()
}

// A Desk takes in jobs and what people want of them. It may be used by several
// goroutines at once.
type Desk struct {
	store *store.Store
	cfg   Config
}

// New returns a desk over a store.
func New(s *store.Store, cfg Config) *Desk {
	nothing := func(context.Context, *store.Write, chela.Job) error { return nil }
	if cfg.Ended == nil {
		cfg.Ended = nothing
	}
	if cfg.Moved == nil {
		cfg.Moved = nothing
	}
	return &Desk{store: s, cfg: cfg}
}

// limits returns the limits of a class.
func (d *Desk) limits(class chela.Class) Limits {
	if class == chela.ClassSubagent {
		return d.cfg.Subagents
	}
	return d.cfg.Jobs
}

// A View is a job and what can be told of it.
type View struct {
	chela.Job
	Steps []chela.JobStep  `json:"steps,omitempty"` // of its plan
	Parts []chela.Job      `json:"parts,omitempty"`
	Usage chela.TokenUsage `json:"usage"` // of all its attempts, its own turns alone
	Cost  chela.MicroUSD   `json:"cost"`
}

// Job returns a job, or NotFound.
func (d *Desk) Job(ctx context.Context, id chela.JobID) (View, error) {
	return store.Find(ctx, d.store, func(r *store.Read) (v View, err error) {
		if v.Job, err = r.Job(ctx, id); err != nil {
			return v, err
		}
		if v.Steps, err = r.JobSteps(ctx, id); err != nil {
			return v, err
		}
		asked, err := r.JobsAskedBy(ctx, v.Session)
		for _, j := range asked {
			if isPart(j) {
				v.Parts = append(v.Parts, j)
			}
		}
		if err != nil {
			return v, err
		}
		sum, err := r.UsageSince(ctx, v.Session, time.Time{})
		v.Usage, v.Cost = sum.Tokens, sum.Cost
		return v, err
	})
}

// A Filter says which jobs are meant; see [store.JobFilter]. A limit of 0 is 100.
type Filter = store.JobFilter

// Jobs returns jobs, newest first.
func (d *Desk) Jobs(ctx context.Context, f Filter) ([]chela.Job, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	return store.Find(ctx, d.store, func(r *store.Read) ([]chela.Job, error) { return r.Jobs(ctx, f) })
}

// Events returns what happened to a job after the event of a number, in order. A
// job that does not exist is NotFound.
func (d *Desk) Events(ctx context.Context, id chela.JobID, after int) ([]chela.JobEvent, error) {
	return store.Find(ctx, d.store, func(r *store.Read) ([]chela.JobEvent, error) {
		if _, err := r.Job(ctx, id); err != nil {
			return nil, err
		}
		return r.JobEvents(ctx, id, after)
	})
}
