package lane

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"chela"
	"chela/internal/store"
	"chela/internal/turn"
)

// The times of a lease. A holder renews three times within a lease, so one
// renewal may be late or fail.
const (
	leaseTime = 5 * time.Second
	renewTime = 1500 * time.Millisecond
	lookTime  = 250 * time.Millisecond // how soon wishes of other processes are noticed
	drainTime = 10 * time.Second       // how long turns may take to reach a commit when asked to park
)

// maxWaiting is how many messages an ending looks at.
const maxWaiting = 256

// Config is what lanes need. All fields but Classes, Mode and Recover are
// required.
type Config struct {
	Node   chela.NodeID
	IDs    *chela.IDs
	Now    func() time.Time
	Emit   func(chela.Event)
	Log    *slog.Logger
	Runner *turn.Runner

	// Agent returns who takes a turn. It always returns one that can run: if
	// the model cannot be had, its provider says why.
	Agent func(ctx context.Context, s chela.Session, t chela.Turn) turn.Agent

	// Model returns the model of a new turn, as provider/model.
	Model func(s chela.Session, in chela.Inbound) string

	// Dead reports whether a node is dead for certain.
	Dead func(chela.NodeID) bool

	Classes map[chela.Class]int // turns at once; a class that is missing has 4
	Mode    chela.QueueMode     // default collect

	// Recover makes Run take every lane of the home that has something to
	// run, not only those that are submitted to here.
	Recover bool
}

// Lanes holds the lanes that this process runs. It may be used by several
// goroutines at once.
type Lanes struct {
	cfg   Config
	store *store.Store
	slots map[chela.Class]chan struct{}
	known conversations

	turns sync.WaitGroup // every goroutine that serves a lane; Run waits for them

	mu      sync.Mutex
	closing bool // guarded by mu, like all below
	held    map[chela.SessionKey]*holding
}

// A holding is a lane that this process serves.
type holding struct {
	lease   chela.Lease
	turn    chela.TurnID
	control *turn.Control
	cancel  context.CancelCauseFunc
}

// errFenced is the cause with which a run ends whose lane was taken over.
var errFenced = errors.New("the lane has another holder")

// New returns lanes over a store. Whoever makes them must call Run.
func New(s *store.Store, cfg Config) *Lanes {
	cfg.Mode = cmp.Or(cfg.Mode, chela.QueueCollect)
	l := &Lanes{cfg: cfg, store: s, slots: map[chela.Class]chan struct{}{}, held: map[chela.SessionKey]*holding{}}
	for _, class := range []chela.Class{chela.ClassMain, chela.ClassJob, chela.ClassSubagent, chela.ClassCron} {
		l.slots[class] = make(chan struct{}, cmp.Or(cfg.Classes[class], 4))
	}
	return l
}

// begin serves a lane in a goroutine of its own, unless the process is about to
// end; then the lane is given back.
func (l *Lanes) begin(o *opened) {
	l.mu.Lock()
	closing := l.closing
	if !closing {
		l.turns.Go(func() { l.serve(o) })
	}
	l.mu.Unlock()
	if closing {
		l.release(o.lease)
	}
}

// serve runs a lane's turns until nothing waits. It owns the lane.
func (l *Lanes) serve(o *opened) {
	for o != nil {
		ctx, cancel := context.WithCancelCause(context.Background()) // ended by Run and by the loss of the lease
		h := &holding{lease: o.lease, turn: o.turn.ID, control: &turn.Control{}, cancel: cancel}
		if !l.hold(h) {
			cancel(nil)
			l.release(o.lease)
			return
		}
		next, err := l.serveTurn(ctx, o, h)
		cancel(nil)
		l.letGo(h)
		if err != nil {
			l.cfg.Log.Error("turn stopped", "turn", o.turn.ID, "session", o.lease.Session, "error", err)
			l.cfg.Emit(chela.Event{
				Kind: chela.EventNotice, Session: o.lease.Session, Thread: o.turn.Thread, Turn: o.turn.ID,
				Text: chela.MessageOf(err), At: l.cfg.Now(),
			})
			l.release(o.lease)
			return
		}
		o = next
	}
}

// hold registers a lane, unless the process is about to end.
func (l *Lanes) hold(h *holding) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return false
	}
	l.held[h.lease.Session] = h
	return true
}

func (l *Lanes) letGo(h *holding) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[h.lease.Session] == h {
		delete(l.held, h.lease.Session)
	}
}

// backoff is how long to wait before another run after an append failed.
var backoff = []time.Duration{200 * time.Millisecond, time.Second, 3 * time.Second}

// serveTurn runs one turn, and again if its journal failed. It returns what the
// lane goes on with, if anything.
func (l *Lanes) serveTurn(ctx context.Context, o *opened, h *holding) (*opened, error) {
	slot := l.slots[o.class]
	select {
	case slot <- struct{}{}:
		defer func() { <-slot }()
	case <-ctx.Done():
		l.release(o.lease)
		return nil, nil
	}
	for attempt := 0; ; attempt++ {
		next, err := l.runOnce(ctx, o, h)
		switch {
		case err == nil:
			return next, nil
		case errors.Is(context.Cause(ctx), errShutdown):
			l.cfg.Log.Warn("turn cut off", "turn", o.turn.ID)
			l.release(o.lease)
			return nil, nil
		case errors.Is(err, errFenced) || ctx.Err() != nil:
			l.cfg.Log.Warn("lane lost", "turn", o.turn.ID, "session", o.lease.Session, "error", cmp.Or(context.Cause(ctx), err))
			return nil, nil
		case attempt == len(backoff):
			return nil, err
		}
		l.cfg.Log.Warn("turn is tried again", "turn", o.turn.ID, "error", err)
		wait := time.NewTimer(backoff[attempt])
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return nil, nil
		}
		o = o.afresh()
	}
}

// runOnce is one run of a turn.
func (l *Lanes) runOnce(ctx context.Context, o *opened, h *holding) (*opened, error) {
	state, session, err := l.load(ctx, o)
	if err != nil {
		return nil, err
	}
	j := &journal{lanes: l, lease: o.lease, class: o.class, session: session, thread: state.Thread.ID}
	end, err := l.cfg.Runner.Run(ctx, l.cfg.Agent(ctx, session, state.Turn), j, h.control, state)
	if err != nil {
		return nil, err
	}
	if end.Turn.State == chela.TurnProcessing { // parked
		l.release(o.lease)
		return nil, nil
	}
	l.known.put(end.Thread, end.Conversation)
	return j.next, nil
}

// release gives a lane back; what waits in it is found by the next start.
func (l *Lanes) release(lease chela.Lease) {
	err := l.store.Write(context.Background(), "lane.release", func(w *store.Write) error {
		return w.ReleaseLane(context.Background(), lease)
	})
	if err != nil && chela.KindOf(err) != chela.Conflict {
		l.cfg.Log.Warn("lane not released; it is free when its lease ends", "session", lease.Session, "error", err)
	}
}
