package lane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"chela"
	"chela/internal/control"
	"chela/internal/lane/alarms"
	"chela/internal/lane/classes"
	"chela/internal/lane/conversations"
	"chela/internal/lane/turns"
	"chela/internal/pause"
	"chela/internal/queue"
	"chela/internal/session"
	"chela/internal/store"
	"chela/internal/turn"
)

// The times of a lease. A holder renews three times within a lease, so one
// renewal may be late or fail.
const (
	leaseTime = 5 * time.Second
	renewTime = 1500 * time.Millisecond
	lookTime  = 250 * time.Millisecond // how soon wishes of other processes are noticed
	takeTime  = time.Second            // how soon lanes are taken up that others left
	drainTime = 10 * time.Second       // how long turns may take to reach a commit when asked to park
)

// maxWaiting is how many messages are looked at: all that may wait.
const maxWaiting = chela.MaxWaiting

// Config is what lanes need. All fields but those from Classes on are required.
type Config struct {
	Node   chela.NodeID
	IDs    *chela.IDs
	Now    func() time.Time
	Emit   func(chela.Event)
	Log    *slog.Logger
	Runner *turn.Runner

	// Agent returns who takes a turn. If the model cannot be had, its provider
	// says why. An error ends the run, which is tried again.
	Agent func(ctx context.Context, s chela.Session, t chela.Turn) (turn.Agent, error)

	// Model returns the model of a new turn, as provider/model, of the messages
	// that it is made of.
	Model func(s chela.Session, t chela.Thread, messages []chela.Waiting) string

	// Dead reports whether a node is dead for certain.
	Dead func(chela.NodeID) bool

	// Alive reports whether a node lives for certain.
	Alive func(chela.NodeID) bool

	Classes map[chela.Class]int // turns at once; a class that is missing has 4
	Waiting int                 // turns of a class that may wait to be one of them; 0 means 1,000
	Queue   queue.Rules         // of the home

	Resets session.Resets  // when a conversation begins anew by itself; default never
	Ended  session.EndFunc // told of those that did; nil tells nobody
	// Rewind finishes the rewinds of a session that dead processes left; until
	// then no message opens a turn in it. Nil where there are none.
	Rewind func(ctx context.Context, key chela.SessionKey) error

	// Recover makes Run take every lane of the home that has something to
	// run, not only those that are submitted to here.
	Recover bool
}

// Lanes holds the lanes that this process runs. It may be used by several
// goroutines at once.
type Lanes struct {
	cfg   Config
	store *store.Store
	known conversations.Memory

	places *classes.Places
	opener *turns.Opener
	alarms *alarms.Alarms // of lanes whose messages are let be for a while

	turns sync.WaitGroup // every goroutine that serves a lane; Run waits for them

	mu      sync.Mutex
	closing bool // guarded by mu, like all below
	crowded bool // so many sessions are live that a person was warned
	staying bool // takes whatever there is to run, not only what came in here
	held    map[chela.SessionKey]*holding
	serving int           // goroutines that serve a lane
	rested  chan struct{} // closed once none does; nil unless somebody waits for that
}

// A holding is a lane that this process serves.
type holding struct {
	lease   chela.Lease
	turn    chela.TurnID
	control *control.Handle
	cancel  context.CancelCauseFunc
	rewind  bool // a rewind waits for the end of what runs; of the goroutine that serves the lane
}

// New returns lanes over a store. Whoever makes them must call Run.
func New(s *store.Store, cfg Config) *Lanes {
	if cfg.Rewind == nil {
		cfg.Rewind = func(context.Context, chela.SessionKey) error { return nil }
	}
	if cfg.Ended == nil {
		cfg.Ended = func(session.End) {}
	}
	l := &Lanes{
		cfg: cfg, store: s, places: classes.New(cfg.Classes, cfg.Waiting), held: map[chela.SessionKey]*holding{},
		opener: &turns.Opener{IDs: cfg.IDs, Now: cfg.Now, Queue: cfg.Queue, Runner: cfg.Runner, Model: cfg.Model},
	}
	l.alarms = alarms.New(l.alarmed)
	return l
}

// tell announces events that are committed.
func (l *Lanes) tell(events []chela.Event) {
	for _, e := range events {
		l.cfg.Emit(e)
	}
}

// begin announces a turn that was opened and serves its lane in a goroutine of
// its own, unless the process is about to end; then the lane is given back.
func (l *Lanes) begin(o *turns.Opened) {
	l.tell(o.Ended)
	l.tell(o.Events)
	leave, _ := l.places.Enter(o.Class)
	l.mu.Lock()
	closing := l.closing
	if !closing {
		l.serving++
		l.turns.Go(func() {
			defer l.served()
			defer leave()
			l.serve(o)
		})
	}
	l.mu.Unlock()
	if closing {
		l.release(o.Lease)
	}
}

// served counts a goroutine out that served a lane.
func (l *Lanes) served() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.serving--; l.serving == 0 && l.rested != nil {
		close(l.rested)
		l.rested = nil
	}
}

// serve runs a lane's turns until nothing waits. It owns the lane.
func (l *Lanes) serve(o *turns.Opened) {
	for o != nil {
		ctx, cancel := context.WithCancelCause(context.Background()) // ended by Run and by the loss of the lease
		h := &holding{lease: o.Lease, turn: o.Turn.ID, control: &control.Handle{}, cancel: cancel}
		if !l.hold(h) {
			cancel(nil)
			l.release(o.Lease)
			return
		}
		next, err := l.serveTurn(ctx, o, h)
		cancel(nil)
		l.letGo(h)
		if err != nil {
			l.cfg.Log.Error("turn stopped", "turn", o.Turn.ID, "session", o.Lease.Session, "error", err)
			l.cfg.Emit(chela.Event{
				Kind: chela.EventNotice, Session: o.Lease.Session, Thread: o.Turn.Thread, Turn: o.Turn.ID,
				Text: chela.MessageOf(err), Error: chela.KindOf(err), At: l.cfg.Now(),
			})
			l.release(o.Lease)
			return
		}
		if next == nil && h.rewind {
			if err := l.cfg.Rewind(context.Background(), o.Lease.Session); err != nil { // also of a run that is over
				l.cfg.Log.Warn("rewind not finished", "session", o.Lease.Session, "error", err)
			}
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

// stays reports whether this process takes whatever there is to run.
func (l *Lanes) stays() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.staying
}

// wants reports whether this process goes on with a message that waits. In one
// that ends soon, a message whose own process lives is left to that.
func (l *Lanes) wants(m chela.Waiting) bool {
	return l.stays() || m.Node == l.cfg.Node || !l.cfg.Alive(m.Node)
}

func (l *Lanes) letGo(h *holding) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[h.lease.Session] == h {
		delete(l.held, h.lease.Session)
	}
}

// serveTurn runs one turn, and again if the run failed. It returns what the lane
// goes on with, if anything.
func (l *Lanes) serveTurn(ctx context.Context, o *turns.Opened, h *holding) (*turns.Opened, error) {
	defer l.places.Take(ctx, o.Class, o.Suspect(), h.control)()
	for attempt := 0; ; attempt++ {
		next, err := l.runOnce(ctx, o, h)
		switch {
		case err == nil:
			return next, nil
		case errors.Is(context.Cause(ctx), errShutdown):
			l.cfg.Log.Warn("turn cut off", "turn", o.Turn.ID)
			l.release(o.Lease)
			return nil, nil
		case errors.Is(err, store.ErrLaneLost) || ctx.Err() != nil:
			l.cfg.Log.Warn("lane lost", "turn", o.Turn.ID, "session", o.Lease.Session, "error", cmp.Or(context.Cause(ctx), err))
			return nil, nil
		}
		waits := waitsAfter(err)
		if attempt >= len(waits) && (o.GivenUp != nil || !errors.Is(err, chela.ErrLater)) {
			return nil, err
		}
		l.cfg.Log.Warn("turn is tried again", "turn", o.Turn.ID, "error", err)
		l.broke(o, err)
		o = o.Afresh()
		if attempt >= len(waits) {
			o.GivenUp = err
			continue
		}
		hold(ctx, h, waits[attempt])
	}
}

// backoff is how long to wait before another run after one failed. Tools that
// wait for the store are given the time of backoffLater; then the turn ends,
// since the store has kept everything but what they want of it.
var (
	backoff      = []time.Duration{200 * time.Millisecond, time.Second, 3 * time.Second}
	backoffLater = append(backoff[:len(backoff):len(backoff)], 10*time.Second, 30*time.Second, time.Minute)
)

func waitsAfter(err error) []time.Duration {
	if errors.Is(err, chela.ErrLater) {
		return backoffLater
	}
	return backoff
}

// hold waits, no longer than until the turn is stopped or parked or ctx ends.
func hold(ctx context.Context, h *holding, d time.Duration) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer h.control.Attach(cancel)()
	ctx, leave := h.control.Asking(ctx)
	defer leave()
	_ = pause.For(ctx, d) // who waits looks itself at what cut it short
}

// broke counts a run that failed by a fault of chela like one whose process
// died, so that a turn that breaks every run comes to an end. Trouble with the
// database or the disk is not the turn's.
func (l *Lanes) broke(o *turns.Opened, cause error) {
	switch chela.KindOf(cause) {
	case chela.Unavailable, chela.Exhausted, chela.Denied:
		return
	}
	if err := l.countCrash(o); err != nil {
		l.cfg.Log.Warn("failed run not counted", "turn", o.Turn.ID, "error", err)
	}
}

// countCrash counts a run that died. One that died with its process is counted
// when the next one begins: a turn that has no place yet broke nothing.
func (l *Lanes) countCrash(o *turns.Opened) error {
	ctx := context.Background() // also of a run that is over
	return l.store.Write(ctx, "turn.broke", func(w *store.Write) error {
		if err := w.HoldLane(ctx, l.renewed(o.Lease)); err != nil {
			return err
		}
		t, err := w.Turn(ctx, o.Turn.ID)
		if err != nil {
			return err
		}
		return w.CountCrash(ctx, t)
	})
}

// runOnce is one run of a turn. A panic in it is an Internal error.
func (l *Lanes) runOnce(ctx context.Context, o *turns.Opened, h *holding) (next *turns.Opened, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = chela.E(chela.Internal, "a turn panicked").Because(fmt.Errorf("%v\n%s", p, debug.Stack()))
		}
	}()
	if o.Left && !o.Counted {
		if err := l.countCrash(o); err != nil {
			return nil, err
		}
		o.Counted = true
	}
	state, session, err := l.load(ctx, o)
	state.Left, state.GivenUp = o.Left, o.GivenUp
	if err != nil {
		return nil, err
	}
	if o.Entries == nil {
		h.control.Steer() // messages may have come while nobody ran the turn
	}
	j := &appender{lanes: l, lease: o.Lease, class: o.Class, session: session, turn: state.Turn}
	agent, err := l.cfg.Agent(ctx, session, state.Turn)
	if err == nil {
		state, err = l.cfg.Runner.Run(ctx, agent, j, h.control, state)
	}
	if err != nil {
		return nil, err
	}
	if state.Turn.State == chela.TurnProcessing { // parked
		l.release(o.Lease)
		return nil, nil
	}
	h.rewind = j.rewind
	l.known.Put(state.Thread, state.Conversation)
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
