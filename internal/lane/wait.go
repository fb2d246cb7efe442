package lane

import (
	"context"

	"chela"
	"chela/internal/queue"
	"chela/internal/store"
)

// wait is the end of the transaction of a message that begins no turn: others
// may have to make room for it, and turns that are in its way to be stopped.
func (l *Lanes) wait(ctx context.Context, w *store.Write, at store.Arrival, a arrival) (arrival, error) {
	m := a.message
	m.Queue = l.cfg.Queue.For(m.Inbound, at.Session.Settings)
	var err error
	if a.events, err = l.makeRoom(ctx, w, at, m.Queue.Cap); err != nil {
		return a, err
	}
	if a.stopped, err = l.interrupt(ctx, w, at.Lane, m); err != nil || a.ended == nil {
		return a, err
	}
	anew := []chela.Event{{Kind: chela.EventSessionChanged, Session: m.Session, Thread: m.Thread}}
	err = w.Announce(ctx, l.cfg.Now(), anew)
	a.events = append(a.events, anew...)
	return a, err
}

// makeRoom drops the messages that must go as the newest one has come, and
// returns what is to be announced of it. It is Exhausted if the newest one has to
// go itself.
func (l *Lanes) makeRoom(ctx context.Context, w *store.Write, at store.Arrival, most int) ([]chela.Event, error) {
	n, err := w.CountWaiting(ctx, at.Session.Key)
	if err != nil || n <= most {
		return nil, err
	}
	waiting, err := w.Waiting(ctx, at.Session.Key, n)
	if err != nil {
		return nil, err
	}
	l.cfg.Queue.Settle(waiting, at.Session.Settings)
	places, err := queue.Room(waiting)
	if err != nil {
		return nil, err
	}
	how := waiting[n-1].Queue.Drop
	var events []chela.Event
	for _, m := range queue.Pick(waiting, places) {
		m.State, m.Dropped = chela.InboxDropped, how
		if err := l.drop(ctx, w, at.Lane, m); err != nil {
			return nil, err
		}
		events = append(events, chela.Event{
			Kind: chela.EventMessageDropped, Session: m.Session, Inbox: m.ID, Text: string(how),
		})
	}
	return events, w.Announce(ctx, l.cfg.Now(), events)
}

// drop stores that a message was dropped. Whoever wants its answer pushed gets a notice instead.
// The others see it in the events, and when they ask for their message.
func (l *Lanes) drop(ctx context.Context, w *store.Write, lane store.Lane, m chela.Waiting) error {
	if err := w.MoveMessage(ctx, m); err != nil || m.Origin.ReplyBy != chela.ReplyByOutbox {
		return err
	}
	text := "(dropped: too many messages wait in this session)"
	if m.Dropped == chela.DropSummarize {
		text = "(too many messages wait in this session: the next turn gets one line of this one)"
	}
	return w.Owe(ctx, chela.Outbound{
		ID: l.cfg.IDs.Outbox(), Session: m.Session, Turn: lane.Turn, To: m.Origin, Text: text, State: chela.OutboxPending,
		CreatedAt: l.cfg.Now(),
	})
}

// interrupt asks the turns that are in the way of a message to stop, if it is one
// that does not wait for them: the one that the lane runs, and the one that is
// open in its thread.
func (l *Lanes) interrupt(ctx context.Context, w *store.Write, lane store.Lane, m chela.Waiting) ([]chela.TurnID, error) {
	if m.Queue.Mode != chela.QueueInterrupt {
		return nil, nil
	}
	live, err := w.LiveTurns(ctx, m.Session)
	if err != nil {
		return nil, err
	}
	var stopped []chela.TurnID
	for _, t := range live {
		if t.ID != lane.Turn && t.Thread != m.Thread || !queue.Plan([]chela.Waiting{m}, &t, m.CreatedAt).Stop {
			continue
		}
		if err := l.askToStop(ctx, w, t); err != nil {
			return nil, err
		}
		stopped = append(stopped, t.ID)
	}
	return stopped, nil
}

// tell returns the note with which a turn begins if messages of its thread were
// dropped to be summarized, as an entry by kind and body; none if there are
// none.
func tell(ctx context.Context, w *store.Write, t chela.Turn) ([]chela.Entry, error) {
	newest, err := w.Untold(ctx, chela.Thread{ID: t.Thread, Session: t.Session}, queue.MaxLines)
	if err != nil || len(newest) == 0 {
		return nil, err
	}
	all, err := w.Tell(ctx, t)
	return []chela.Entry{{Kind: chela.EntryNote, Body: chela.Body{Text: queue.Note(newest, all)}}}, err
}
