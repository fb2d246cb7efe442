package ingress

import (
	"cmp"
	"context"
	"time"

	"chela"
)

const (
	lookTime = 100 * time.Millisecond // poll interval of a turn that another process runs
	hereTime = 5 * time.Second        // poll interval of a turn whose events are received
	restTime = time.Second            // timeout of the remaining events of a turn whose outcome is known
)

// A source delivers events in order: an event.Listener those of this process, an
// event.Subscription those of every process.
type source interface {
	// Next returns the next event, and blocks until there is one or ctx ends. It
	// reports false if ctx ended, or the source did.
	Next(ctx context.Context) (chela.Event, bool)
}

// An Audience reads the events of a session, and is told how one turn of it proceeds,
// sequentially and in order.
type Audience interface {
	source
	// Show receives an event of the turn.
	Show(e chela.Event)
	// Stands receives the turn each time that it waits for a person or the client,
	// and when it has ended.
	Stands(t chela.Turn)
}

// A Follower follows turns by their events. Events only trigger reads: the outcome
// of a turn is always read from the turn itself, so a lost event costs time and
// nothing else. Its fields are required.
type Follower struct {
	Turns interface {
		Turn(ctx context.Context, id chela.TurnID) (chela.Turn, error)
	}
	Lanes interface {
		// Serves reports whether this process runs a turn of a session, so that its
		// events are received.
		Serves(key chela.SessionKey) bool
		// Wake resumes a lane that has work and no live owner.
		Wake(ctx context.Context, key chela.SessionKey) error
	}
}

// Attend follows a turn to its end. Missed says that the audience may read events of
// the turn from before the call. The error is Unavailable if the turn cannot continue
// for now.
func (f *Follower) Attend(ctx context.Context, id chela.TurnID, missed bool, to Audience) error {
	w := watch{Follower: f, source: to, id: id, show: to.Show, begun: missed, rest: restTime}
	for waits := false; ; {
		t, err := w.follow(ctx)
		if err != nil {
			return err
		}
		if !waits || t.State.Ended() || w.asked {
			to.Stands(t)
		}
		if t.State.Ended() {
			return nil
		}
		if waits, err = w.wait(ctx); err != nil {
			return err
		}
	}
}

// patience is how long to listen for events of a session before polling.
func (f *Follower) patience(key chela.SessionKey) time.Duration {
	if f.Lanes.Serves(key) {
		return hereTime
	}
	return lookTime
}

// A watch shows the events of one turn. It is not safe for concurrent use.
type watch struct {
	*Follower
	source source
	id     chela.TurnID
	show   func(chela.Event)
	rest   time.Duration // how long to wait for events that precede a known outcome

	begun bool // the turn continued after the watch began, so that its outcome is announced

	// The outcome that was announced since the turn last continued.
	asked    bool // a person or the client is asked
	finished bool
}

// follow shows the events of the turn until it ends or waits.
func (w *watch) follow(ctx context.Context) (chela.Turn, error) {
	for {
		t, err := w.Turns.Turn(ctx, w.id)
		if err != nil {
			return t, err
		}
		if t.State != chela.TurnProcessing {
			return t, w.remaining(ctx, t.State)
		}
		w.begun, w.asked, w.finished = true, false, false
		seen, err := w.showUntil(ctx, t.Session)
		if err == nil && !seen {
			// No event arrived: another process runs it, or died running it.
			err = w.Lanes.Wake(ctx, t.Session)
		}
		if err != nil {
			return t, err
		}
	}
}

// showUntil shows events until one announces an outcome, or the next poll is due. It
// reports whether there was any.
func (w *watch) showUntil(ctx context.Context, key chela.SessionKey) (seen bool, err error) {
	look, cancel := context.WithTimeout(ctx, w.patience(key))
	defer cancel()
	for !w.asked && !w.finished {
		e, ok := w.source.Next(look)
		if !ok {
			<-look.Done() // at once, unless the source ended
			return seen, ctx.Err()
		}
		if e.Turn != w.id {
			continue
		}
		seen = true
		if err := w.tell(e); err != nil {
			return seen, err
		}
	}
	return seen, nil
}

// tell shows an event of the turn.
func (w *watch) tell(e chela.Event) error {
	if e.Kind == chela.EventNotice && e.Error != "" {
		return broken(e)
	}
	switch e.Kind {
	case chela.EventTurnFinished:
		w.finished = true
	case chela.EventApprovalRequested, chela.EventToolOffered:
		w.asked = true
	}
	w.show(e)
	return nil
}

// broken is the error for a turn that could not continue. It continues at the
// next start, or when its session is used again.
func broken(e chela.Event) error {
	return chela.E(cmp.Or(e.Error, chela.Unavailable), e.Text)
}

// remaining shows the remaining events of a turn in a state that is no more
// processing.
func (w *watch) remaining(ctx context.Context, state chela.TurnState) error {
	within, cancel := context.WithTimeout(ctx, w.rest)
	defer cancel()
	for w.begun && !w.finished && (state.Ended() || !w.asked) {
		e, ok := w.source.Next(within)
		if !ok {
			return ctx.Err()
		}
		if e.Turn == w.id && (e.Kind != chela.EventNotice || e.Error == "") {
			if err := w.tell(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// wait returns when a turn that waits has an event, or continued without one. It
// reports whether the turn may still wait.
func (w *watch) wait(ctx context.Context) (waits bool, err error) {
	w.asked, w.finished = false, false
	for {
		look, cancel := context.WithTimeout(ctx, hereTime)
		e, ok := w.source.Next(look)
		if !ok {
			<-look.Done() // at once, unless the source ended
		}
		cancel()
		if ok && e.Turn == w.id {
			w.begun = true
			return true, w.tell(e)
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if ok {
			continue
		}
		t, err := w.Turns.Turn(ctx, w.id)
		if err != nil || t.State != chela.TurnAwaiting {
			return false, err
		}
	}
}
