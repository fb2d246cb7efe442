package repair

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"chela"
	"chela/internal/activity"
	"chela/internal/store"
	"chela/internal/turn/machine"
)

// The outcomes of repairs, as the owner reads them.
const (
	Success        = "success"
	Retry          = "retry"
	Failed         = "failed"
	ManualRequired = "manual_required"
)

// Config is what a keeper needs. All fields are required.
type Config struct {
	Now  func() time.Time
	Emit func(chela.Event)
	Log  *slog.Logger

	// Quiet returns the turns that run here of which nothing was heard since a time.
	Quiet func(since time.Time) []activity.Sign

	// CutOff ends the run of a turn, so that another one begins, and reports whether
	// it runs here. Stop ends the turn.
	CutOff func(chela.TurnID) bool
	Stop   func(context.Context, chela.TurnID) error

	// Stuck notes in the story of a job that its turn is stuck. Mended looks how far
	// it is after that was mended, Review how far all jobs are.
	Stuck  func(ctx context.Context, id chela.JobID, why string) error
	Mended func(ctx context.Context, id chela.JobID) error
	Review func(ctx context.Context) error

	// Tell owes the owner a notice, once for its key, and returns what is to be
	// announced after the commit.
	Tell func(ctx context.Context, w *store.Write, key, text string) ([]chela.Event, error)

	Every        time.Duration // between looks
	StuckAfter   time.Duration // without any sign
	Attempts     int           // before a turn is given up
	ToolFailures int           // in a row, before a tool is turned off
	ProbeAfter   time.Duration // until a tool that is off is probed
}

// A Keeper mends what is stuck or broken. It may be used by several goroutines at
// once.
type Keeper struct {
	store *store.Store
	cfg   Config
	wards wards

	mu     sync.Mutex
	mended map[chela.TurnID]time.Time // guarded by mu; when stuck turns were mended
}

// New returns a keeper over a store.
func New(s *store.Store, cfg Config) *Keeper { return &Keeper{store: s, cfg: cfg} }

// Run looks for what is stuck from time to time, until ctx ends. It is no work of the
// store: only the process that runs a turn hears of it, so each looks for itself.
func (k *Keeper) Run(ctx context.Context) {
	tick := time.NewTicker(k.cfg.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		k.Look(ctx)
	}
}

// Look mends the turns that run here and are stuck, and has jobs looked at. What
// fails is logged, so that one that cannot be mended keeps no other waiting.
func (k *Keeper) Look(ctx context.Context) {
	quiet := k.cfg.Quiet(k.cfg.Now().Add(-k.cfg.StuckAfter))
	for _, sign := range k.due(quiet) {
		if err := k.mend(ctx, sign); err != nil && ctx.Err() == nil {
			k.cfg.Log.Warn("stuck turn not mended", "turn", sign.Turn, "error", err)
		}
	}
	if err := k.cfg.Review(ctx); err != nil && ctx.Err() == nil {
		k.cfg.Log.Warn("jobs not reviewed", "error", err)
	}
}

// due returns which of the quiet turns are to be mended: one that was mended has as
// long again to give a sign.
func (k *Keeper) due(quiet []activity.Sign) (due []activity.Sign) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now, mended := k.cfg.Now(), map[chela.TurnID]time.Time{}
	for _, sign := range quiet {
		at, ok := k.mended[sign.Turn]
		if !ok || now.Sub(at) >= k.cfg.StuckAfter {
			due, at = append(due, sign), now
		}
		mended[sign.Turn] = at
	}
	k.mended = mended
	return due
}

// mend mends one turn: its run is cut off or, if that was done often enough, the turn
// is ended.
func (k *Keeper) mend(ctx context.Context, sign activity.Sign) error {
	t, err := store.Find(ctx, k.store, func(r *store.Read) (chela.Turn, error) { return r.Turn(ctx, sign.Turn) })
	if err != nil || t.State != chela.TurnProcessing {
		return err
	}
	p := planFor(t, sign, k.cfg)
	job := chela.JobID("")
	if t.Origin.Followed() && t.Origin.Channel == chela.ChannelJob {
		job = chela.JobID(t.Origin.Account)
		if err := k.cfg.Stuck(ctx, job, p.told); err != nil {
			return err
		}
	}
	var events []chela.Event
	err = k.store.Write(ctx, "turn.repair", func(w *store.Write) (err error) {
		events, err = k.cfg.Tell(ctx, w, fmt.Sprintf("repair/%s/%d", t.ID, t.Crashes+1), p.told)
		return err
	})
	if err != nil {
		return err
	}
	for _, e := range events {
		k.cfg.Emit(e)
	}
	if p.stop {
		err = k.cfg.Stop(ctx, t.ID)
	} else if !k.cfg.CutOff(t.ID) {
		k.cfg.Log.Info("stuck turn runs here no more", "turn", t.ID)
	}
	if err == nil && job != "" {
		err = k.cfg.Mended(ctx, job)
	}
	return err
}

// A plan is what is done about a stuck turn.
type plan struct {
	outcome string // Retry or ManualRequired
	stop    bool   // the turn is ended, as cutting it off would not do that
	told    string // to the owner
}

// planFor decides what is done about a turn of which a sign was the last.
func planFor(t chela.Turn, sign activity.Sign, cfg Config) plan {
	n := t.Crashes + 1
	p := plan{outcome: Retry}
	if n >= min(cfg.Attempts, machine.MaxCrashes) {
		p.outcome, p.stop = ManualRequired, n < machine.MaxCrashes
	}
	quiet := cfg.Now().Sub(sign.At).Round(time.Second)
	p.told = fmt.Sprintf("turn %s in session %s got stuck: nothing came of it for %s while %s. ", t.ID, t.Session, quiet, doing(sign))
	if p.outcome == Retry {
		p.told += fmt.Sprintf("It is run again (%s %d of %d).", p.outcome, n, min(cfg.Attempts, machine.MaxCrashes))
	} else {
		p.told += fmt.Sprintf("It is given up after %d times (%s): chela turns show %s tells what it did.", n, p.outcome, t.ID)
	}
	return p
}

// doing is what a turn did when it was last heard of.
func doing(s activity.Sign) string {
	switch {
	case s.Doing == chela.ActivityTools && s.Tool != "":
		return "tool " + s.Tool + " ran"
	case s.Doing == chela.ActivityTools:
		return "tools ran"
	case s.Doing == chela.ActivityCompacting:
		return "its prompt was made smaller"
	default:
		return "the model was asked"
	}
}
