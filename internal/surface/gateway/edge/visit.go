package edge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"chela"
	"chela/internal/api"
)

// A Visit is one request with its caller and its response. It is the handler's
// ResponseWriter, and belongs to one goroutine.
type Visit struct {
	http.ResponseWriter
	Request *http.Request
	ID      string     // of the request, in its response and in the log
	Owner   bool       // it came through the socket
	By      Asker      // the caller; empty on public routes
	Query   url.Values // of routes under /api: the declared parameters, each once

	server *Server
	route  *Route    // nil before it is known
	status int       // of the answer; 0 until it began
	until  time.Time // write deadline
	body   *body     // nil without one
	once   *once     // nil without a key
}

// An Asker is the caller of a request: a token, and the credential that showed
// it.
type Asker struct {
	Token  chela.Token
	Secret string         // of a bearer token
	Cookie string         // of a page
	Login  api.LoginState // the credential given to the page
}

// Origin returns the caller as the origin of a message: a token speaks for the
// owner, and each is an account of its own, so that the message ids of two
// programs never collide. Commands use the socket with the same origin as
// without a daemon, so that their messages have the same ids either way.
func (v *Visit) Origin() chela.Origin {
	if v.Owner {
		return chela.Origin{Channel: api.SocketChannel, Owner: true}
	}
	return chela.Origin{Channel: api.Channel, Account: string(v.By.Token.ID), Sender: v.By.Token.Name, Owner: true}
}

// Times are the timeouts of the server.
func (v *Visit) Times() Times { return v.server.cfg.Times }

// WantsStream reports whether the caller accepts a stream of events instead of a
// document.
func (v *Visit) WantsStream() bool {
	for _, accepted := range v.Request.Header["Accept"] {
		for kind := range strings.SplitSeq(accepted, ",") {
			if media, _, _ := mime.ParseMediaType(kind); media == api.Stream {
				return true
			}
		}
	}
	return false
}

// Large takes a slot for a body larger than api.MaxBody, until free is called;
// free is idempotent. It is Unavailable if all slots are taken.
func (v *Visit) Large() (free func(), err error) {
	select {
	case v.server.large <- struct{}{}:
		return sync.OnceFunc(func() { <-v.server.large }), nil
	default:
		return nil, chela.E(chela.Unavailable, "too many large bodies are read at once").WithHint("send it again in a moment")
	}
}

// Count counts a message of the caller. It is Exhausted over the limit.
func (v *Visit) Count() error {
	return v.CountIn(v.server.messages, string(v.By.Token.ID), "this token sent too many messages")
}

// CountIn counts an action of a sender. It is Exhausted with a text over the limit of
// the meter. The owner has no limit.
func (v *Visit) CountIn(m *Meter, sender, exhausted string) error {
	after, ok := m.Take(sender)
	if ok || v.Owner {
		return nil
	}
	return Refusal{Err: chela.E(chela.Exhausted, exhausted).WithHint("wait a moment"), After: after}
}

// WriteHeader begins the response.
func (v *Visit) WriteHeader(status int) {
	if v.status == 0 {
		v.status = status
	}
	v.ResponseWriter.WriteHeader(status)
}

// Write writes a part of the response. A client that reads nothing for
// Times.Write is disconnected.
func (v *Visit) Write(p []byte) (int, error) {
	if v.status == 0 {
		v.status = http.StatusOK
	}
	v.extend()
	v.once.record(p)
	return v.ResponseWriter.Write(p)
}

// FlushError sends the buffered part.
func (v *Visit) FlushError() error {
	v.extend()
	return http.NewResponseController(v.ResponseWriter).Flush()
}

// Unwrap supports http.ResponseController.
func (v *Visit) Unwrap() http.ResponseWriter { return v.ResponseWriter }

// extend moves the write deadline, if it is near enough.
func (v *Visit) extend() {
	until := v.server.cfg.Now().Add(v.server.cfg.Times.Write)
	if until.Sub(v.until) < v.server.cfg.Times.Write/10 {
		return
	}
	v.until = until
	_ = http.NewResponseController(v.ResponseWriter).SetWriteDeadline(until) // where there is none, nothing can hang
}

// readUntil sets the read deadline of the body. The zero time sets none.
func (v *Visit) readUntil(until time.Time) {
	_ = http.NewResponseController(v.ResponseWriter).SetReadDeadline(until) // where there is none, nothing can hang
}

// A body is a request body with a time limit. Once it was read, the client may
// be idle for as long as it waits.
type body struct {
	io.ReadCloser
	v     *Visit
	began time.Time
	came  int64  // bytes
	held  int64  // bytes that count for the memory of all bodies
	timed int64  // bytes that the client has been given time for
	ended bool   // all was read
	freed func() // called when it ended; nil without need
}

// free releases the slot of a large body.
func (b *body) free() {
	if b.freed != nil {
		b.freed()
	}
}

// forget ends the share of the body in the memory of all bodies.
func (b *body) forget() { b.v.server.bodies.Add(-b.held) }

// hold counts n bytes of a body that is not large. It is Unavailable if all bodies
// together take too much memory.
func (b *body) hold(n int64) error {
	if b.freed != nil {
		return nil
	}
	b.held += n
	if b.v.server.bodies.Add(n) <= b.v.server.cfg.BodyMemory {
		return nil
	}
	err := chela.E(chela.Unavailable, "the bodies of all requests together take too much memory").WithHint("send it again in a moment")
	return Refusal{Err: err, Status: http.StatusServiceUnavailable, After: time.Second}
}

// Read returns a Refusal on timeout, and if there is too little memory for the body.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.came += int64(n)
	if err := b.hold(int64(n)); err != nil {
		return 0, err
	}
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

// fewBytes is how much of a body net/http may drain after a refusal, so that
// the connection can be reused.
const fewBytes = 64 << 10

// drainTime limits the draining of a refused body.
const drainTime = time.Second

// isLeft reports whether much of the body is left.
func (b *body) isLeft() bool {
	length := b.v.Request.ContentLength
	return !b.ended && (length < 0 || length > fewBytes)
}

// answerFirst allows the response to begin before the whole body was read.
func (v *Visit) answerFirst() {
	v.Header().Set("Connection", "close")
	_ = http.NewResponseController(v.ResponseWriter).EnableFullDuplex() // where it cannot be, it need not
}

// drain reads the rest of a refused body, for a limited time: a client that is
// still sending when its connection is closed does not see the response.
func (b *body) drain() {
	_ = b.v.FlushError() // a client that is gone needs no response
	b.v.readUntil(b.v.server.cfg.Now().Add(drainTime))
	_, _ = io.Copy(io.Discard, b.ReadCloser) // ends with the time
}

// BeginEvents begins a stream of server-sent events.
func (v *Visit) BeginEvents() {
	h := v.Header()
	h["Content-Type"] = []string{api.Stream}
	h["X-Accel-Buffering"] = []string{"no"} // disables the buffering of nginx-like proxies
	v.WriteHeader(http.StatusOK)
}

// Emit sends a part of a stream at once.
func (v *Visit) Emit(raw []byte) error {
	_, err := v.Write(raw)
	return errors.Join(err, v.FlushError())
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

// Send writes a complete response.
func (v *Visit) Send(status int, media string, raw []byte) error {
	v.Header()["Content-Type"] = []string{media}
	v.WriteHeader(status)
	_, _ = v.Write(raw) // the client that does not read is gone
	return nil
}

// Nothing reports success without content.
func (v *Visit) Nothing() error {
	v.WriteHeader(http.StatusNoContent)
	return nil
}

// bodyChunk is the memory allocated for a body in advance, and the amount that
// must arrive before it gets more time.
const bodyChunk = 8 << 10

// Body returns the whole body of a request.
func (v *Visit) Body() ([]byte, error) {
	var buf bytes.Buffer
	buf.Grow(int(min(max(v.Request.ContentLength, 0), bodyChunk)) + bytes.MinRead)
	_, err := buf.ReadFrom(v.Request.Body)
	if err != nil {
		return nil, broken(err)
	}
	return buf.Bytes(), nil
}

// broken is the error of an incomplete body.
func broken(err error) error {
	if r, ok := errors.AsType[Refusal](err); ok {
		return r
	}
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return TooLarge(large.Limit)
	}
	return chela.E(chela.Invalid, "the body ended before its end").Because(err)
}

// Caller returns the caller of the request for operations. The owner's keys are the
// same with and without a daemon.
func (v *Visit) Caller() api.Caller {
	token := v.By.Token
	c := api.Caller{By: token.Name, Scope: token.Scope, Origin: v.Origin(), Key: v.Once()}
	if !v.Owner {
		c.By, c.Account = fmt.Sprintf("token %s (%s)", token.Name, token.ID), string(token.ID)
	}
	if v.By.Cookie != "" {
		c.Input = chela.InputTyped
	}
	return c
}
