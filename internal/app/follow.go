package app

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
func (a *App) patience(key chela.SessionKey) time.Duration {
	if a.lanes.Serves(key) {
		return hereTime
	}
	return lookTime
}

// Ask commits a message and follows the turn that takes it, if it is not a
// command.
func (b *backend) Ask(ctx context.Context, in chela.Inbound, show func(chela.Event)) (chela.Turn, error) {
	id, err := b.ask(ctx, in, show)
	if err != nil || id == "" {
		return chela.Turn{ID: id}, err
	}
	return b.Turn(ctx, id)
}

// ask is Ask, but reads nothing of a turn whose end is heard of.
func (b *backend) ask(ctx context.Context, in chela.Inbound, show func(chela.Event)) (chela.TurnID, error) {
	in, err := b.complete(in)
	if err != nil {
		return "", err
	}
	// Listening begins before the message is committed, so that nothing of its
	// turn is missed.
	heard := b.bus.Listen(in.Session, nil)
	defer heard.Close()
	receipt, begun, err := b.accept(ctx, in)
	if err != nil {
		return "", err
	}
	if receipt.Reply != "" {
		show(chela.Event{Kind: chela.EventReply, Session: receipt.Session, Thread: receipt.Thread, Text: receipt.Reply})
		return "", nil
	}
	id := receipt.Turn
	if id == "" {
		if id, err = b.taken(ctx, heard, receipt); err != nil {
			return "", err
		}
	}
	if begun {
		if heardOf, err := b.showUntil(ctx, heard, receipt, show); err != nil || heardOf == itsEnd {
			return id, err
		}
	}
	_, err = b.follow(ctx, heard, id, show)
	return id, err
}

// accept is the way in of every message: an answer to a question that is
// pending goes to the desk, a command is carried out, anything else goes into the
// inbox. It reports whether the message began a turn in this process.
func (a *App) accept(ctx context.Context, in chela.Inbound) (r lane.Receipt, begun bool, err error) {
	if err := inbox.Check(in); err != nil {
		return r, false, err
	}
	answered, ok, err := a.desk.AnswerText(ctx, in)
	if err != nil {
		return r, false, err
	}
	if ok {
		return lane.Receipt{Session: answered.Session, Thread: answered.Thread, Turn: answered.Turn}, false, nil
	}
	if a.hooks.HearsMessage(in) { // what they did for a delivery they did once
		if r, ok, err := a.lanes.Known(ctx, in); ok || err != nil {
			return r, false, err
		}
	}
	if in, err = a.hooks.Message(ctx, in); err != nil {
		return r, false, err
	}
	in, done, err := a.commands.Take(ctx, in)
	if err != nil {
		return r, false, err
	}
	if done != nil {
		return *done, false, nil
	}
	if err := a.answerable(ctx, in); err != nil {
		return r, false, err
	}
	r, err = a.lanes.Submit(ctx, in)
	return r, r.Turn != "" && !r.Duplicate, err
}

// complete fills in what a message leaves open.
func (b *backend) complete(in chela.Inbound) (chela.Inbound, error) {
	key, err := chela.ParseSessionKey(in.Session)
	if err != nil {
		return in, err
	}
	if in.Agent == "" {
		in.Agent = key.Agent
	}
	if in.Agent == "" {
		in.Agent = chela.MainAgent
	}
	if _, err := b.cfg.Agent(in.Agent); err != nil {
		return in, err
	}
	if in.MessageID == "" {
		in.MessageID = string(b.ids.Inbox())
	}
	return in, nil
}

// answerable returns why no model could answer a message, or nil.
func (a *App) answerable(ctx context.Context, in chela.Inbound) error {
	if len(in.Results) > 0 {
		return nil // the turn that waits for them has its model
	}
	usable := func(model string) error {
		_, _, err := a.models.Serve(model)
		return err
	}
	err := a.cfg.Answerable(in.Agent, in.Model, usable)
	if err == nil || in.Model != "" {
		return err
	}
	s, found := store.Find(ctx, a.store, func(r *store.Read) (chela.Session, error) { return r.Session(ctx, in.Session) })
	if found == nil && s.Settings.Model != "" {
		err = usable(s.Settings.Model)
	}
	return err
}

// taken waits until a turn takes a message that waits behind others.
func (b *backend) taken(ctx context.Context, heard *event.Listener, r lane.Receipt) (chela.TurnID, error) {
	for {
		var m chela.Waiting
		var asked []chela.Approval
		err := b.store.Read(ctx, func(s *store.Read) error {
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
		if err := b.pause(ctx, heard, r.Session); err != nil {
			return "", err
		}
		if err := b.lanes.Wake(ctx, r.Session); err != nil {
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
func (b *backend) pause(ctx context.Context, heard *event.Listener, key chela.SessionKey) error {
	ctx, cancel := context.WithTimeout(ctx, b.patience(key))
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
func (b *backend) Follow(ctx context.Context, id chela.TurnID, show func(chela.Event)) (chela.Turn, error) {
	t, err := b.Turn(ctx, id)
	if err != nil {
		return t, err
	}
	heard := b.bus.Listen(t.Session, func(e chela.Event) bool { return e.Turn == id })
	defer heard.Close()
	return b.follow(ctx, heard, id, show)
}

// follow shows the events of a turn until it ended or waits for a person.
func (b *backend) follow(ctx context.Context, heard *event.Listener, id chela.TurnID, show func(chela.Event)) (chela.Turn, error) {
	for {
		t, err := b.Turn(ctx, id)
		if err != nil {
			return t, err
		}
		if t.State != chela.TurnProcessing {
			return t, b.showRest(heard, id, show)
		}
		heardOf, err := b.showUntil(ctx, heard, lane.Receipt{Session: t.Session, Turn: id}, show)
		if err == nil && heardOf == nothing {
			// Nothing is heard of it: another process runs it, or died over it.
			err = b.lanes.Wake(ctx, t.Session)
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
func (b *backend) showUntil(ctx context.Context, heard *event.Listener, of lane.Receipt, show func(chela.Event)) (told hearsay, err error) {
	look, cancel := context.WithTimeout(ctx, b.patience(of.Session))
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
func (b *backend) showRest(heard *event.Listener, id chela.TurnID, show func(chela.Event)) error {
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

// Stop asks a turn to stop.
func (b *backend) Stop(ctx context.Context, id chela.TurnID) error { return b.lanes.Stop(ctx, id) }
