package background

import (
	"context"
	"fmt"
	"sync"
	"time"

	"chela"
	"chela/internal/engine/turn/machine"
	"chela/internal/platform/local"
	"chela/internal/store"
)

// The outcomes of repairs, as shown to the owner.
const (
	success        = "success"
	retry          = "retry"
	manualRequired = "manual_required"
)

// supervisorConfig holds the dependencies of a keeper. All fields are required.
type supervisorConfig struct {
	local.Process
	Lanes lanes
	Jobs  jobs

	// Quiet returns the last signs of the turns that run here and made no
	// progress since a time.
	Quiet func(since time.Time) []Progress

	// Tell sends the owner a notice, once per key.
	Tell func(ctx context.Context, w *store.Write, n repairNotice) error

	StuckAfter   time.Duration // time without any sign
	GiveUp       int           // failures of a turn (stuck or broken off) before it is given up; at most machine.MaxCrashes
	ToolFailures int           // consecutive failures before a tool is turned off
	ProbeAfter   time.Duration // cooldown before a tool that is off is probed
}

// lanes end the runs of turns.
type lanes interface {
	// CutOff ends the run of a turn, so that another one begins, and reports whether
	// it ran here.
	CutOff(id chela.TurnID) bool
	// Stop ends a turn.
	Stop(ctx context.Context, id chela.TurnID) error
}

// jobs are told what happens to their turns.
type jobs interface {
	// Stuck records in a job's story that a turn of the job is stuck.
	Stuck(ctx context.Context, t chela.Turn, why string) error
	// Look re-evaluates the job after a turn was repaired, Review all jobs.
	Look(ctx context.Context, id chela.JobID) error
	Review(ctx context.Context) error
}

// A repairNotice tells the owner about a repair.
type repairNotice struct {
	Key    string     // idempotency key
	Turn   chela.Turn // subject; zero for a notice about a tool
	Tool   string     // subject otherwise
	Text   string
	Pushed bool // it tells of more than a retry
}

// A supervisor repairs stuck turns and broken tools. It is safe for concurrent use.
type supervisor struct {
	store *store.Store
	cfg   supervisorConfig
	wards wards

	mu     sync.Mutex
	mended map[chela.TurnID]time.Time // guarded by mu; last repair of each stuck turn
}

// newSupervisor returns a keeper over a store.
func newSupervisor(s *store.Store, cfg supervisorConfig) *supervisor {
	return &supervisor{store: s, cfg: cfg}
}

// Look repairs the stuck turns that run here and has jobs re-evaluated. It is called
// periodically, and is not work of the store, because only the process that runs a turn
// sees its signs. Failures are logged, so that one does not hold up the others.
func (k *supervisor) Look(ctx context.Context) {
	quiet := k.cfg.Quiet(k.cfg.Now().Add(-k.cfg.StuckAfter))
	for _, sign := range k.due(quiet) {
		if err := k.mend(ctx, sign); err != nil && ctx.Err() == nil {
			k.cfg.Log.Warn("stuck turn not repaired", "turn", sign.Turn, "error", err)
		}
	}
	if err := k.cfg.Jobs.Review(ctx); err != nil && ctx.Err() == nil {
		k.cfg.Log.Warn("jobs not reviewed", "error", err)
	}
}

// grace is the time that a call gets to end after its timeout.
const grace = 5 * time.Second

// due returns the quiet turns to repair. A silent call gets the time of its own
// timeout, and a repaired turn as long again to give a sign.
func (k *supervisor) due(quiet []Progress) (due []Progress) {
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

// mend repairs one turn: it cuts off its run or, after too many failures, ends
// the turn.
func (k *supervisor) mend(ctx context.Context, sign Progress) error {
	t, err := store.Get(ctx, k.store, (*store.Read).Turn, sign.Turn)
	if err != nil || t.State != chela.TurnProcessing || t.Crashes >= machine.MaxCrashes { // the lane ends it
		return err
	}
	quiet := k.cfg.Now().Sub(sign.At).Round(time.Second)
	p := planned(t, t.Crashes+1, fmt.Sprintf("got stuck: no progress for %s while %s", quiet, doing(sign)), k.cfg)
	ofJob := t.Origin.FollowedBy(chela.ChannelJob)
	if ofJob {
		if err := k.cfg.Jobs.Stuck(ctx, t, p.told); err != nil {
			return err
		}
	}
	err = k.store.Tell(ctx, "turn.repair", k.cfg.Emit, func(w *store.Write) error {
		return k.cfg.Tell(ctx, w, repairNotice{Key: p.key, Turn: t, Text: p.told, Pushed: p.stop})
	})
	if err != nil {
		return err
	}
	if p.stop {
		err = k.cfg.Lanes.Stop(ctx, t.ID)
	} else if !k.cfg.Lanes.CutOff(t.ID) {
		k.cfg.Log.Info("stuck turn no longer runs here", "turn", t.ID)
	}
	if err == nil && ofJob {
		err = k.cfg.Jobs.Look(ctx, chela.JobID(t.Origin.Account))
	}
	return err
}

// Broke is called in the transaction that finds a run of a turn dead with its
// process or failed by an internal error. The lane has counted that and retries
// the turn, up to a limit; Broke notifies the owner. It returns the text of the
// notice, and whether to stop the turn because its lane would continue it.
func (k *supervisor) Broke(ctx context.Context, w *store.Write, t chela.Turn) (told string, stop bool, err error) {
	p := planned(t, t.Crashes, "was interrupted: its process died, or an internal error occurred", k.cfg)
	return p.told, p.stop, k.cfg.Tell(ctx, w, repairNotice{Key: p.key, Turn: t, Text: p.told, Pushed: p.stop})
}

// A plan is the repair of a stuck or broken turn.
type plan struct {
	key  string // unique key of the notice
	stop bool   // end the turn instead of cutting off the run
	told string // text of the notice to the owner
}

// planned decides the repair of a turn at its n-th failure; dead runs and runs
// that were cut off are counted together.
func planned(t chela.Turn, n int, what string, cfg supervisorConfig) plan {
	p := plan{key: fmt.Sprintf("repair/%s/%d", t.ID, n), told: fmt.Sprintf("turn %s in session %s %s. ", t.ID, t.Session, what)}
	if n < cfg.GiveUp {
		p.told += fmt.Sprintf("It is retried (%s %d of %d).", retry, n, cfg.GiveUp)
		return p
	}
	p.stop = n < machine.MaxCrashes
	p.told += fmt.Sprintf("It is given up after %d failures (%s): see chela turns show %s.", n, manualRequired, t.ID)
	return p
}

// doing describes the last known activity of a turn.
func doing(s Progress) string {
	switch {
	case s.Doing == chela.ActivityTools && s.Tool != "":
		return "tool " + s.Tool + " ran"
	case s.Doing == chela.ActivityTools:
		return "tools ran"
	case s.Doing == chela.ActivityCompacting:
		return "its prompt was compacted"
	default:
		return "the model was asked"
	}
}
