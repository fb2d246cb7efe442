package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/coder/websocket"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/event"
)

// hear reads frames and serves them until the talk ends.
func (t *talk) hear(ctx context.Context) {
	for ctx.Err() == nil {
		if err := t.next(ctx); err != nil {
			t.end(err)
		}
	}
}

// next reads a frame and serves it. An error ends the talk.
func (t *talk) next(ctx context.Context) error {
	in, err := t.read(ctx)
	if err != nil {
		return err
	}
	defer in.free()
	t.serve(ctx, in)
	t.busy.Store(false)
	return nil
}

// An incoming is a received message. Free releases its memory.
type incoming struct {
	raw     []byte
	refused error // why it was refused
	free    func()
}

// readChunk is how many bytes of a message are read before it gets more time.
const readChunk = 64 << 10

// read returns the next message. The client may be idle between messages, but a
// message must arrive within the time of a body. An error ends the talk.
func (t *talk) read(ctx context.Context) (in incoming, err error) {
	kind, from, err := t.conn.Reader(context.Background()) // ended by keep
	if err != nil {
		return in, errGone
	}
	t.busy.Store(true)
	if kind != websocket.MessageText {
		return in, errBinary
	}
	var kept bytes.Buffer
	var into io.Writer = &kept
	var came int64
	in.free = func() {}
	for began := t.gateway.cfg.Now(); err == nil && ctx.Err() == nil; {
		_ = t.line.SetReadDeadline(began.Add(t.visit.Times().BodyTime(came))) // a connection that is closed needs none
		var n int64
		n, err = io.CopyN(into, from, readChunk)
		if came += n; came <= api.MaxBody || came-n > api.MaxBody {
			continue
		}
		free, refused := t.visit.Large()
		if refused != nil {
			kept, into, in.refused = bytes.Buffer{}, io.Discard, refused
			continue
		}
		in.free = free
	}
	_ = t.line.SetReadDeadline(time.Time{}) // checks whether the talk should have ended, before it waits again
	switch {
	case errors.Is(err, io.EOF):
		in.raw = kept.Bytes()
		return in, nil
	case errors.Is(err, websocket.ErrMessageTooBig):
		t.drain()
	}
	in.free()
	return in, errGone
}

// drain reads the client's remaining data for a limited time: otherwise it does
// not see why the connection was closed.
func (t *talk) drain() {
	_ = t.line.SetReadDeadline(t.gateway.cfg.Now().Add(farewell)) // a connection that is closed needs none
	_, _ = io.Copy(io.Discard, t.line)                            // ends with the time
}

// serve executes a frame's request and answers it.
func (t *talk) serve(ctx context.Context, in incoming) {
	var f api.Frame
	err := in.refused
	if err == nil {
		err = t.visit.Take(in.raw, &f)
	}
	if err == nil {
		err = t.do(ctx, f)
	} else {
		f.ID = idOf(in.raw)
	}
	if err == nil {
		return
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	told := t.visit.Tell(err)
	t.write(api.Frame{Kind: api.FrameError, ID: f.ID, Error: &told})
}

// idOf returns the id of a frame that is not one, if it can be found.
func idOf(raw []byte) string {
	var named struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(raw, &named) // invalid JSON has none
	return named.ID
}

// do executes a frame's request and answers it, or returns why not.
func (t *talk) do(ctx context.Context, f api.Frame) error {
	if f.Kind == api.FrameSubscribe {
		return t.subscribe(ctx, f)
	}
	need := api.TurnsCancel.Scope // that of messages, too
	if f.Kind == api.FrameAnswer {
		need = api.ApprovalsAnswer.Scope
	}
	if err := t.visit.Permit(need); err != nil {
		return err
	}
	switch {
	case f.Kind == api.FrameMessage && f.Message != nil:
		return t.message(f)
	case f.Kind == api.FrameAnswer && f.Approval != "" && f.Answer != nil:
		as := api.Local{Operations: t.gateway.cfg.Home.Operations, Caller: t.visit.Caller()}
		said := api.AnswerRequest{ApprovalRef: api.ApprovalRef{ID: f.Approval}, Answer: *f.Answer}
		if _, err := api.Call(t.visit.Request.Context(), as, api.ApprovalsAnswer, said); err != nil {
			return err
		}
		t.write(api.Frame{Kind: f.Kind, ID: f.ID, Approval: f.Approval})
		return nil
	case f.Kind == api.FrameCancel && f.Turn != "":
		if err := t.gateway.cfg.Home.Conversation.Stop(ctx, f.Turn); err != nil {
			return err
		}
		t.write(api.Frame{Kind: f.Kind, ID: f.ID, Turn: f.Turn})
		return nil
	default:
		return chela.E(chela.Invalid, fmt.Sprintf("the frame asks for nothing that can be done: %.40q", f.Kind)).
			WithHint("send message, subscribe, answer or cancel, with what it is about")
	}
}

// message accepts a message. The events of its turn are held until the client
// has the receipt, which identifies them.
func (t *talk) message(f api.Frame) error {
	if err := t.visit.Count(); err != nil {
		return err
	}
	m := *f.Message
	if m.MessageID == "" {
		m.MessageID = string(t.gateway.cfg.IDs.Request())
	}
	owed := &receipt{session: m.Session, given: make(chan struct{})}
	t.mu.Lock()
	t.owed = owed
	t.mu.Unlock()
	r, err := t.gateway.accept(t.visit, m)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.owed = nil; err == nil {
		t.send(api.Frame{Kind: api.FrameReceipt, ID: f.ID, Receipt: &r})
	}
	close(owed.given)
	return err
}

// afterReceipt waits until no pending receipt may name a turn of a session.
func (t *talk) afterReceipt(ctx context.Context, of chela.SessionKey) {
	t.mu.Lock()
	owed := t.owed
	t.mu.Unlock()
	if owed == nil || owed.session != "" && owed.session != of {
		return
	}
	select {
	case <-owed.given:
	case <-ctx.Done():
	}
}

// subscribe sends the events that a filter selects, replacing the previous
// subscription.
func (t *talk) subscribe(ctx context.Context, f api.Frame) error {
	var filter api.Filter
	if f.Filter != nil {
		filter = *f.Filter
	}
	sub, err := t.gateway.subscribe(ctx, filter)
	if err != nil {
		return err
	}
	t.stopTelling()
	filter.After = sub.Cursor()
	t.write(api.Frame{Kind: f.Kind, ID: f.ID, Filter: &filter})
	telling, stop := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() { // stopTelling waits for it
		defer close(stopped)
		defer sub.Close()
		t.tell(telling, sub)
	}()
	t.stopTelling = func() {
		stop()
		<-stopped
	}
	return nil
}

// tell sends the events of a subscription until ctx ends.
func (t *talk) tell(ctx context.Context, sub *event.Subscription) {
	live := map[chela.TurnID]bool{} // announced turns that have not ended
	for {
		e, ok := sub.Next(ctx)
		switch {
		case ok:
			if e.Turn != "" && !live[e.Turn] {
				t.afterReceipt(ctx, e.Session)
				live[e.Turn] = true
			}
			if e.Kind == chela.EventTurnFinished {
				delete(live, e.Turn)
			}
			t.write(api.Frame{Kind: api.FrameEvent, Event: &e})
		case ctx.Err() == nil:
			t.end(errBehind)
			return
		default:
			return
		}
	}
}

// write writes a frame.
func (t *talk) write(f api.Frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.send(f)
}

// send writes a frame, and ends the talk if the client does not read it; t.mu
// is held.
func (t *talk) send(f api.Frame) {
	raw, err := json.Marshal(f)
	if err != nil {
		t.end(err)
		return
	}
	_ = t.line.SetWriteDeadline(t.gateway.cfg.Now().Add(t.visit.Times().Write))            // a connection that is closed needs none
	if err := t.conn.Write(context.Background(), websocket.MessageText, raw); err != nil { // ended by the deadline
		t.end(errGone)
		return
	}
	_ = t.line.SetWriteDeadline(time.Time{})
}
