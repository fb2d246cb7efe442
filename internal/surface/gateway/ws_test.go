package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway"
	"chela/internal/surface/gateway/edge"
)

// A peer is the client's end of a WebSocket.
type peer struct {
	t *testing.T
	*websocket.Conn
}

// dial opens a WebSocket.
func (d *daemon) dial(t *testing.T, c call) *peer {
	t.Helper()
	conn, status, err := d.tryDial(t, c)
	if err != nil {
		t.Fatalf("%d: %v", status, err)
	}
	return &peer{t, conn}
}

// tryDial returns the status of the answer too.
func (d *daemon) tryDial(t *testing.T, c call) (*websocket.Conn, int, error) {
	t.Helper()
	opts := &websocket.DialOptions{HTTPClient: d.client, HTTPHeader: http.Header{}}
	if c.socket {
		opts.HTTPClient = d.owner
	}
	if c.secret != "" {
		opts.HTTPHeader.Set("Authorization", "Bearer "+c.secret)
	}
	for name, value := range c.header {
		opts.HTTPHeader.Set(name, value)
	}
	conn, resp, err := websocket.Dial(t.Context(), d.url+"/api/ws", opts) //nolint:bodyclose // is closed by Dial
	if err == nil {
		conn.SetReadLimit(-1)
		t.Cleanup(func() { _ = conn.CloseNow() })
	}
	if resp == nil {
		return nil, 0, err
	}
	return conn, resp.StatusCode, err
}

// send sends a text message, or the JSON of a frame.
func (p *peer) send(frame any) {
	p.t.Helper()
	raw, ok := frame.(string)
	if !ok {
		content, err := json.Marshal(frame)
		if err != nil {
			p.t.Fatal(err)
		}
		raw = string(content)
	}
	if err := p.Write(p.t.Context(), websocket.MessageText, []byte(raw)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) say(id, text string) {
	p.t.Helper()
	p.send(api.Frame{Kind: api.FrameMessage, ID: id, Message: &api.Message{Text: text}})
}

// next returns the next frame, or why there is none.
func (p *peer) next() (api.Frame, error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 20*time.Second)
	defer cancel()
	kind, raw, err := p.Read(ctx)
	if err != nil {
		return api.Frame{}, err
	}
	var f api.Frame
	if err := json.Unmarshal(raw, &f); err != nil || kind != websocket.MessageText {
		p.t.Fatalf("no frame: %v %v in %s", err, kind, raw)
	}
	return f, nil
}

// want returns the next frame, which is of a kind and about another one.
func (p *peer) want(kind api.FrameKind, id string) api.Frame {
	p.t.Helper()
	f, err := p.next()
	if err != nil {
		p.t.Fatalf("the connection ended before %s: %v", kind, err)
	}
	if f.Kind != kind || f.ID != id {
		p.t.Fatalf("frame is %+v, want %s about %q; error %+v", f, kind, id, f.Error)
	}
	return f
}

// refused wants an error about a frame.
func (p *peer) refused(id string, kind chela.Kind) {
	p.t.Helper()
	if f := p.want(api.FrameError, id); f.Error == nil || f.Error.Kind != kind || f.Error.Message == "" || !strings.HasPrefix(f.Error.RequestID, "req_") {
		p.t.Errorf("error is %+v, want %s", f.Error, kind)
	}
}

// until reads events up to the first of a kind.
func (p *peer) until(kind chela.EventKind) (events []chela.Event) {
	p.t.Helper()
	for {
		e := p.want(api.FrameEvent, "").Event
		events = append(events, *e)
		if e.Kind == kind {
			return events
		}
	}
}

// closed wants the connection to be closed with a status, whatever comes before.
func (p *peer) closed(status websocket.StatusCode) {
	p.t.Helper()
	for {
		if _, err := p.next(); err != nil {
			if got := websocket.CloseStatus(err); got != status {
				p.t.Errorf("closed with %v, want %v: %v", got, status, err)
			}
			return
		}
	}
}

func kindsOf(events []chela.Event) (kinds []chela.EventKind) {
	for _, e := range events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// TestTalk says something, and hears what becomes of it.
func TestTalk(t *testing.T) {
	t.Parallel()
	d := run(t)
	cookie, _ := d.login(t, chatSecret)
	for name, c := range map[string]call{
		"a token":    {secret: chatSecret},
		"a page":     {header: map[string]string{"Cookie": cookie.String(), "Origin": d.url}},
		"the socket": {socket: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := d.dial(t, c)
			p.send(api.Frame{Kind: api.FrameSubscribe, ID: "s"})
			if at := p.want(api.FrameSubscribe, "s").Filter.After; at == "" {
				t.Error("it is not told where the events begin")
			}
			p.say("m", "hi")
			receipt := p.want(api.FrameReceipt, "m").Receipt
			events := p.until(chela.EventTurnFinished)
			want := []chela.EventKind{
				chela.EventEntryAppended, chela.EventTurnStarted, chela.EventTextDelta, chela.EventEntryAppended, chela.EventTurnFinished,
			}
			if diff := cmp.Diff(want, kindsOf(events)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			for _, e := range events {
				if e.Turn != receipt.Turn || e.Kind.Durable() != (e.Cursor != "") {
					t.Errorf("event of %s is %+v", receipt.Turn, e)
				}
			}
			p.say("again", "hi")
			if other := p.want(api.FrameReceipt, "again").Receipt; other.Duplicate || other.Turn == receipt.Turn {
				t.Errorf("a second message is taken for the first: %+v", other)
			}
			if err := p.Close(websocket.StatusNormalClosure, ""); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTalkWhileAMessageIsAccepted: what happens elsewhere is told meanwhile, and
// the events of its turn only after the receipt.
func TestTalkWhileAMessageIsAccepted(t *testing.T) {
	t.Parallel()
	d := run(t)
	p := d.dial(t, call{secret: chatSecret})
	p.send(api.Frame{Kind: api.FrameSubscribe, ID: "s"})
	p.want(api.FrameSubscribe, "s")
	const own, other = "agent:main:dm:ann", "agent:main:dm:bob"
	p.send(api.Frame{Kind: api.FrameMessage, ID: "m", Message: &api.Message{Session: own, Text: "takes long"}})
	<-d.accepting
	decoded[api.Receipt](t, d.do(t, call{
		method: http.MethodPost, path: "/api/messages", secret: chatSecret, body: `{"session":"` + other + `","text":"hi"}`,
	}), http.StatusAccepted)
	for _, e := range p.until(chela.EventTurnFinished) {
		if e.Session != other {
			t.Errorf("event %+v", e)
		}
	}
	d.accepting <- struct{}{}
	receipt := p.want(api.FrameReceipt, "m").Receipt
	for _, e := range p.until(chela.EventTurnFinished) {
		if e.Turn != receipt.Turn {
			t.Errorf("event %+v", e)
		}
	}
}

func TestTalkDecidesAndStops(t *testing.T) {
	t.Parallel()
	d := run(t)
	p := d.dial(t, call{secret: chatSecret})
	p.say("1", "ask")
	turn := p.want(api.FrameReceipt, "1").Receipt.Turn
	asked := decoded[api.Turn](t, d.do(t, call{path: "/api/turns/" + string(turn), secret: readSecret}), http.StatusOK)
	id := asked.Approvals[0].ID
	answer := api.Frame{Kind: api.FrameAnswer, ID: "2", Approval: id, Answer: &api.Answer{Answer: chela.AnswerOnce, By: "Ada"}}
	p.send(answer)
	if f := p.want(api.FrameAnswer, "2"); f.Approval != id {
		t.Errorf("answered: %+v", f)
	}
	p.send(answer)
	p.refused("2", chela.Conflict)
	if r := d.replies[0]; r.Caller != "token chat (tok_chat)" || r.Answer.By != "Ada" {
		t.Errorf("answered by %q for %q", r.Caller, r.Answer.By)
	}

	release := d.hold()
	defer release()
	p.say("3", "wait")
	turn = p.want(api.FrameReceipt, "3").Receipt.Turn
	cancel := api.Frame{Kind: api.FrameCancel, ID: "4", Turn: turn}
	p.send(cancel)
	if f := p.want(api.FrameCancel, "4"); f.Turn != turn {
		t.Errorf("stopped: %+v", f)
	}
	p.send(cancel)
	p.refused("4", chela.Conflict)
}

// resume subscribes to all events after a cursor. What still came of the
// subscription before is told again.
func (p *peer) resume(after chela.Cursor) {
	p.t.Helper()
	p.send(api.Frame{Kind: api.FrameSubscribe, ID: "resume", Filter: &api.Filter{After: after}})
	for {
		f, err := p.next()
		switch {
		case err != nil:
			p.t.Fatal(err)
		case f.Kind == api.FrameSubscribe && f.ID == "resume" && f.Filter.After == after:
			return
		case f.Kind != api.FrameEvent:
			p.t.Fatalf("frame is %+v", f)
		}
	}
}

// TestTalkGoesOnFromACursor changes the subscription of a connection, and comes
// back with another one, at every sort of event: each durable one is told once.
func TestTalkGoesOnFromACursor(t *testing.T) {
	t.Parallel()
	d := run(t)
	at, err := d.last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := d.dial(t, call{secret: readSecret})
	p.resume(at)
	seen := []chela.Cursor{at}
	read := func() {
		e := p.want(api.FrameEvent, "").Event
		if e.Kind.Durable() {
			at = e.Cursor
			seen = append(seen, at)
		}
	}
	for i := range 40 {
		d.say(t, "hi")
		for range i % 7 {
			read()
		}
		if i%2 == 0 {
			_ = p.CloseNow()
			p = d.dial(t, call{secret: readSecret})
		}
		p.resume(at)
	}
	last, err := d.last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for at != last {
		read()
	}
	var want []chela.Cursor
	for _, e := range d.home.log {
		want = append(want, e.Cursor)
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("events (-happened +told):\n%s", diff)
	}
	p.resume("0.999.0")
	if e := p.want(api.FrameEvent, "").Event; e.Kind != chela.EventResync || e.Cursor == "" {
		t.Errorf("from a cursor that never existed came %+v", e)
	}
}

func TestBadFrames(t *testing.T) {
	t.Parallel()
	d := run(t)
	p := d.dial(t, call{secret: chatSecret})
	for _, tt := range []struct {
		frame, id string
		kind      chela.Kind
	}{
		{"", "", chela.Invalid},
		{"hello", "", chela.Invalid},
		{`{"kind":"message"`, "", chela.Invalid},
		{`[]`, "", chela.Invalid},
		{`{"id":"x"}`, "x", chela.Invalid},
		{`{"id":"x","kind":"shout"}`, "x", chela.Invalid},
		{`{"kind":"event","id":"x"}`, "x", chela.Invalid},
		{`{"id":"x","kind":"message"}`, "x", chela.Invalid},
		{`{"id":"x","kind":"message","message":{}}`, "x", chela.Invalid},
		{`{"id":"x","kind":"message","message":{"txet":"hi"}}`, "x", chela.Invalid},
		{`{"id":"x","kind":"message","message":{"text":"a\u0000"}}`, "x", chela.Invalid},
		{`{"id":"x","kind":"message","message":{"text":"hi","agent":"nobody"}}`, "x", chela.NotFound},
		{`{"id":"x","kind":"message","message":{"text":"busy"}}`, "x", chela.Exhausted},
		{`{"id":"x","kind":"message","message":{"text":"fail"}}`, "x", chela.Internal},
		{`{"id":"x","kind":"answer","approval":"a"}`, "x", chela.Invalid},
		{`{"id":"x","kind":"answer","approval":"a","answer":{"answer":"once"}}`, "x", chela.NotFound},
		{`{"id":"x","kind":"cancel"}`, "x", chela.Invalid},
		{`{"id":"x","kind":"cancel","turn":"t"}`, "x", chela.NotFound},
		{`{"id":"x","kind":"subscribe","filter":{"session":"x"}}`, "x", chela.Invalid},
		{`{"id":"x","kind":"subscribe","filter":{"kinds":["x"]}}`, "x", chela.Invalid},
		{`{"id":"x","kind":"subscribe","filter":{"after":"x"}}`, "x", chela.Invalid},
		{strings.Repeat("[", 20_000), "", chela.Invalid},
	} {
		p.send(tt.frame)
		p.refused(tt.id, tt.kind)
	}
	if !strings.Contains(d.log.String(), "disk on fire") {
		t.Error("the log does not say what went wrong")
	}
	p.say("still", "there")
	p.want(api.FrameReceipt, "still")
	if n := len(d.inbound); n != 1 {
		t.Errorf("%d messages were accepted", n)
	}
}

// TestTalkIsClosed ends a talk in every way that is told to the client.
func TestTalkIsClosed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		do     func(d *daemon, p *peer)
		status websocket.StatusCode
	}{
		"shutdown": {func(d *daemon, p *peer) {
			if err := d.stop(); err != nil {
				p.t.Error(err)
			}
		}, websocket.StatusGoingAway},
		"revoked": {func(d *daemon, _ *peer) { d.revoke(chatSecret) }, websocket.StatusPolicyViolation},
		"binary": {func(_ *daemon, p *peer) {
			if err := p.Write(p.t.Context(), websocket.MessageBinary, []byte(`{"kind":"subscribe"}`)); err != nil {
				p.t.Error(err)
			}
		}, websocket.StatusUnsupportedData},
		"panic": {func(_ *daemon, p *peer) { p.say("", "boom") }, websocket.StatusInternalError},
		"oversize": {func(_ *daemon, p *peer) {
			_ = p.Write(p.t.Context(), websocket.MessageText, []byte(strings.Repeat(" ", api.MaxBatch+1))) // may be cut off before its end
		}, websocket.StatusMessageTooBig},
		"the client": {func(_ *daemon, p *peer) {
			if err := p.Close(websocket.StatusNormalClosure, "bye"); err != nil {
				p.t.Error(err)
			}
		}, websocket.StatusNormalClosure},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := run(t, func(c *gateway.Config) { c.Times = edge.Times{Review: 20 * time.Millisecond} })
			p := d.dial(t, call{secret: chatSecret})
			p.send(api.Frame{Kind: api.FrameSubscribe})
			p.want(api.FrameSubscribe, "")
			closing := make(chan struct{})
			go func() { // waited for below
				defer close(closing)
				tt.do(d, p)
			}()
			p.closed(tt.status)
			<-closing
			began := time.Now()
			if err := d.stop(); err != nil || time.Since(began) > 3*time.Second {
				t.Errorf("stopping took %v: %v", time.Since(began), err)
			}
		})
	}
}

func TestWhoMayTalk(t *testing.T) {
	t.Parallel()
	d := run(t, func(c *gateway.Config) { c.Origins = []string{"https://listed.example"} })
	cookie, _ := d.login(t, chatSecret)
	for name, tt := range map[string]struct {
		c      call
		status int
	}{
		"nobody":                       {call{}, http.StatusUnauthorized},
		"a wrong token":                {call{secret: "secret-wrong"}, http.StatusUnauthorized},
		"a revoked token":              {call{secret: revokedSecret}, http.StatusUnauthorized},
		"a wrong cookie":               {call{header: map[string]string{"Cookie": api.CookieName + "=x", "Origin": d.url}}, http.StatusUnauthorized},
		"a cookie without its page":    {call{header: map[string]string{"Cookie": cookie.String()}}, http.StatusForbidden},
		"a cookie from another page":   {call{header: map[string]string{"Cookie": cookie.String(), "Origin": "https://evil.example"}}, http.StatusForbidden},
		"a cookie from a listed page":  {call{header: map[string]string{"Cookie": cookie.String(), "Origin": "https://listed.example"}}, http.StatusForbidden},
		"a cookie from no page at all": {call{header: map[string]string{"Cookie": cookie.String(), "Origin": "null"}}, http.StatusForbidden},
		"a token from another page":    {call{secret: chatSecret, header: map[string]string{"Origin": "https://evil.example"}}, http.StatusForbidden},
		"a token from a listed page":   {call{secret: chatSecret, header: map[string]string{"Origin": "https://listed.example"}}, http.StatusSwitchingProtocols},
		"a narrow token":               {call{secret: readSecret}, http.StatusSwitchingProtocols},
	} {
		if _, status, err := d.tryDial(t, tt.c); status != tt.status {
			t.Errorf("%s: %d, want %d: %v", name, status, tt.status, err)
		}
	}

	p := d.dial(t, call{secret: readSecret})
	p.say("1", "hi")
	p.refused("1", chela.Denied)
	p.send(`{"kind":"cancel","id":"2","turn":"t"}`)
	p.refused("2", chela.Denied)
	p.send(`{"kind":"answer","id":"3","approval":"a","answer":{"answer":"once"}}`)
	p.refused("3", chela.Denied)
	p.send(`{"kind":"subscribe","id":"4"}`)
	p.want(api.FrameSubscribe, "4")
	d.say(t, "hi")
	p.until(chela.EventTurnFinished)
}

func TestTalkIsMetered(t *testing.T) {
	t.Parallel()
	d := run(t, func(c *gateway.Config) { c.MessagesPerMinute = 2 })
	p := d.dial(t, call{secret: chatSecret})
	p.say("1", "hi")
	p.want(api.FrameReceipt, "1")
	d.say(t, "hi")
	p.say("2", "hi")
	p.refused("2", chela.Exhausted)
}

func TestHandshakesAreRefusedAsAnyRequest(t *testing.T) {
	t.Parallel()
	d := run(t)
	for name, tt := range map[string]struct {
		header map[string]string
		status int
	}{
		"no upgrade":  {nil, http.StatusUpgradeRequired},
		"old version": {map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "8"}, http.StatusBadRequest},
		"no key":      {map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}, http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			d.do(t, call{path: "/api/ws", secret: readSecret, header: tt.header}).refused(t, tt.status, chela.Invalid)
		})
	}
}
