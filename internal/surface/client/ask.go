package client

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/queue"
	"chela/internal/platform/pause"
)

// Ask sends a message and follows the turn that takes it, until the turn ends
// or waits for an approval. It passes the events of that turn to show,
// sequentially and in order; show is not called after Ask returns. A message
// without a MessageID gets one. If ctx ends first, Ask returns its error and
// the turn continues; the returned turn is its last known state, with an empty
// ID if it was not opened yet. A command has no turn: its reply is the only
// event, of the kind EventReply. The message comes from the owner of the
// socket, whatever its origin says; fields reserved for other programs are
// Unsupported.
func (c *Client) Ask(ctx context.Context, in chela.Inbound, show func(chela.Event)) (chela.Turn, error) {
	m, err := c.message(in)
	if err != nil {
		return chela.Turn{}, err
	}
	w := &watch{c: c, session: in.Session, show: show}
	defer w.close()
	if err := w.connect(ctx); err != nil {
		return chela.Turn{}, err
	}
	receipt, err := w.say(ctx, m)
	if err != nil {
		return chela.Turn{}, err
	}
	if receipt.Reply != "" {
		show(chela.Event{Kind: chela.EventReply, Session: receipt.Session, Thread: receipt.Thread, Text: receipt.Reply})
		return chela.Turn{}, nil
	}
	first := chela.Event{}
	if receipt.Turn == "" {
		if receipt, first, err = w.taken(ctx, m, receipt); err != nil {
			return chela.Turn{}, w.gone(err)
		}
	}
	w.turn = chela.Turn{ID: receipt.Turn, Session: receipt.Session, Thread: receipt.Thread, State: chela.TurnProcessing}
	if err = w.tell(first); err == nil && w.begun {
		err = w.showUntil(ctx)
	}
	if err != nil {
		return w.turn, w.gone(err)
	}
	return w.follow(ctx)
}

// Follow does the same for an existing turn. For a turn whose approval this
// client has answered it also shows the events since then. A turn that ended
// before is returned at once.
func (c *Client) Follow(ctx context.Context, id chela.TurnID, show func(chela.Event)) (chela.Turn, error) {
	w, ahead := c.kept(id)
	defer w.close()
	w.turn, w.show = chela.Turn{ID: id}, show
	if err := w.look(ctx); err != nil {
		return chela.Turn{}, w.gone(err)
	}
	w.session = w.turn.Session
	if w.turn.State != chela.TurnProcessing {
		if w.begun = ahead; ahead {
			w.rest(ctx)
		}
		return w.turn, nil
	}
	if err := w.connect(ctx); err != nil {
		return w.turn, w.gone(err)
	}
	return w.follow(ctx) // it polls again: the events in between were not received
}

// message returns the wire form of a message.
func (c *Client) message(in chela.Inbound) (api.Message, error) {
	if _, err := chela.ParseSessionKey(in.Session); err != nil {
		return api.Message{}, err
	}
	if len(in.History)+len(in.Offers)+len(in.Results) > 0 {
		return api.Message{}, chela.E(chela.Unsupported, "a command cannot send what was said elsewhere, or offer tools").
			WithHint("use the API of the daemon under /v1")
	}
	m := api.Message{
		Session: in.Session, Thread: in.Thread, Agent: in.Agent, Text: in.Text, Model: in.Model,
		Mode: in.Queue.Mode, DebounceMS: in.Queue.DebounceMS, Cap: in.Queue.Cap, Drop: in.Queue.Drop,
		MessageID: cmp.Or(in.MessageID, string(c.ids.Inbox())), Input: in.Input, Shown: in.Shown,
	}
	for _, a := range in.Attachments {
		m.Attachments = append(m.Attachments, api.Attachment{Name: a.Name, MediaType: a.MediaType, SHA256: a.SHA256, Size: a.Size})
	}
	return m, nil
}

// say sends a message, or asks for the outcome of an earlier attempt.
func (w *watch) say(ctx context.Context, m api.Message) (api.Receipt, error) {
	var r api.Receipt
	tries := 0
	err := w.c.persist(ctx, func(ctx context.Context) error {
		// The answer names the turn, which the caller needs to stop it: an
		// attempt ends only by its own timeout.
		ctx = context.WithoutCancel(ctx)
		tries++
		return w.c.do(ctx, request{method: http.MethodPost, path: []string{"api", "messages"}, body: m, limit: sendTime}, &r)
	})
	if errors.Is(err, errNoAnswer) {
		err = chela.E(chela.Unavailable, "the daemon does not answer, so the message may be stored or not").
			WithHint("send it again with --message-id " + m.MessageID + ", under which it is stored once").Because(err)
	}
	w.begun = w.begun || !r.Duplicate || tries > 1
	return r, err
}

// taken waits until a turn takes a queued message. It also returns the event
// that announced it.
func (w *watch) taken(ctx context.Context, m api.Message, r api.Receipt) (api.Receipt, chela.Event, error) {
	for {
		if r.Dropped {
			return r, chela.Event{}, queue.Dropped()
		}
		if err := w.behind(ctx, r.Thread); err != nil {
			return r, chela.Event{}, err
		}
		e, err := w.news(ctx)
		if err != nil {
			return r, e, err
		}
		again, err := w.say(ctx, m)
		switch {
		case chela.KindOf(err) == chela.Exhausted: // rate-limited
		case err != nil, again.Turn != "":
			return again, e, err
		default:
			r = again
		}
	}
}

// behind is the error for a message queued behind a turn that waits for an
// answer, unless that turn is about to end.
func (w *watch) behind(ctx context.Context, thread chela.ThreadID) error {
	var inWay chela.ApprovalID
	err := w.c.persist(ctx, func(ctx context.Context) error {
		inWay = ""
		asked, err := api.All(ctx, w.c, api.ApprovalsList, api.ApprovalFilter{State: chela.ApprovalPending})
		for _, a := range asked {
			if err != nil || a.Thread != thread || inWay != "" {
				continue
			}
			var t api.Turn
			err = w.c.do(ctx, request{path: []string{"api", "turns", string(a.Turn)}, limit: tryTime}, &t)
			if !t.Stop {
				inWay = a.ID
			}
		}
		return err
	})
	if err == nil && inWay != "" {
		err = chela.E(chela.Denied, "the message is stored and queued behind approval "+string(inWay)).
			WithHint("answer that first: chela approvals yes " + string(inWay))
	}
	return err
}

// moving are the kinds of events that may end the wait of a queued message.
var moving = []chela.EventKind{
	chela.EventTurnStarted, chela.EventTurnFinished, chela.EventApprovalRequested, chela.EventMessageDropped,
}

// news waits for an event after which a message may be in a turn, with a
// timeout: a message may also enter a running turn.
func (w *watch) news(ctx context.Context) (chela.Event, error) {
	if err := pause.For(ctx, w.wait); err != nil {
		return chela.Event{}, err
	}
	if err := w.connect(ctx); err != nil {
		return chela.Event{}, err
	}
	look, cancel := context.WithTimeout(ctx, w.c.lookTime())
	defer cancel()
	for {
		e, ok := w.next(look)
		switch {
		case !ok:
			return chela.Event{}, ctx.Err()
		case slices.Contains(moving, e.Kind):
			return e, nil
		case e.Kind == chela.EventNotice && e.Error != "":
			return e, chela.E(e.Error, e.Text)
		}
	}
}
