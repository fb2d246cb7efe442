package main_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/store"
)

// A reader follows the events of a daemon, loses the connection again and again,
// and comes back with the id of what it saw last.
type reader struct {
	d       *daemon
	random  *rand.Rand
	session chela.SessionKey // empty: all

	first, last chela.Cursor  // ids that it was told
	seen        []chela.Event // the durable ones
	count       atomic.Int64  // len(seen), for other goroutines
	hints       int
	came        int // how often it was connected

	began  context.Context // ends when it knows where it begins, or never will
	begin  context.CancelFunc
	target chan string // gets the id that it shall come to
}

func newReader(d *daemon, random *rand.Rand, session chela.SessionKey) *reader {
	r := &reader{d: d, random: rand.New(rand.NewPCG(random.Uint64(), 0)), session: session, target: make(chan string, 1)}
	r.began, r.begin = context.WithCancel(context.Background())
	return r
}

// follow reads until it has come to its target.
func (r *reader) follow() error {
	defer r.begin()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	target := ""
	for target == "" || r.last.Compare(chela.Cursor(target)) < 0 {
		if err := r.connect(ctx); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("a reader of %q is at %s and does not come to %s: %w", r.session, r.last, target, err)
		}
		select {
		case target = <-r.target:
		default:
		}
	}
	return nil
}

// connect reads until the connection is lost, at the latest at a random moment.
// It is an error if something comes that should not.
func (r *reader) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(20+r.random.IntN(300))*time.Millisecond)
	defer cancel()
	path := "/api/events"
	if r.session != "" {
		path += "?session=" + url.QueryEscape(string(r.session))
	}
	req := r.d.request(ctx, http.MethodGet, path, nil)
	if r.last != "" {
		req.Header.Set("Last-Event-ID", string(r.last))
	}
	res, err := r.d.client.Do(req)
	if err != nil {
		return r.away()
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusServiceUnavailable {
		return r.away()
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("a reader of %q at %s got %d", r.session, r.last, res.StatusCode)
	}
	r.came++
	return r.read(res.Body)
}

// away waits a little: the daemon is not there.
func (r *reader) away() error {
	pause(r.random, 20*time.Millisecond)
	return nil
}

// read reads server-sent events as browsers do: an id counts once an empty line
// follows, and an event that was cut off is none.
func (r *reader) read(body io.Reader) error {
	var id, kind, content string
	for lines := bufio.NewReader(body); ; {
		text, err := lines.ReadString('\n')
		if err != nil {
			return nil // the connection is lost
		}
		field, value, _ := strings.Cut(strings.TrimSuffix(text, "\n"), ": ")
		switch field {
		case "id":
			id = value
		case "event":
			kind = value
		case "data":
			content = value
		case "":
			if strings.HasPrefix(text, ":") {
				continue
			}
			if err := r.take(chela.Cursor(id), kind, content); err != nil {
				return err
			}
			kind, content = "", ""
		}
	}
}

// take takes what came with an id.
func (r *reader) take(id chela.Cursor, kind, content string) error {
	before := r.last
	if id != "" {
		r.last = id
	}
	if r.first == "" && id != "" {
		r.first = id
		r.begin()
	}
	if content == "" {
		return nil
	}
	var e chela.Event
	if err := json.Unmarshal([]byte(content), &e); err != nil {
		return fmt.Errorf("event %q: %w", content, err)
	}
	switch {
	case string(e.Kind) != kind || r.session != "" && e.Session != r.session:
		return fmt.Errorf("the event %s of a reader of %q is %s", kind, r.session, content)
	case e.Kind == chela.EventResync:
		return fmt.Errorf("a reader of %q has to read afresh after %s", r.session, before)
	case !e.Kind.Durable():
		r.hints++
		return nil
	case e.Cursor != id || e.Cursor.Compare(before) <= 0:
		return fmt.Errorf("a reader of %q got %s with id %s after %s", r.session, content, id, before)
	}
	r.seen = append(r.seen, e)
	r.count.Add(1)
	return nil
}

// events returns what the database holds for a reader.
func (r *reader) events(s *store.Store) (all []chela.Event, err error) {
	for after := r.first; ; after = all[len(all)-1].Cursor {
		page, err := s.Events(context.Background(), after, r.session, 500)
		if err != nil || len(page) == 0 {
			return all, err
		}
		all = append(all, page...)
	}
}

// TestEventsComeOnce follows what happens while the connection is lost again and
// again, and the daemon is ended and killed. Each event comes once, in order.
func TestEventsComeOnce(t *testing.T) {
	t.Parallel()
	for engine, url := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			random := chance(t)
			d := newDaemon(t, url(t), echoing(t), "CHELA_QUEUE_CAP=256")
			all := speakers(d, random, 12)
			var readers []*reader
			for _, session := range []chela.SessionKey{"", "", all[0].key, all[1].key} {
				readers = append(readers, newReader(d, random, session))
			}
			d.begin()
			var reading sync.WaitGroup
			for _, r := range readers {
				reading.Go(func() {
					if err := r.follow(); err != nil {
						t.Error(err)
					}
				})
				<-r.began.Done()
			}
			silence := speakAll(t, all)
			rounds := 4
			if *wholeTable {
				rounds = 20
			}
			for i := 0; i < rounds || i < 10*rounds && slices.ContainsFunc(readers, (*reader).hungry); i++ {
				pause(random, time.Second)
				if i%2 == 0 {
					d.signal(syscall.SIGTERM)
					d.endsWell()
				} else {
					d.kill()
				}
				d.begin()
			}
			silence()
			d.settle()
			want := wanted(d, readers)
			reading.Wait()
			for i, r := range readers {
				r.judge(t, want[i])
			}
			d.stop()
			judgeAll(t, d, all)
			complete(t, d, want[0])
		})
	}
}

// wanted returns what each reader shall have seen in the end, and tells it.
func wanted(d *daemon, readers []*reader) (want [][]chela.Event) {
	d.t.Helper()
	d.look(func(s *store.Store) error {
		for _, r := range readers {
			events, err := r.events(s)
			if err != nil {
				return err
			}
			want = append(want, events)
			r.target <- string(events[len(events)-1].Cursor)
		}
		return nil
	})
	return want
}

// enough is the number of events from which a reader's comparison has some power.
const enough = 20

// hungry reports whether a reader has seen too few events so far. A loaded machine
// spends most of a round on starting the daemon.
func (r *reader) hungry() bool { return r.count.Load() < enough }

// judge compares what a reader has seen with what happened.
func (r *reader) judge(t *testing.T, want []chela.Event) {
	t.Helper()
	t.Logf("a reader of %q saw %d events and %d hints over %d connections", r.session, len(r.seen), r.hints, r.came)
	if diff := cmp.Diff(want, r.seen); diff != "" {
		t.Errorf("a reader of %q saw (-happened +seen)\n%s", r.session, diff)
	}
	if r.came < 4 || len(want) < enough {
		t.Errorf("a reader of %q came %d times and saw %d events: that tells little", r.session, r.came, len(want))
	}
}

// complete checks that everything that came to pass in a home is among its
// events.
func complete(t *testing.T, d *daemon, events []chela.Event) {
	t.Helper()
	told := map[chela.EventKind]int{}
	for _, e := range events {
		told[e.Kind]++
	}
	entries, turns := 0, 0
	d.look(func(s *store.Store) error {
		return s.Read(t.Context(), func(r *store.Read) error {
			sessions, err := r.Sessions(t.Context(), "", 1000)
			if err != nil {
				return err
			}
			for _, session := range sessions {
				thread, err := r.Thread(t.Context(), session.Thread)
				if err != nil {
					return err
				}
				opened, err := r.Turns(t.Context(), session.Thread)
				if err != nil {
					return err
				}
				entries, turns = entries+int(thread.Seq), turns+len(opened)
			}
			return nil
		})
	})
	if told[chela.EventEntryAppended] != entries || told[chela.EventTurnStarted] != turns || told[chela.EventTurnFinished] != turns {
		t.Errorf("there are %d entries and %d turns, and the events %v", entries, turns, told)
	}
}
