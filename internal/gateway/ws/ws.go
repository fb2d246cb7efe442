// Package ws speaks both ways over a WebSocket: frames of JSON that are messages,
// answers and a subscription on the way in, receipts and events on the way out.
package ws

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"chela"
	"chela/internal/api"
	"chela/internal/event"
	"chela/internal/gateway/edge"
)

// A Home is what is served, in the name of whoever asks.
type Home struct {
	IDs *chela.IDs // for messages without an id
	Now func() time.Time

	// Accept commits a message.
	Accept func(v *edge.Visit, m api.Message) (api.Receipt, error)

	// Decide answers an approval.
	Decide func(v *edge.Visit, id chela.ApprovalID, said api.Answer) (chela.Approval, error)

	// Stop asks a turn to stop.
	Stop func(ctx context.Context, id chela.TurnID) error

	// Subscribe begins to tell events. A filter that can let nothing through is
	// Invalid.
	Subscribe func(ctx context.Context, filter api.Filter) (*event.Subscription, error)
}

// Serve speaks with a client until it goes, the gateway stops or the token is
// revoked.
func (h Home) Serve(v *edge.Visit) error {
	shake := &handshake{Visit: v}
	conn, err := websocket.Accept(shake, v.Request, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // the edge has looked at the origin, and lets fewer in
	})
	if err != nil {
		return edge.Refusal{Err: chela.E(chela.Invalid, "this is no request for a WebSocket").WithHint("upgrade to version 13").Because(err), Status: shake.refused}
	}
	conn.SetReadLimit(api.MaxBatch)
	ctx, end := context.WithCancelCause(v.Request.Context())
	t := &talk{home: h, visit: v, conn: conn, line: shake.line, end: end, stopTelling: func() {}}
	kept := make(chan struct{})
	go func() { // ends with ctx; waited for below
		defer close(kept)
		t.keep(ctx)
	}()
	defer func() {
		end(errBroken) // unless it ended for another reason
		t.stopTelling()
		<-kept
	}()
	t.hear(ctx)
	return nil
}

// A handshake is what the answer to a request for a WebSocket is written to. It
// keeps the connection, and forgets the text of refusals: they have a form here.
type handshake struct {
	*edge.Visit
	line    net.Conn
	refused int // status; 0 without
}

// Hijack hands the connection over.
func (h *handshake) Hijack() (line net.Conn, rw *bufio.ReadWriter, err error) {
	line, rw, err = http.NewResponseController(h.Visit).Hijack()
	h.line = line
	return line, rw, err
}

// WriteHeader begins the answer, if it is a good one.
func (h *handshake) WriteHeader(status int) {
	if status != http.StatusSwitchingProtocols {
		h.refused = status
		return
	}
	h.Visit.WriteHeader(status)
}

// Write forgets the text of a refusal.
func (h *handshake) Write(p []byte) (int, error) { return len(p), nil }

// Why a talk ends, beside what the edge ends it for.
var (
	errGone   = errors.New("the client has gone")
	errBroken = chela.E(chela.Internal, "something went wrong")
	errBehind = chela.E(chela.Exhausted, "too many events wait to be read").WithHint("subscribe again with the cursor of the last one")
	errBinary = chela.E(chela.Invalid, "a binary message is no frame").WithHint("send JSON in text messages")
)

// statusOf returns the status with which a connection is closed.
func statusOf(cause error) websocket.StatusCode {
	switch chela.KindOf(cause) {
	case chela.Unavailable:
		return websocket.StatusGoingAway
	case chela.Denied:
		return websocket.StatusPolicyViolation
	case chela.Exhausted:
		return websocket.StatusTryAgainLater
	case chela.Invalid:
		return websocket.StatusUnsupportedData
	default:
		return websocket.StatusInternalError
	}
}

// A talk is a WebSocket. The goroutine of its request reads frames and serves
// them one after the other, so a client that sends more than it gets done waits.
// Another one tells the events of a subscription, and a third one keeps the
// connection: it pings, and says farewell.
//
// Nothing is queued for the client: who writes waits for it, for Times.Write at
// most. Then the connection is cut off, and the client comes back by its cursor.
type talk struct {
	home  Home
	visit *edge.Visit // belongs to the reader
	conn  *websocket.Conn
	line  net.Conn // below conn, for its deadlines: contexts that end break it off
	end   context.CancelCauseFunc

	stopTelling func() // ends the subscription and waits for that; belongs to the reader

	busy atomic.Bool // a frame comes or is served: a pong may be behind it

	mu   sync.Mutex // held by who writes
	owed *receipt   // guarded by mu; nil while no message is accepted
}

// A receipt is one that the client is going to be given.
type receipt struct {
	session chela.SessionKey // of the message, if that says so
	given   chan struct{}    // closed then, or when the message was refused
}

// keep shows the client that the connection lives, and closes it when ctx ends.
func (t *talk) keep(ctx context.Context) {
	tick := time.NewTicker(t.visit.Times().Heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			t.close(context.Cause(ctx))
			return
		case <-tick.C:
			t.ping(ctx)
		}
	}
}

// ping ends the talk if the client does not answer.
func (t *talk) ping(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, t.visit.Times().Write)
	defer cancel()
	err := t.conn.Ping(ctx)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && !t.busy.Load() {
		t.end(errGone)
	}
}

// farewell is how long a client has to say that it heard why the connection is
// closed.
const farewell = time.Second

// close says why, if somebody is there to hear it.
func (t *talk) close(cause error) {
	if !errors.Is(cause, errGone) {
		_ = t.line.SetDeadline(t.home.Now().Add(farewell))        // a connection that is closed needs none
		_ = t.conn.Close(statusOf(cause), chela.MessageOf(cause)) // whoever does not answer has gone
	}
	_ = t.conn.CloseNow() // was closed already, if there was a farewell
}
