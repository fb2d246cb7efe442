package gateway

// This part of the package implements the WebSocket protocol: JSON frames with
// messages, answers and a subscription on the way in, receipts and events on
// the way out.

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
	"chela/internal/surface/gateway/edge"
)

// serveSocket serves a client until it disconnects, the gateway stops or the token is
// revoked.
func (g *Gateway) serveSocket(v *edge.Visit) error {
	shake := &handshake{Visit: v}
	conn, err := websocket.Accept(shake, v.Request, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // the edge has checked the origin, more strictly
	})
	if err != nil {
		return edge.Refusal{Err: chela.E(chela.Invalid, "this is no request for a WebSocket").WithHint("upgrade to version 13").Because(err), Status: shake.refused}
	}
	conn.SetReadLimit(api.MaxBatch)
	ctx, end := context.WithCancelCause(v.Request.Context())
	t := &talk{gateway: g, visit: v, conn: conn, line: shake.line, end: end, stopTelling: func() {}}
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

// A handshake is the ResponseWriter of a request for a WebSocket. It keeps the
// connection, and drops the text of refusals: they have a form here.
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

// Write drops the text of a refusal.
func (h *handshake) Write(p []byte) (int, error) { return len(p), nil }

// Reasons for the end of a talk, besides the edge's.
var (
	errGone   = errors.New("the client has gone")
	errBroken = chela.E(chela.Internal, "something went wrong")
	errBehind = chela.E(chela.Exhausted, "too many events wait to be read").WithHint("subscribe again with the cursor of the last one")
	errBinary = chela.E(chela.Invalid, "a binary message is no frame").WithHint("send JSON in text messages")
)

// statusOf returns the close status of a connection.
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

// A talk is a WebSocket connection. The goroutine of its request reads frames
// and serves them sequentially, so a client that sends faster than it is served
// waits. Another goroutine sends the events of a subscription, and a third one
// maintains the connection: it pings, and closes it.
//
// There is no outgoing queue: a writer waits for the client, for Times.Write at
// most. Then the connection is closed, and the client reconnects with its
// cursor.
type talk struct {
	gateway *Gateway
	visit   *edge.Visit // belongs to the reader
	conn    *websocket.Conn
	line    net.Conn // below conn, for its deadlines: contexts that end break it off
	end     context.CancelCauseFunc

	stopTelling func() // ends the subscription and waits for that; belongs to the reader

	busy atomic.Bool // a frame comes or is served: a pong may be behind it

	mu   sync.Mutex // held while writing
	owed *receipt   // guarded by mu; nil while no message is accepted
}

// A receipt is a receipt that the client is about to get.
type receipt struct {
	session chela.SessionKey // of the message, if it has one
	given   chan struct{}    // closed then, or when the message was refused
}

// keep sends keep-alives, and closes the connection when ctx ends.
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

// farewell is how long a client has to acknowledge the close.
const farewell = time.Second

// close sends the reason, if the client still listens.
func (t *talk) close(cause error) {
	if !errors.Is(cause, errGone) {
		_ = t.line.SetDeadline(t.gateway.cfg.Now().Add(farewell)) // a connection that is closed needs none
		_ = t.conn.Close(statusOf(cause), chela.MessageOf(cause)) // a client that does not answer is gone
	}
	_ = t.conn.CloseNow() // was closed already, if there was a farewell
}
