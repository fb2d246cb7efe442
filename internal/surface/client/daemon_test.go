package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/client"
)

// A daemon is a home in memory behind the routes that conversations need. It
// can be ended and started again, and it can be stopped so that it answers
// nothing. Turns do what a test makes them do.
type daemon struct {
	t *testing.T

	mu       sync.Mutex
	changed  chan struct{} // closed and made anew with every change of what is below
	server   *http.Server  // nil while none runs
	listener *pipes
	events   []chela.Event // durable ones, in order
	streams  map[chan chela.Event]bool
	turns    map[chela.TurnID]chela.Turn
	receipts map[string]api.Receipt // by the id of the message
	asked    []chela.Approval
	said     []api.Message // every request with a message
	seen     []string      // Last-Event-ID of every stream

	busy     bool // messages wait
	silent   bool // nothing is answered
	cutAfter int  // messages after which a stream breaks off; 0 is never
	mute     bool // streams tell nothing
	lose     int  // answers to messages that are lost
	noCursor bool // streams do not tell where they begin
}

func newDaemon(t *testing.T) *daemon {
	d := &daemon{
		t: t, changed: make(chan struct{}), streams: map[chan chela.Event]bool{},
		turns: map[chela.TurnID]chela.Turn{}, receipts: map[string]api.Receipt{},
	}
	d.start()
	t.Cleanup(d.end)
	return d
}

// start lets the daemon answer.
func (d *daemon) start() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, api.Health{Status: "ok"}) })
	mux.HandleFunc("POST /api/messages", d.message)
	mux.HandleFunc("GET /api/events", d.stream)
	mux.HandleFunc("GET /api/turns/{id}", d.turn)
	mux.HandleFunc("GET /api/approvals", func(w http.ResponseWriter, _ *http.Request) {
		d.mu.Lock()
		defer d.mu.Unlock()
		reply(w, 200, api.Page[chela.Approval]{Items: d.asked})
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.listener = &pipes{waiting: make(chan net.Conn), closed: make(chan struct{})}
	d.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.is(&d.silent) {
			<-r.Context().Done()
			return
		}
		mux.ServeHTTP(w, r)
	})}
	go d.server.Serve(d.listener) //nolint:errcheck // ends with the server
}

// end is what SIGKILL does: all connections break.
func (d *daemon) end() {
	d.mu.Lock()
	server := d.server
	d.server = nil
	d.mu.Unlock()
	if server != nil {
		server.Close()
	}
}

// dial returns a client of the daemon, which ends with the test.
func (d *daemon) dial(t *testing.T) *client.Client {
	t.Helper()
	c, err := client.DialBy(t.Context(), testIDs(), d.connect)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func (d *daemon) connect(context.Context) (net.Conn, error) {
	d.mu.Lock()
	up, l := d.server != nil, d.listener
	d.mu.Unlock()
	if up {
		ours, theirs := net.Pipe()
		select {
		case l.waiting <- theirs:
			return ours, nil
		case <-l.closed:
		}
	}
	return nil, &net.OpError{Op: "dial", Net: "unix", Err: syscall.ECONNREFUSED}
}

// change changes the daemon and tells whoever waits for that.
func (d *daemon) change(how func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	how()
	close(d.changed)
	d.changed = make(chan struct{})
}

func (d *daemon) is(what *bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return *what
}

// emit tells an event, and keeps it if it is durable.
func (d *daemon) emit(e chela.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e.Session == "" {
		e.Session = session
	}
	if e.Kind.Durable() {
		e.Cursor = chela.NewCursor(0, int64(len(d.events)+1), 0)
		d.events = append(d.events, e)
	}
	for s := range d.streams {
		s <- e
	}
}

// move puts a turn into a state and tells the event of that.
func (d *daemon) move(id chela.TurnID, state chela.TurnState, kind chela.EventKind) {
	d.change(func() {
		t := d.turns[id]
		t.State = state
		d.turns[id] = t
	})
	d.emit(chela.Event{Kind: kind, Turn: id})
}

// open lets a turn take all that waits.
func (d *daemon) open(id chela.TurnID) {
	d.change(func() {
		d.turns[id] = chela.Turn{ID: id, Session: session, Thread: "thr_1", State: chela.TurnProcessing}
		for name, r := range d.receipts {
			if r.Turn == "" {
				r.Turn = id
				d.receipts[name] = r
			}
		}
	})
	d.emit(chela.Event{Kind: chela.EventTurnStarted, Turn: id})
}

func (d *daemon) message(w http.ResponseWriter, r *http.Request) {
	var m api.Message
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		reply(w, 400, api.ErrorBody{Error: api.Error{Kind: chela.Invalid, Message: err.Error()}})
		return
	}
	d.mu.Lock()
	d.said = append(d.said, m)
	receipt, known := d.receipts[m.MessageID]
	receipt.Duplicate = known
	if !known {
		receipt = api.Receipt{Session: m.Session, Thread: "thr_1", Inbox: "in_1"}
		d.receipts[m.MessageID] = receipt
	}
	begin, lost := !known && !d.busy, d.lose > 0
	d.lose = max(0, d.lose-1)
	d.mu.Unlock()
	if begin {
		receipt.Turn = "turn_1"
		d.open(receipt.Turn)
	}
	if lost {
		panic(http.ErrAbortHandler)
	}
	reply(w, 202, receipt)
}

func (d *daemon) turn(w http.ResponseWriter, r *http.Request) {
	wait, _ := strconv.Atoi(r.URL.Query().Get("wait_ms"))
	over := time.NewTimer(time.Duration(wait) * time.Millisecond)
	defer over.Stop()
	for {
		d.mu.Lock()
		t, ok := d.turns[chela.TurnID(r.PathValue("id"))]
		changed := d.changed
		d.mu.Unlock()
		if !ok {
			reply(w, 404, api.ErrorBody{Error: api.Error{Kind: chela.NotFound, Message: "there is no such turn"}})
			return
		}
		if t.State == chela.TurnProcessing {
			select {
			case <-changed:
				continue
			case <-over.C:
			case <-r.Context().Done():
			}
		}
		reply(w, 200, api.Turn{Turn: t})
		return
	}
}

func (d *daemon) stream(w http.ResponseWriter, r *http.Request) {
	after := chela.Cursor(r.Header.Get("Last-Event-ID"))
	mine := make(chan chela.Event, 1000)
	d.mu.Lock()
	d.seen = append(d.seen, string(after))
	last := chela.NewCursor(0, int64(len(d.events)), 0)
	for _, e := range d.events {
		if after != "" && e.Cursor.Compare(after) > 0 {
			mine <- e
		}
	}
	d.streams[mine] = true
	cut, mute, noCursor := d.cutAfter, d.mute, d.noCursor
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.streams, mine)
	}()
	if !noCursor && after == "" {
		fmt.Fprintf(w, "id: %s\n\n", last)
	}
	http.NewResponseController(w).Flush()
	for sent := 0; ; {
		select {
		case e := <-mine:
			if mute || e.Session != chela.SessionKey(r.URL.Query().Get("session")) {
				continue
			}
			raw, _ := json.Marshal(e)
			if e.Cursor != "" {
				fmt.Fprintf(w, "id: %s\n", e.Cursor)
			}
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.Kind, raw)
			http.NewResponseController(w).Flush()
			if sent++; sent == cut {
				panic(http.ErrAbortHandler)
			}
		case <-r.Context().Done():
			return
		}
	}
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", api.JSON)
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) //nolint:errcheck // who does not read it has gone
}

// pipes is a listener to connections in memory.
type pipes struct {
	waiting chan net.Conn
	once    sync.Once
	closed  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.waiting:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

const session = chela.SessionKey("agent:main:main")

func testIDs() *chela.IDs {
	return chela.NewIDs(time.Now, strings.NewReader(strings.Repeat("random", 10_000)))
}
