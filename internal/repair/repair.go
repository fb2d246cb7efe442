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

	// Stuck notes in the story of a job that a turn of it is stuck. Mended looks how far
	// it is after that was mended, Review how far all jobs are.
	Stuck  func(ctx context.Context, t chela.Turn, why string) error
	Mended func(ctx context.Context, id chela.JobID) error
	Review func(ctx context.Context) error

	// Tell owes the owner a notice, once for its key, and returns what is to be
	// announced after the commit.
	Tell func(ctx context.Context, w *store.Write, n Notice) ([]chela.Event, error)

	Every        time.Duration // between looks
	StuckAfter   time.Duration // without any sign
	GiveUp       int           // times that a turn is stuck or breaks off, until it is given up; at most machine.MaxCrashes
	ToolFailures int           // in a row, before a tool is turned off
	ProbeAfter   time.Duration // until a tool that is off is probed
}

// A Notice is what the owner is told of a repair.
type Notice struct {
	Key  string     // one notice is owed for it
	Turn chela.Turn // what it is about; none for one about a tool
	Text string
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

// grace is how long a call may take to end once its time is over.
const grace = 5 * time.Second

// due returns which of the quiet turns are to be mended. A call that says nothing has
// the time that it was given, and one that was mended as long again to give a sign.
func (k *Keeper) due(quiet []activity.Sign) (due []activity.Sign) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now, mended := k.cfg.Now(), map[chela.TurnID]time.Time{}
	for _, sign := range quiet {
		if now.Before(sign.Until.Add(grace)) {
			continue
		}
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
	if err != nil || t.State != chela.TurnProcessing || t.Crashes >= machine.MaxCrashes { // which its lane ends
		return err
	}
	p := planFor(t, sign, k.cfg)
	ofJob := t.Origin.Followed() && t.Origin.Channel == chela.ChannelJob
	if ofJob {
		if err := k.cfg.Stuck(ctx, t, p.told); err != nil {
			return err
		}
	}
	var events []chela.Event
	err = k.store.Write(ctx, "turn.repair", func(w *store.Write) (err error) {
		events, err = k.cfg.Tell(ctx, w, Notice{Key: p.key, Turn: t, Text: p.told})
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
	if err == nil && ofJob {
		err = k.cfg.Mended(ctx, chela.JobID(t.Origin.Account))
	}
	return err
}

// Broke takes part in the transaction that finds that a run of a turn died with its
// process, or broke by a fault of chela. The lane has counted that and runs the turn
// again, up to a bound; the owner is told. It returns what he is told, and whether the
// turn is to be stopped, as its lane would go on.
func (k *Keeper) Broke(ctx context.Context, w *store.Write, t chela.Turn) (told string, stop bool, err error) {
	p := planned(t, t.Crashes, "broke off: the process that ran it died, or chela broke down in it", k.cfg)
	_, err = k.cfg.Tell(ctx, w, Notice{Key: p.key, Turn: t, Text: p.told}) // readers of the log find it
	return p.told, p.stop, err
}

// A plan is what is done about a turn that is stuck or broke off.
type plan struct {
	key     string // of the notice, which is one of its kind
	outcome string // Retry or ManualRequired
	stop    bool   // the turn is ended, as cutting it off would not do that
	told    string // to the owner
}

// planFor decides what is done about a turn of which a sign was the last.
func planFor(t chela.Turn, sign activity.Sign, cfg Config) plan {
	quiet := cfg.Now().Sub(sign.At).Round(time.Second)
	return planned(t, t.Crashes+1, fmt.Sprintf("got stuck: nothing came of it for %s while %s", quiet, doing(sign)), cfg)
}

// planned decides what is done about a turn to which something happened for the n-th
// time: the runs that died and those that are cut off are counted together.
func planned(t chela.Turn, n int, what string, cfg Config) plan {
	p := plan{key: fmt.Sprintf("repair/%s/%d", t.ID, n), outcome: Retry}
	p.told = fmt.Sprintf("turn %s in session %s %s. ", t.ID, t.Session, what)
	if n < cfg.GiveUp {
		p.told += fmt.Sprintf("It is run again (%s %d of %d).", p.outcome, n, cfg.GiveUp)
		return p
	}
	p.outcome, p.stop = ManualRequired, n < machine.MaxCrashes
	p.told += fmt.Sprintf("It is given up after %d times (%s): chela turns show %s tells what it did.", n, p.outcome, t.ID)
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
