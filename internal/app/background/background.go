// Package background wires what nobody waits for: jobs and whatever else is done
// by work that is kept in the store.
package background

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"chela"
	"chela/internal/activity"
	"chela/internal/config"
	"chela/internal/job"
	"chela/internal/lane"
	"chela/internal/notice"
	"chela/internal/repair"
	"chela/internal/routine"
	"chela/internal/store"
	"chela/internal/tool/workspace"
	"chela/internal/work"
)

// Config is what the background of a home is made of. All fields are required.
type Config struct {
	Settings *config.Config
	Store    *store.Store
	Lanes    *lane.Lanes
	Node     chela.NodeID
	IDs      *chela.IDs
	Now      func() time.Time
	Random   func() float64
	Emit     func(chela.Event)
	Log      *slog.Logger
	Dead     func(chela.NodeID) bool

	// Tidy deletes what is too old in the memory of an agent, and returns how much
	// that was.
	Tidy func(ctx context.Context, agent string) (deleted int, err error)

	// Quiet returns the turns that run here of which nothing was heard since a time.
	Quiet func(since time.Time) []activity.Sign

	// Usable returns nil if a model can be asked, as provider/model.
	Usable func(model string) error

	// Workspace tells where the files of a job are.
	Workspace workspace.Finder
}

// A Background does what nobody waits for. It may be used by several goroutines
// at once.
type Background struct {
	cfg      Config
	work     *work.Engine
	jobs     *job.Desk
	notices  *notice.Desk
	routines *routine.Desk
	repair   *repair.Keeper

	staying chan struct{} // closed by stay
	stay    func()
}

// New returns the background of a home, which does nothing before Run.
func New(cfg Config) *Background {
	b := &Background{cfg: cfg, staying: make(chan struct{})}
	b.stay = sync.OnceFunc(func() { close(b.staying) })
	b.work = work.New(cfg.Store, work.Config{
		Node: cfg.Node, IDs: cfg.IDs, Now: cfg.Now, Random: cfg.Random, Log: cfg.Log, Dead: cfg.Dead,
	})
	b.notices = notice.New(cfg.Store, notice.Config{IDs: cfg.IDs, Now: cfg.Now})
	b.routines = b.newRoutines()
	b.jobs = b.newJobs()
	b.repair = b.newRepair()
	return b
}

// Jobs returns the desk of jobs.
func (b *Background) Jobs() *job.Desk { return b.jobs }

// Routines returns the desk of routines.
func (b *Background) Routines() *routine.Desk { return b.routines }

// Notices returns the desk that tells people what nobody waits for.
func (b *Background) Notices() *notice.Desk { return b.notices }

// Run does what is due until ctx ends.
func (b *Background) Run(ctx context.Context) error {
	var mending sync.WaitGroup
	defer mending.Wait()
	mending.Go(func() { b.mend(ctx) })
	return b.work.Run(ctx, slices.Concat([]work.Kind{b.followKind(), b.hygieneKind()}, b.jobs.Kinds(), b.routines.Kinds())...)
}

// Stay says that this process does whatever is due, whoever left it.
func (b *Background) Stay(ctx context.Context) {
	b.work.Stay()
	b.stay()
	for what, begin := range map[string]func(context.Context) error{
		"routines do not hear what chela announces": b.routines.Stay,
		"heartbeats are as they were":               b.keepHeartbeats,
		"hygiene is not done":                       b.tend,
	} {
		if err := begin(ctx); err != nil {
			b.cfg.Log.Warn(what, "error", err)
		}
	}
}

// Settle waits until nothing is due that this process would do.
func (b *Background) Settle(ctx context.Context) { b.work.Settle(ctx) }

// Heard is told of all events of lanes: those of turns that may be followed have
// left work that is due, and those of routines that a message made fire.
func (b *Background) Heard(e chela.Event) {
	switch e.Kind {
	case chela.EventRoutineFired:
		b.work.Nudge()
	case chela.EventTurnStarted, chela.EventTurnFinished, chela.EventApprovalRequested, chela.EventApprovalAnswered:
		if key, err := chela.ParseSessionKey(e.Session); err != nil || key.Class() != chela.ClassMain {
			b.work.Nudge()
		}
	}
}
