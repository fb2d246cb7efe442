package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway"
	"chela/internal/surface/gateway/edge"
)

// A reader reads server-sent events, as a browser does.
type reader struct {
	t     *testing.T
	resp  *http.Response
	lines *bufio.Scanner
	id    string // of the last event
}

func (d *daemon) events(t *testing.T, c call) *reader {
	t.Helper()
	resp := d.send(t, c)
	t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != api.Stream {
		t.Fatalf("answer is %d %s", resp.StatusCode, resp.Header)
	}
	return &reader{t: t, resp: resp, lines: bufio.NewScanner(resp.Body)}
}

// block returns the lines up to an empty one; false at the end of the stream.
func (r *reader) block() (fields map[string]string, ok bool) {
	fields = map[string]string{}
	for r.lines.Scan() {
		name, value, _ := strings.Cut(r.lines.Text(), ":")
		if name == "" && value == "" {
			if id, ok := fields["id"]; ok {
				r.id = id
			}
			return fields, true
		}
		fields[name] = strings.TrimPrefix(value, " ")
	}
	return nil, false
}

// next returns the next event, past signs of life.
func (r *reader) next() (chela.Event, bool) {
	r.t.Helper()
	for {
		fields, ok := r.block()
		if !ok {
			return chela.Event{}, false
		}
		if fields["data"] == "" {
			continue
		}
		var e chela.Event
		if err := json.Unmarshal([]byte(fields["data"]), &e); err != nil {
			r.t.Fatalf("%v in %q", err, fields["data"])
		}
		if string(e.Kind) != fields["event"] || string(e.Cursor) != fields["id"] {
			r.t.Errorf("event %+v came as %v", e, fields)
		}
		return e, true
	}
}

// until reads events up to the first of a kind and returns their kinds.
func (r *reader) until(kind chela.EventKind) (kinds []chela.EventKind) {
	r.t.Helper()
	for {
		e, ok := r.next()
		if !ok {
			r.t.Fatalf("the stream ended after %v, before %s", kinds, kind)
		}
		kinds = append(kinds, e.Kind)
		if e.Kind == kind {
			return kinds
		}
	}
}

func TestEventsComeAndComeAgain(t *testing.T) {
	t.Parallel()
	d := run(t)
	first := d.events(t, call{path: "/api/events?kinds=turn.started,turn.finished,text.delta", secret: readSecret})
	if _, ok := first.block(); !ok || first.id == "" {
		t.Fatalf("the stream did not begin with a cursor: %q", first.id)
	}
	begin := first.id
	d.say(t, "one")
	kinds := first.until(chela.EventTurnFinished)
	if len(kinds) != 3 || kinds[1] != chela.EventTextDelta {
		t.Errorf("events are %v", kinds)
	}
	_ = first.resp.Body.Close()
	d.say(t, "two")

	for name, c := range map[string]call{
		"by header": {path: "/api/events?kinds=turn.started,turn.finished&after=" + begin, header: map[string]string{"Last-Event-ID": first.id}},
		"by query":  {path: "/api/events?kinds=turn.started,turn.finished&after=" + first.id},
	} {
		t.Run(name, func(t *testing.T) {
			c.secret = readSecret
			again := d.events(t, c)
			if kinds := again.until(chela.EventTurnFinished); len(kinds) != 2 || again.id == first.id {
				t.Errorf("events are %v up to %s", kinds, again.id)
			}
		})
	}
	if kinds := d.events(t, call{path: "/api/events?after=0.99.0", secret: readSecret}).until(chela.EventResync); len(kinds) != 1 {
		t.Errorf("from a cursor that never existed came %v", kinds)
	}
	one := d.events(t, call{path: "/api/events?session=agent:other:main&after=" + begin, secret: readSecret})
	d.do(t, call{path: "/api/messages", secret: chatSecret, body: `{"text":"three","agent":"other"}`})
	if e, ok := one.next(); !ok || e.Session != "agent:other:main" {
		t.Errorf("of another session came %+v", e)
	}
}

func TestQuietStreamsShowThatTheyLive(t *testing.T) {
	t.Parallel()
	d := run(t, func(c *gateway.Config) { c.Times = edge.Times{Heartbeat: 10 * time.Millisecond} })
	r := d.events(t, call{path: "/api/events?kinds=notice", secret: readSecret})
	for range 5 {
		if _, ok := r.block(); !ok {
			t.Fatal("the stream ended")
		}
	}
}

func TestRevokedTokensEndStreams(t *testing.T) {
	t.Parallel()
	d := run(t, func(c *gateway.Config) { c.Times = edge.Times{Review: 20 * time.Millisecond} })
	elsewhere := d.events(t, call{path: "/api/events", secret: readSecret})
	here := d.events(t, call{path: "/api/events", secret: adminSecret})
	stays := d.events(t, call{path: "/api/events", secret: chatSecret})
	d.revoke(readSecret)
	if _, ok := elsewhere.next(); ok {
		t.Error("an event came with a token that was revoked elsewhere")
	}
	if a := d.do(t, call{method: http.MethodDelete, path: "/api/tokens/tok_admin", secret: adminSecret}); a.status != http.StatusNoContent {
		t.Errorf("revoke: %d %s", a.status, a.body)
	}
	if _, ok := here.next(); ok {
		t.Error("an event came with a token that was revoked here")
	}
	d.say(t, "hi")
	stays.until(chela.EventTurnFinished)
}

// TestSlowReadersAreCutOff reads nothing of a stream: it must not hold the
// gateway, which would keep what it writes for ever.
func TestSlowReadersAreCutOff(t *testing.T) {
	t.Parallel()
	d := run(t, func(c *gateway.Config) { c.Times = edge.Times{Write: 100 * time.Millisecond, Close: time.Minute} })
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", d.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "GET /api/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+readSecret+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReaderSize(c, 16).ReadString('\n')
	if err != nil || !strings.Contains(line, "200") {
		t.Fatalf("%q %v", line, err)
	}
	deadline := time.Now().Add(20 * time.Second)
	big := strings.Repeat("x", 32<<10)
	for written := 0; time.Now().Before(deadline); written++ {
		d.mu.Lock()
		d.emit(chela.Event{Kind: chela.EventNotice, Text: big})
		d.mu.Unlock()
		if written%64 == 0 && !d.stillOpen(c) {
			return
		}
	}
	t.Error("a reader that reads nothing was not cut off")
}

// stillOpen reports whether a connection has not been closed by the daemon:
// then there is nothing left to write to.
func (d *daemon) stillOpen(c net.Conn) bool {
	_, err := c.Write([]byte("\r\n"))
	return err == nil
}

func TestLogsAreStreamed(t *testing.T) {
	t.Parallel()
	d := run(t)
	a := d.do(t, call{path: "/api/logs", secret: adminSecret})
	want := "event: log\ndata: \"{\\\"msg\\\":\\\"one\\\"}\"\n\nevent: log\ndata: \"{\\\"msg\\\":\\\"two\\\"}\"\n\n"
	if a.status != http.StatusOK || a.body != want {
		t.Errorf("%d %q", a.status, a.body)
	}
	r := d.events(t, call{path: "/api/logs?follow=true", secret: adminSecret})
	for range 2 {
		if fields, ok := r.block(); !ok || fields["event"] != "log" {
			t.Errorf("%v %v", fields, ok)
		}
	}
	if err := d.stop(); err != nil {
		t.Error(err)
	}
	if _, ok := r.block(); ok {
		t.Error("the stream goes on after the daemon stopped")
	}
}

func TestStoppingEndsWhatWaits(t *testing.T) {
	t.Parallel()
	d := run(t)
	release := d.hold()
	defer release()
	receipt := d.say(t, "wait")
	events := d.events(t, call{path: "/api/events", secret: readSecret})
	if _, ok := events.block(); !ok {
		t.Fatal("no cursor")
	}
	got := make(chan answer, 1)
	go func() { // the test reads its answer
		got <- d.do(t, call{path: "/api/turns/" + string(receipt.Turn) + "?wait_ms=60000", secret: readSecret})
	}()
	<-d.following
	began := time.Now()
	if err := d.stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("stopping took %v", took)
	}
	a := <-got
	a.refused(t, http.StatusServiceUnavailable, chela.Unavailable)
	if body := decoded[api.ErrorBody](t, a, a.status); body.Error.Turn != receipt.Turn || a.header.Get("Retry-After") == "" {
		t.Errorf("%+v %v", body, a.header)
	}
	for {
		if _, ok := events.next(); !ok {
			return
		}
	}
}

// TestClientsThatGoAway gives up while a turn runs: the turn goes on and its
// answer is in the thread. That nothing is left behind is seen by TestMain.
func TestClientsThatGoAway(t *testing.T) {
	t.Parallel()
	d := run(t)
	release := d.hold()
	defer release()
	chat := `{"model":"chela","messages":[{"role":"user","content":"hi"}],"stream":true}`
	for _, c := range []call{
		{path: "/v1/chat/completions", secret: chatSecret, body: chat},
		{path: "/v1/responses", secret: chatSecret, body: `{"model":"chela","input":"hi"}`},
	} {
		ctx, leave := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", api.JSON)
		req.Header.Set("Authorization", "Bearer "+c.secret)
		gone := make(chan struct{})
		go func() { // the test waits for it
			defer close(gone)
			if resp, err := d.client.Do(req); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body) // until it leaves
				_ = resp.Body.Close()
			}
		}()
		id := <-d.following
		leave()
		<-gone
		waited := make(chan answer, 1)
		go func() { // the test reads its answer
			waited <- d.do(t, call{path: "/api/turns/" + string(id) + "?wait_ms=60000", secret: readSecret})
		}()
		<-d.following
		d.mu.Lock()
		d.play(d.turns[id], "hi")
		d.mu.Unlock()
		if got := decoded[api.Turn](t, <-waited, http.StatusOK); got.State != chela.TurnCompleted || got.Answer != "you said hi" {
			t.Errorf("%s: turn is %+v", c.path, got)
		}
	}
}
