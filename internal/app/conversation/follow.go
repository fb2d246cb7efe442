package conversation

import (
	"cmp"
	"context"
	"errors"
	"time"

	"chela"
	"chela/internal/approval"
	"chela/internal/event"
	"chela/internal/inbox"
	"chela/internal/lane"
	"chela/internal/store"
)

const (
	lookTime = 100 * time.Millisecond // how often a turn that another process runs is looked at
	hereTime = 5 * time.Second        // the same of one that runs here, and so is heard of
)

// patience is how long to listen for what happens in a session before looking.
func (d *Door) patience(key chela.SessionKey) time.Duration {
	if d.cfg.Lanes.Serves(key) {
		return hereTime
	}
	return lookTime
}

// Ask commits a message and follows the turn that takes it, if it is not a
// command.
func (d *Door) Ask(ctx context.Context, in chela.Inbound, show func(chela.Event)) (chela.Turn, error) {
	id, err := d.Say(ctx, in, show)
	if err != nil || id == "" {
		return chela.Turn{ID: id}, err
	}
	return d.cfg.Turn(ctx, id)
}

// Say is Ask, but reads nothing of a turn whose end is heard of.
func (d *Door) Say(ctx context.Context, in chela.Inbound, show func(chela.Event)) (chela.TurnID, error) {
	in, err := d.complete(in)
	if err != nil {
		return "", err
	}
	// Listening begins before the message is committed, so that nothing of its
	// turn is missed.
	heard := d.cfg.Bus.Listen(in.Session, nil)
	defer heard.Close()
	receipt, begun, err := d.accept(ctx, in)
	if err != nil {
		return "", err
	}
	if receipt.Reply != "" {
		show(chela.Event{Kind: chela.EventReply, Session: receipt.Session, Thread: receipt.Thread, Text: receipt.Reply})
		return "", nil
	}
	id := receipt.Turn
	if id == "" {
		if id, err = d.taken(ctx, heard, receipt); err != nil {
			return "", err
		}
	}
	if begun {
		if heardOf, err := d.showUntil(ctx, heard, receipt, show); err != nil || heardOf == itsEnd {
			return id, err
		}
	}
	_, err = d.follow(ctx, heard, id, show)
	return id, err
}

// taken waits until a turn takes a message that waits behind others.
func (d *Door) taken(ctx context.Context, heard *event.Listener, r lane.Receipt) (chela.TurnID, error) {
	for {
		var m chela.Waiting
		var asked []chela.Approval
		err := d.cfg.Store.Read(ctx, func(s *store.Read) error {
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
			return "", inbox.Dropped()
		case m.Turn != "":
			return m.Turn, nil
		}
		if len(asked) > 0 {
			return "", chela.E(chela.Denied, "the message is stored and waits behind approval "+string(asked[0].ID)).
				WithHint("answer that first: chela approvals yes " + string(asked[0].ID))
		}
		if err := d.pause(ctx, heard, r.Session); err != nil {
			return "", err
		}
		if err := d.cfg.Lanes.Wake(ctx, r.Session); err != nil {
			return "", err
		}
	}
}

// broken is the error for a turn that could not go on. It goes on with the next
// start, or when its session is used again.
func broken(e chela.Event) error {
	return chela.E(cmp.Or(e.Error, chela.Unavailable), e.Text)
}

// pause waits for something to happen in a session, but not for long: another
// process may do it.
func (d *Door) pause(ctx context.Context, heard *event.Listener, key chela.SessionKey) error {
	ctx, cancel := context.WithTimeout(ctx, d.patience(key))
	defer cancel()
	if e, ok := heard.Next(ctx); ok && e.Kind == chela.EventNotice && e.Error != "" {
		return broken(e)
	}
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// Follow follows a turn that is there.
func (d *Door) Follow(ctx context.Context, id chela.TurnID, show func(chela.Event)) (chela.Turn, error) {
	t, err := d.cfg.Turn(ctx, id)
	if err != nil {
		return t, err
	}
	heard := d.cfg.Bus.Listen(t.Session, func(e chela.Event) bool { return e.Turn == id })
	defer heard.Close()
	return d.follow(ctx, heard, id, show)
}

// follow shows the events of a turn until it ended or waits for a person.
func (d *Door) follow(ctx context.Context, heard *event.Listener, id chela.TurnID, show func(chela.Event)) (chela.Turn, error) {
	for {
		t, err := d.cfg.Turn(ctx, id)
		if err != nil {
			return t, err
		}
		if t.State != chela.TurnProcessing {
			return t, d.showRest(heard, id, show)
		}
		heardOf, err := d.showUntil(ctx, heard, lane.Receipt{Session: t.Session, Turn: id}, show)
		if err == nil && heardOf == nothing {
			// Nothing is heard of it: another process runs it, or died over it.
			err = d.cfg.Lanes.Wake(ctx, t.Session)
		}
		if err != nil {
			return t, err
		}
	}
}

// What is heard of a turn while it is listened to.
type hearsay int

const (
	nothing hearsay = iota
	itsLife
	itsEnd // or that it waits for somebody
)

// showUntil shows events of the turn that a receipt names until one tells that
// it came to something, or until it is time for a look.
func (d *Door) showUntil(ctx context.Context, heard *event.Listener, of lane.Receipt, show func(chela.Event)) (told hearsay, err error) {
	look, cancel := context.WithTimeout(ctx, d.patience(of.Session))
	defer cancel()
	for {
		e, ok := heard.Next(look)
		if !ok {
			<-look.Done() // at once, unless the listener fell behind and was cut off
			return told, ctx.Err()
		}
		if e.Turn != of.Turn {
			continue
		}
		if e.Kind == chela.EventNotice && e.Error != "" {
			return itsLife, broken(e)
		}
		told = itsLife
		show(e)
		switch e.Kind {
		case chela.EventTurnFinished, chela.EventApprovalRequested, chela.EventToolOffered:
			return itsEnd, nil
		}
	}
}

// showRest shows what has arrived.
func (d *Door) showRest(heard *event.Listener, id chela.TurnID, show func(chela.Event)) error {
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

// Listen hands the endings of turns and the notices of a session to show, from now
// on and until ctx ends.
func (d *Door) Listen(ctx context.Context, key chela.SessionKey, show func(chela.Event)) {
	aside := func(e chela.Event) bool { return e.Kind == chela.EventTurnFinished || e.Kind == chela.EventNotice }
	for ctx.Err() == nil { // a listener that fell behind is cut off
		heard := d.cfg.Bus.Listen(key, aside)
		for e, ok := heard.Next(ctx); ok; e, ok = heard.Next(ctx) {
			show(e)
		}
		heard.Close()
	}
}

// Stop asks a turn to stop.
func (d *Door) Stop(ctx context.Context, id chela.TurnID) error { return d.cfg.Lanes.Stop(ctx, id) }

// UntilEnded waits until a turn that was asked to stop has ended. One that was about
// to wait for a person in that moment is asked again.
func (d *Door) UntilEnded(ctx context.Context, id chela.TurnID) error {
	for {
		t, err := d.Follow(ctx, id, func(chela.Event) {})
		if err != nil || t.State.Ended() {
			return err
		}
		if err := d.cfg.Lanes.Stop(ctx, id); err != nil && chela.KindOf(err) != chela.Conflict {
			return err
		}
	}
}

// Send commits messages for one thread, which no hook sees again, and follows
// the turn of the first one.
func (d *Door) Send(ctx context.Context, messages []chela.Inbound) (chela.Turn, error) {
	key := messages[0].Session
	heard := d.cfg.Bus.Listen(key, nil)
	defer heard.Close()
	receipt, err := d.cfg.Lanes.Submit(ctx, messages[0])
	for _, m := range messages[1:] {
		if err == nil {
			_, err = d.cfg.Lanes.Submit(ctx, m)
		}
	}
	if err == nil && receipt.Turn == "" {
		receipt.Turn, err = d.taken(ctx, heard, receipt)
	}
	if err != nil {
		return chela.Turn{}, err
	}
	return d.Follow(ctx, receipt.Turn, func(chela.Event) {})
}
