package drive_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"chela"
	"chela/bench/load/drive"
)

// A teller tells events as a chela does: each message causes three, whose
// cursors count from 1, and a hint.
type teller struct {
	mu      sync.Mutex
	changed chan struct{} // closed when there are more
	events  []chela.Event
	readers int

	// tell says which of its events a reader is told at a place, and whether
	// its connection is cut then. Nil tells the one at that place.
	tell func(reader, n int) (places []int, cut bool)
}

func newTeller(tell func(reader, n int) ([]int, bool)) *teller {
	return &teller{changed: make(chan struct{}), tell: tell}
}

func (t *teller) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/api/messages":
		t.accept(w, r)
	case "/api/events":
		t.follow(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (t *teller) accept(w http.ResponseWriter, r *http.Request) {
	var m struct {
		Session, Text string
		MessageID     string `json:"message_id"`
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil || m.Session == "" || m.Text == "" || m.MessageID == "" {
		http.Error(w, "not a message", http.StatusBadRequest)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	turn := chela.TurnID(fmt.Sprint("turn_", len(t.events)))
	for _, kind := range []chela.EventKind{chela.EventTurnStarted, chela.EventEntryAppended, chela.EventTextDelta, chela.EventTurnFinished} {
		e := chela.Event{Kind: kind, Turn: turn, At: time.Now()}
		if kind.Durable() {
			e.Cursor = chela.Cursor(strconv.Itoa(len(t.events) + 1))
		}
		t.events = append(t.events, e)
	}
	close(t.changed)
	t.changed = make(chan struct{})
	w.WriteHeader(http.StatusAccepted)
	fmt.Fprintf(w, `{"turn":%q}`, turn)
}

func (t *teller) follow(w http.ResponseWriter, r *http.Request) {
	next, _ := strconv.Atoi(r.Header.Get("Last-Event-ID")) // without one 0, the first
	t.mu.Lock()
	reader := t.readers
	t.readers++
	t.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	http.NewResponseController(w).Flush()
	for {
		t.mu.Lock()
		events, changed := t.events, t.changed
		t.mu.Unlock()
		for ; next < len(events); next++ {
			places, cut := []int{next}, false
			if t.tell != nil {
				places, cut = t.tell(reader, next)
			}
			for _, at := range places {
				if at < len(events) {
					send(w, events[at])
				}
			}
			if cut {
				return
			}
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

func send(w http.ResponseWriter, e chela.Event) {
	if e.Cursor != "" {
		fmt.Fprintf(w, "id: %s\n", e.Cursor)
	}
	raw, _ := json.Marshal(e) // an event can always be JSON
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.Kind, raw)
	http.NewResponseController(w).Flush()
}

// all are three readers of three messages, of which the first has the events 0
// to 3, the second 4 to 7, and the third 8 to 11.
var all = drive.WatchReport{Readers: 3, Messages: 3, Events: 9, Hints: 9}

func TestWatch(t *testing.T) {
	t.Parallel()
	// ofSecond changes what the second reader is told at one place; the fourth
	// is the one who comes after it all, or the second again.
	ofSecond := func(at int, cut bool, places ...int) func(int, int) ([]int, bool) {
		return func(reader, n int) ([]int, bool) {
			if reader == 1 && n == at {
				return places, cut
			}
			return []int{n}, false
		}
	}
	for _, tt := range []struct {
		name   string
		tell   func(reader, n int) ([]int, bool)
		change func(*drive.WatchReport)
	}{
		{"all is well", nil, func(*drive.WatchReport) {}},
		{"one is missing", ofSecond(5, false), func(r *drive.WatchReport) { r.Missing = 1 }},
		{"one comes twice", ofSecond(5, false, 5, 5), func(r *drive.WatchReport) { r.Duplicate = 1 }},
		{"one comes late", ofSecond(5, false, 7, 5), func(r *drive.WatchReport) { r.Unordered, r.Duplicate = 1, 1 }},
		{"a hint is missing", ofSecond(6, false), func(r *drive.WatchReport) { r.Hints-- }},
		{"cut off", ofSecond(5, true, 5), func(r *drive.WatchReport) { r.Reconnects = 1 }},
		{"cut off before", ofSecond(5, true), func(r *drive.WatchReport) { r.Reconnects = 1 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := watch(t, newTeller(tt.tell), time.Minute).Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want := all
			tt.change(&want)
			ignore := cmpopts.IgnoreFields(drive.WatchReport{}, "PerSecond", "Took")
			if diff := cmp.Diff(want, *got, ignore); diff != "" || got.PerSecond <= 0 || got.Took.P50 <= 0 {
				t.Errorf("took %+v, report (-want +got):\n%s", got.Took, diff)
			}
		})
	}
}

func watch(t *testing.T, h http.Handler, grace time.Duration) drive.Watch {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return drive.Watch{
		Target: drive.Target{URL: server.URL + "/v1/"}, Session: "agent:main:dm:x", Readers: 3,
		Rate: 100, Duration: 25 * time.Millisecond, Grace: grace, Now: time.Now,
	}
}

// TestWatchWithoutEnd shows that a reader who never sees the end is waited for
// no longer than the grace, and is told about.
func TestWatchWithoutEnd(t *testing.T) {
	t.Parallel()
	h := newTeller(func(reader, n int) ([]int, bool) {
		if reader == 1 && n > 5 {
			return nil, false
		}
		return []int{n}, false
	})
	r, err := watch(t, h, time.Second).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.Missing != 4 {
		t.Errorf("report %+v", r)
	}
}

func TestWatchRefused(t *testing.T) {
	t.Parallel()
	for name, refused := range map[string]string{"no events": "/api/events", "no messages": "/api/messages"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := newTeller(nil)
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == refused {
					http.Error(w, "no", http.StatusForbidden)
				} else {
					all.ServeHTTP(w, r)
				}
			})
			if _, err := watch(t, h, time.Minute).Run(t.Context()); chela.KindOf(err) != chela.Unavailable {
				t.Errorf("error %v", err)
			}
		})
	}
}
