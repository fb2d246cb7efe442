package main_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/store"
)

// busy is what the model plays: turns that last until a gate is opened, the model
// is done, a person answers, or a result is brought.
const busy = `
past_end: echo
turns:
  - when: /^work/
    steps:
      - calls: [{tool: http, args: {method: GET, url: "GATES/{{user}}"}}, {tool: write_file, args: {path: "{{user}}", content: done}}]
      - {text: "worked"}
  - {when: /^talk/, steps: [{text: "talked", delay_ms: 400}]}
  - when: /^ask/
    steps:
      - calls: [{tool: shell, args: {command: "touch asked"}}]
      - {text: "asked"}
  - when: /^offer/
    steps: [{calls: [{tool: theirs, args: {}}]}]
`

// gates are where the calls of turns wait, each until it is opened.
type gates struct {
	*httptest.Server
	mu    sync.Mutex
	gates map[string]*latch // by path; guarded by mu
}

// A latch is passed once somebody has come to it and it was opened.
type latch struct{ come, open chan struct{} }

func newGates(t *testing.T) *gates {
	t.Helper()
	g := &gates{gates: map[string]*latch{}}
	g.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		l := g.at(r.URL.Path)
		close(l.come)
		select {
		case <-l.open:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(g.Close)
	return g
}

func (g *gates) at(path string) *latch {
	g.mu.Lock()
	defer g.mu.Unlock()
	l, ok := g.gates[path]
	if !ok {
		l = &latch{come: make(chan struct{}), open: make(chan struct{})}
		g.gates[path] = l
	}
	return l
}

// busyDaemon starts a daemon whose turns wait at gates.
func busyDaemon(t *testing.T) (*daemon, *gates) {
	t.Helper()
	g := newGates(t)
	path := filepath.Join(t.TempDir(), "busy.yaml")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(busy, "GATES", g.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDaemon(t, "", "CHELA_MODEL=script/"+path, "CHELA_TOOLS_HTTP_ALLOW=127.0.0.1/32", "CHELA_LANES_MAIN=256",
		"CHELA_QUEUE_CHANNELS_HTTP_DEBOUNCE_MS=150")
	d.allow("http")
	d.configure(asksForCommands)
	d.begin()
	return d, g
}

// A crowd is somebody who says several things in one session.
type crowd struct {
	*daemon
	gates *gates
	key   chela.SessionKey
	mode  chela.QueueMode

	base api.Message // what all messages have in common
	sent []accepted
}

// An accepted message is one, and what it is called in the home.
type accepted struct {
	api.Message
	id chela.InboxID
}

// say sends a message and reports whether it was accepted.
func (c *crowd) say(text string, mode chela.QueueMode) (api.Receipt, bool) {
	c.t.Helper()
	m := c.base
	m.Session, m.Text, m.Mode, m.MessageID = c.key, text, mode, fmt.Sprintf("%s/%s", c.key, text)
	var r api.Receipt
	status, err := c.send(c.request(c.t.Context(), http.MethodPost, "/api/messages", m), &r)
	if status == http.StatusTooManyRequests {
		return r, false
	}
	if err != nil || status != http.StatusAccepted {
		c.t.Fatalf("%s got %d, %v\n%s", text, status, err, c.stderr())
	}
	c.sent = append(c.sent, accepted{m, r.Inbox})
	return r, true
}

// first says what makes the session busy.
func (c *crowd) first(text string) chela.TurnID {
	c.t.Helper()
	r, _ := c.say(text, "")
	return r.Turn
}

// work makes the session busy until release.
func (c *crowd) work() chela.TurnID {
	c.t.Helper()
	turn := c.first(c.workText())
	select {
	case <-c.gates.at("/" + c.workText()).come:
	case <-time.After(patience):
		c.t.Fatalf("no call comes to the gate\n%s", c.stderr())
	}
	return turn
}

func (c *crowd) workText() string { return "work-" + strings.ReplaceAll(string(c.key), ":", "-") }

func (c *crowd) release() { close(c.gates.at("/" + c.workText()).open) }

// follow says things in the mode of the crowd. Where that is to interrupt, only
// the last one does: what an interrupted turn came to before would be chance.
func (c *crowd) follow(texts ...string) (taken int) {
	c.t.Helper()
	for i, text := range texts {
		mode := c.mode
		if mode == chela.QueueInterrupt && i < len(texts)-1 {
			mode = chela.QueueCollect
		}
		if _, ok := c.say(text, mode); ok {
			taken++
		}
	}
	return taken
}

// rest waits until every message that was accepted is taken or dropped, and the
// turns have ended.
func (c *crowd) rest() {
	c.t.Helper()
	for _, m := range c.sent {
		var r api.Receipt
		c.until(m.Text+" is taken or dropped", func() bool {
			status, err := c.send(c.request(c.t.Context(), http.MethodPost, "/api/messages", m.Message), &r)
			return err == nil && status == http.StatusAccepted && (r.Turn != "" || r.Dropped)
		})
		if r.Turn != "" {
			c.turn(r.Turn)
		}
	}
}

// outcome writes what became of a session: the messages of each turn, joined by
// "+", with "!" behind a turn that was interrupted and "~" before one that tells of
// dropped messages; of other threads behind "/". It checks that each message that
// was accepted is in one turn, or dropped and told of.
func (c *crowd) outcome() string {
	c.t.Helper()
	var threads []string
	c.look(func(s *store.Store) error {
		return s.Read(c.t.Context(), func(r *store.Read) error {
			all, err := r.Threads(c.t.Context(), c.key)
			for _, t := range all {
				text, err := c.said(r, t)
				if err != nil {
					return err
				}
				threads = append(threads, text)
			}
			for _, m := range c.sent {
				c.count(r, m)
			}
			return err
		})
	})
	return strings.ReplaceAll(strings.Join(threads, " / "), c.workText(), "work")
}

// said writes the turns of a thread.
func (c *crowd) said(r *store.Read, t chela.Thread) (string, error) {
	turns, err := r.Turns(c.t.Context(), t.ID)
	var words []string
	for _, turn := range turns {
		entries, err := r.TurnEntries(c.t.Context(), turn.ID)
		if err != nil {
			return "", err
		}
		var said []string
		note := ""
		for _, e := range entries {
			switch e.Kind() {
			case chela.EntryUser:
				said = append(said, e.Text())
			case chela.EntryNote:
				note = "~"
			}
		}
		word := note + strings.Join(said, "+")
		if turn.State == chela.TurnInterrupted {
			word += "!"
		}
		words = append(words, word)
	}
	return strings.Join(words, " | "), err
}

// count fails unless a message is in exactly one entry of the turn that took it,
// or dropped, and in the note of the turn that tells of it if it is to be told.
func (c *crowd) count(r *store.Read, sent accepted) {
	c.t.Helper()
	ctx := c.t.Context()
	m, err := r.Message(ctx, sent.id)
	if err != nil {
		c.t.Fatal(err)
	}
	users, notes := 0, 0
	if m.Turn != "" {
		entries, err := r.TurnEntries(ctx, m.Turn)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, e := range entries {
			if e.User().Inbox == m.ID {
				users++
			}
			if e.Kind() == chela.EntryNote && strings.Contains(e.Text(), "\n- "+m.Text) {
				notes++
			}
		}
	}
	taken := m.State == chela.InboxTaken && users == 1
	told := m.State == chela.InboxDropped && users == 0 && (m.Dropped == chela.DropOld || notes == 1)
	if !taken && !told {
		c.t.Errorf("message %s is %s (%s), in %d entries and %d notes of turn %q", m.Text, m.State, m.Dropped, users, notes, m.Turn)
	}
}
