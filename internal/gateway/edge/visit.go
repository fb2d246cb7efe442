package edge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"chela"
	"chela/internal/api"
)

// A Visit is one request, who makes it, and the answer it gets. It is the
// ResponseWriter of whatever serves it, and belongs to one goroutine.
type Visit struct {
	http.ResponseWriter
	Request *http.Request
	ID      string     // of the request, in its answer and in the log
	Owner   bool       // it came through the socket
	By      Asker      // who asks; nobody on public routes
	Query   url.Values // of routes under /api, with what the route has, each once

	server *Server
	route  *Route    // nil before it is known
	status int       // of the answer; 0 until it began
	until  time.Time // deadline of what is written
	body   *body     // nil without one
}

// An Asker is who makes a request: a token, and what it was shown by.
type Asker struct {
	Token  chela.Token
	Secret string       // of a bearer token
	Cookie string       // of a page
	Login  api.LoggedIn // what was told to the page
}

// visitKey finds the visit in a context.
type visitKey struct{}

// VisitOf returns the visit that a request of a long route belongs to, for
// handlers that know nothing of it.
func VisitOf(ctx context.Context) (*Visit, bool) {
	v, ok := ctx.Value(visitKey{}).(*Visit)
	return v, ok
}

// Origin says who asks, as the origin of a message: a token speaks for the
// owner, and each is an account of its own, so that the message ids of two
// programs never meet. The commands come through the socket with the origin that
// they have without a daemon: their messages have the same names either way.
func (v *Visit) Origin() chela.Origin {
	if v.Owner {
		return chela.Origin{Channel: api.SocketChannel, Owner: true}
	}
	return chela.Origin{Channel: api.Channel, Account: string(v.By.Token.ID), Sender: v.By.Token.Name, Owner: true}
}

// Who returns the name of whoever asks, for what is kept of it.
func (v *Visit) Who() string {
	if v.Owner {
		return v.By.Token.Name
	}
	return fmt.Sprintf("token %s (%s)", v.By.Token.Name, v.By.Token.ID)
}

// Times is how long things may take.
func (v *Visit) Times() Times { return v.server.cfg.Times }

// Heartbeat is how often a stream shows that it lives.
func (v *Visit) Heartbeat() time.Duration { return v.server.cfg.Times.Heartbeat }

// Large takes one of the few places for what is larger than api.MaxBody, until
// free is called, once or more. It is Unavailable if there is none.
func (v *Visit) Large() (free func(), err error) {
	select {
	case v.server.large <- struct{}{}:
		return sync.OnceFunc(func() { <-v.server.large }), nil
	default:
		return nil, chela.E(chela.Unavailable, "too many large bodies are read at once").WithHint("send it again in a moment")
	}
}

// Count counts a message of whoever asks. It is Exhausted if there were too
// many. The owner may send as many as they like.
func (v *Visit) Count() error {
	if v.Owner {
		return nil
	}
	after, ok := v.server.messages.Take(string(v.By.Token.ID))
	if !ok {
		return Refusal{Err: chela.E(chela.Exhausted, "this token sent too many messages").WithHint("wait a moment"), After: after}
	}
	return nil
}

// WriteHeader begins the answer.
func (v *Visit) WriteHeader(status int) {
	if v.status == 0 {
		v.status = status
	}
	v.ResponseWriter.WriteHeader(status)
}

// Write writes a part of the answer. A client that takes none of it for
// Times.Write is cut off.
func (v *Visit) Write(p []byte) (int, error) {
	if v.status == 0 {
		v.status = http.StatusOK
	}
	v.extend()
	return v.ResponseWriter.Write(p)
}

// FlushError sends what was written.
func (v *Visit) FlushError() error {
	v.extend()
	return http.NewResponseController(v.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController find what else can be done.
func (v *Visit) Unwrap() http.ResponseWriter { return v.ResponseWriter }

// extend moves the deadline of writing, if it is near enough.
func (v *Visit) extend() {
	until := v.server.cfg.Now().Add(v.server.cfg.Times.Write)
	if until.Sub(v.until) < v.server.cfg.Times.Write/10 {
		return
	}
	v.until = until
	_ = http.NewResponseController(v.ResponseWriter).SetWriteDeadline(until) // where there is none, nothing can hang
}

// readUntil sets until when the client may take to send the body. The zero time
// sets no limit.
func (v *Visit) readUntil(until time.Time) {
	_ = http.NewResponseController(v.ResponseWriter).SetReadDeadline(until) // where there is none, nothing can hang
}

// A body is what a client sends, limited in time. Once it was read,
// the client may be silent for as long as it waits.
type body struct {
	io.ReadCloser
	v     *Visit
	began time.Time
	came  int64  // bytes
	timed int64  // bytes that the client was given its time for
	ended bool   // all was read
	freed func() // called when it ended; nil without need
}

// free gives back what a large body holds.
func (b *body) free() {
	if b.freed != nil {
		b.freed()
	}
}

// Read returns a Refusal when it took too long.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.came += int64(n)
	if err == nil {
		if b.came-b.timed >= bodyChunk {
			b.timed = b.came
			b.v.readUntil(b.began.Add(b.v.server.cfg.Times.BodyTime(b.came)))
		}
		return n, nil
	}
	var late interface{ Timeout() bool }
	if errors.As(err, &late) && late.Timeout() {
		return n, Refusal{Err: chela.E(chela.Invalid, "the body took too long"), Status: http.StatusRequestTimeout}
	}
	b.v.readUntil(time.Time{})
	b.ended = true
	b.free()
	return n, err
}

// fewBytes is how much of a body net/http may read after a refusal, so that the
// connection can be used again.
const fewBytes = 64 << 10

// drainTime is how long what is left of a refused body is read.
const drainTime = time.Second

// isLeft reports whether there is much to come still.
func (b *body) isLeft() bool {
	length := b.v.Request.ContentLength
	return !b.ended && (length < 0 || length > fewBytes)
}

// answerFirst lets the answer begin before the whole body was read.
func (v *Visit) answerFirst() {
	v.Header().Set("Connection", "close")
	_ = http.NewResponseController(v.ResponseWriter).EnableFullDuplex() // where it cannot be, it need not
}

// drain reads what is left of a body that was refused, for a while: a client
// that still sends when its connection is closed does not see the answer.
func (b *body) drain() {
	_ = b.v.FlushError() // who has gone needs no answer
	b.v.readUntil(b.v.server.cfg.Now().Add(drainTime))
	_, _ = io.Copy(io.Discard, b.ReadCloser) // ends with the time
}

// Answer writes a value as JSON with a status.
func (v *Visit) Answer(status int, answer any) error {
	raw, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return v.Send(status, api.JSON, append(raw, '\n'))
}

// OK writes a value as JSON.
func (v *Visit) OK(answer any) error { return v.Answer(http.StatusOK, answer) }

// Send writes a whole answer.
func (v *Visit) Send(status int, media string, raw []byte) error {
	v.Header()["Content-Type"] = []string{media}
	v.WriteHeader(status)
	_, _ = v.Write(raw) // who does not read it has gone
	return nil
}

// Nothing answers that something was done, without content.
func (v *Visit) Nothing() error {
	v.WriteHeader(http.StatusNoContent)
	return nil
}

// bodyChunk is how much memory a body gets before any of it came, and how much
// of it has to come before it gets more time.
const bodyChunk = 8 << 10

// Body returns the whole body of a request, as it came.
func (v *Visit) Body() ([]byte, error) {
	var buf bytes.Buffer
	buf.Grow(int(min(max(v.Request.ContentLength, 0), bodyChunk)) + bytes.MinRead)
	_, err := buf.ReadFrom(v.Request.Body)
	if err != nil {
		return nil, broken(err)
	}
	return buf.Bytes(), nil
}

// broken is the error of a body that did not come whole.
func broken(err error) error {
	var r Refusal
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &r):
		return r
	case errors.As(err, &large):
		return TooLarge(large.Limit)
	}
	return chela.E(chela.Invalid, "the body ended before its end").Because(err)
}

// Key returns a key of whoever asks: the same one of two tokens names two requests.
// The owner has the same ones with and without a daemon.
func (v *Visit) Key(given string) string {
	if given == "" || v.Owner {
		return given
	}
	return string(v.By.Token.ID) + " " + given
}
