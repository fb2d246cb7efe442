package ingress

import (
	"cmp"
	"context"
	"errors"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/approval"
	"chela/internal/engine/queue"
	"chela/internal/platform/event"
	"chela/internal/store"
)

const (
	lookTime = 100 * time.Millisecond // poll interval of a turn that another process runs
	hereTime = 5 * time.Second        // poll interval of a local turn, whose events are received
)

// patience is how long to listen for events of a session before polling.
func (g *Ingress) patience(key chela.SessionKey) time.Duration {
	if g.cfg.Lanes.Serves(key) {
		return hereTime
	}
	return lookTime
}

// Say commits a message and follows its turn, unless it is a command. It
// returns the id of the turn. If the end of the turn is received as an event,
// the turn is not read.
func (g *Ingress) Say(ctx context.Context, in chela.Inbound, show func(chela.Event)) (chela.TurnID, error) {
	in, err := g.complete(in)
	if err != nil {
		return "", err
	}
	// Listening begins before the message is committed, so that no event of its
	// turn is missed.
	heard := g.cfg.Bus.Listen(in.Session, nil)
	defer heard.Close()
	receipt, begun, err := g.accept(ctx, in)
	if err != nil {
		return "", err
	}
	if receipt.Reply != "" {
		show(chela.Event{Kind: chela.EventReply, Session: receipt.Session, Thread: receipt.Thread, Text: receipt.Reply})
		return "", nil
	}
	id := receipt.Turn
	if id == "" {
		if id, err = g.taken(ctx, heard, receipt); err != nil {
			return "", err
		}
	}
	if begun {
		if seen, err := g.showUntil(ctx, heard, receipt, show); err != nil || seen == ended {
			return id, err
		}
	}
	_, err = g.follow(ctx, heard, id, show)
	return id, err
}

// taken waits until a turn takes a queued message.
func (g *Ingress) taken(ctx context.Context, heard *event.Listener, r api.Receipt) (chela.TurnID, error) {
	for {
		var m chela.Waiting
		var asked []chela.Approval
		err := g.cfg.Store.Read(ctx, func(s *store.Read) error {
			var err error
			if m, err = s.Message(ctx, r.Inbox); err != nil {
				return err
			}
			asked, err = approval.InWay(ctx, s, m)
			return err
		})
		switch {
		case err != nil:
			return "", err
		case m.State == chela.InboxDropped:
			return "", queue.Dropped()
		case m.Turn != "":
			return m.Turn, nil
		}
		if len(asked) > 0 {
			return "", chela.E(chela.Denied, "the message is stored and queued behind approval "+string(asked[0].ID)).
				WithHint("answer that first: chela approvals yes " + string(asked[0].ID))
		}
		if err := g.pause(ctx, heard, r.Session); err != nil {
			return "", err
		}
		if err := g.cfg.Lanes.Wake(ctx, r.Session); err != nil {
			return "", err
		}
	}
}

// broken is the error for a turn that could not continue. It continues at the
// next start, or when its session is used again.
func broken(e chela.Event) error {
	return chela.E(cmp.Or(e.Error, chela.Unavailable), e.Text)
}

// pause waits for an event of a session, with a timeout: another process may
// cause it.
func (g *Ingress) pause(ctx context.Context, heard *event.Listener, key chela.SessionKey) error {
	ctx, cancel := context.WithTimeout(ctx, g.patience(key))
	defer cancel()
	if e, ok := heard.Next(ctx); ok && e.Kind == chela.EventNotice && e.Error != "" {
		return broken(e)
	}
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// Follow follows an existing turn.
func (g *Ingress) Follow(ctx context.Context, id chela.TurnID, show func(chela.Event)) (chela.Turn, error) {
	t, err := g.cfg.Turn(ctx, id)
	if err != nil {
		return t, err
	}
	heard := g.cfg.Bus.Listen(t.Session, func(e chela.Event) bool { return e.Turn == id })
	defer heard.Close()
	return g.follow(ctx, heard, id, show)
}

// follow sends the events of a turn until it ends or waits for a person.
func (g *Ingress) follow(ctx context.Context, heard *event.Listener, id chela.TurnID, show func(chela.Event)) (chela.Turn, error) {
	for {
		t, err := g.cfg.Turn(ctx, id)
		if err != nil {
			return t, err
		}
		if t.State != chela.TurnProcessing {
			return t, g.showRest(heard, id, show)
		}
		seen, err := g.showUntil(ctx, heard, api.Receipt{Session: t.Session, Turn: id}, show)
		if err == nil && seen == nothing {
			// No event arrived: another process runs it, or died running it.
			err = g.cfg.Lanes.Wake(ctx, t.Session)
		}
		if err != nil {
			return t, err
		}
	}
}

// Outcome of listening to a turn.
type outcome int

const (
	nothing outcome = iota
	progressed
	ended // or that it waits for a person
)

// showUntil sends events of the turn that a receipt names until one reports an
// outcome, or the next poll is due.
func (g *Ingress) showUntil(ctx context.Context, heard *event.Listener, of api.Receipt, show func(chela.Event)) (seen outcome, err error) {
	look, cancel := context.WithTimeout(ctx, g.patience(of.Session))
	defer cancel()
	for {
		e, ok := heard.Next(look)
		if !ok {
			<-look.Done() // at once, unless the listener fell behind and was disconnected
			return seen, ctx.Err()
		}
		if e.Turn != of.Turn {
			continue
		}
		if e.Kind == chela.EventNotice && e.Error != "" {
			return progressed, broken(e)
		}
		seen = progressed
		show(e)
		switch e.Kind {
		case chela.EventTurnFinished, chela.EventApprovalRequested, chela.EventToolOffered:
			return ended, nil
		}
	}
}

// showRest sends pending events.
func (g *Ingress) showRest(heard *event.Listener, id chela.TurnID, show func(chela.Event)) error {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for {
		e, ok := heard.Next(over)
		if !ok {
			return nil
		}
		if e.Turn == id && (e.Kind != chela.EventNotice || e.Error == "") {
			show(e)
		}
	}
}

// Stop requests the cancellation of a turn.
func (g *Ingress) Stop(ctx context.Context, id chela.TurnID) error { return g.cfg.Lanes.Stop(ctx, id) }

// UntilEnded waits until a cancelled turn has ended. A turn that was about to
// wait for a person at that moment is cancelled again.
func (g *Ingress) UntilEnded(ctx context.Context, id chela.TurnID) error {
	for {
		t, err := g.Follow(ctx, id, func(chela.Event) {})
		if err != nil || t.State.Ended() {
			return err
		}
		if err := g.cfg.Lanes.Stop(ctx, id); err != nil && chela.KindOf(err) != chela.Conflict {
			return err
		}
	}
}

// Send commits messages for one thread, bypassing the hooks, and follows the
// turn of the first one.
func (g *Ingress) Send(ctx context.Context, messages []chela.Inbound) (chela.Turn, error) {
	key := messages[0].Session
	heard := g.cfg.Bus.Listen(key, nil)
	defer heard.Close()
	receipt, err := g.cfg.Lanes.Submit(ctx, messages[0])
	for _, m := range messages[1:] {
		if err == nil {
			_, err = g.cfg.Lanes.Submit(ctx, m)
		}
	}
	if err == nil && receipt.Turn == "" {
		receipt.Turn, err = g.taken(ctx, heard, receipt)
	}
	if err != nil {
		return chela.Turn{}, err
	}
	return g.Follow(ctx, receipt.Turn, func(chela.Event) {})
}
