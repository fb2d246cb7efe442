package event_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/platform/event"
)

// A memory is a log that other processes may write to as well.
type memory struct {
	mu     sync.Mutex
	events []chela.Event // guarded by mu; the first one only marks the beginning
	oldest int           // guarded by mu; the first that is kept
}

func newMemory() *memory {
	return &memory{events: []chela.Event{{Cursor: chela.NewCursor(0, 1, 0)}}}
}

// commit appends an event and returns it with its cursor.
func (m *memory) commit(key chela.SessionKey, text string) chela.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := chela.Event{
		Kind: chela.EventEntryAppended, Session: key, Text: text,
		Cursor: chela.NewCursor(0, int64(len(m.events)+1), 0),
	}
	m.events = append(m.events, e)
	return e
}

func (m *memory) read(_ context.Context, after chela.Cursor, key chela.SessionKey, limit int) ([]chela.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, row, _, err := after.Parts()
	if err != nil {
		return nil, err
	}
	if row < int64(m.oldest) || row > int64(len(m.events)) {
		return nil, chela.E(chela.NotFound, "there is no such event")
	}
	var page []chela.Event
	for _, e := range m.events[row:] {
		if (key == "" || e.Session == key) && len(page) < limit {
			page = append(page, e)
		}
	}
	return page, nil
}

func (m *memory) last(context.Context) (chela.Cursor, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.events[len(m.events)-1].Cursor, nil
}

// stream runs a stream over a log until t ends.
func stream(t *testing.T, log *memory) (*event.Bus, *event.Stream) {
	t.Helper()
	bus := &event.Bus{}
	s := event.NewStream(event.Config{Bus: bus, Log: slog.New(slog.DiscardHandler), Read: log.read, Last: log.last})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }() // the cleanup waits for it
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return bus, s
}

func subscribe(t *testing.T, s *event.Stream, f event.Filter) *event.Subscription {
	t.Helper()
	r, err := s.Subscribe(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func heard(t *testing.T, r *event.Subscription, n int) []string {
	t.Helper()
	var got []string
	for range n {
		e, ok := r.Next(t.Context())
		if !ok {
			t.Fatalf("the stream ended after %q", got)
		}
		got = append(got, e.Text)
	}
	return got
}

func TestReadersCatchUpAndGoOn(t *testing.T) {
	t.Parallel()
	log := newMemory()
	begin, _ := log.last(t.Context())
	log.commit("a", "1")
	log.commit("b", "2")
	bus, s := stream(t, log)
	all, mine := subscribe(t, s, event.Filter{After: begin}), subscribe(t, s, event.Filter{Session: "a", After: begin})
	late := subscribe(t, s, event.Filter{})
	if late.Cursor() != chela.NewCursor(0, 3, 0) {
		t.Errorf("a reader from now on is at %s", late.Cursor())
	}
	got := heard(t, all, 2)
	bus.Emit(log.commit("a", "3"))
	bus.Emit(chela.Event{Kind: chela.EventTextDelta, Session: "a", Text: "hint"})
	bus.Emit(log.commit("b", "4"))
	got = append(got, heard(t, all, 2)...)
	if diff := cmp.Diff([]string{"1", "2", "3"}, got[:3]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"3", "hint", "4"}, heard(t, late, 3)); diff != "" {
		t.Errorf("a reader from now on (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"1", "3"}, heard(t, mine, 2)); diff != "" {
		t.Errorf("of one session (-want +got)\n%s", diff)
	}
}

func TestOtherProcessesAreHeard(t *testing.T) {
	t.Parallel()
	log := newMemory()
	_, s := stream(t, log)
	r := subscribe(t, s, event.Filter{})
	log.commit("a", "from elsewhere") // nobody emits it here
	if diff := cmp.Diff([]string{"from elsewhere"}, heard(t, r, 1)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	log := newMemory()
	bus, s := stream(t, log)
	kinds := subscribe(t, s, event.Filter{Kinds: []chela.EventKind{chela.EventNotice}})
	thread := subscribe(t, s, event.Filter{Session: "a", Thread: "thr_1"})
	bus.Emit(chela.Event{Kind: chela.EventTextDelta, Session: "a", Thread: "thr_2", Text: "1"})
	bus.Emit(chela.Event{Kind: chela.EventNotice, Session: "a", Thread: "thr_1", Text: "2"})
	bus.Emit(chela.Event{Kind: chela.EventTextDelta, Session: "a", Thread: "thr_1", Text: "3"})
	bus.Emit(chela.Event{Kind: chela.EventNotice, Text: "4"})
	if diff := cmp.Diff([]string{"2", "4"}, heard(t, kinds, 2)); diff != "" {
		t.Errorf("kinds (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"2", "3"}, heard(t, thread, 2)); diff != "" {
		t.Errorf("thread (-want +got)\n%s", diff)
	}
}

// TestCursorMovesPastWhatIsFilteredOut, so that a reader who rarely hears
// something can come back after a long time.
func TestCursorMovesPastWhatIsFilteredOut(t *testing.T) {
	t.Parallel()
	log := newMemory()
	bus, s := stream(t, log)
	mine, all := subscribe(t, s, event.Filter{Session: "a"}), subscribe(t, s, event.Filter{})
	last := log.commit("b", "1")
	bus.Emit(last)
	heard(t, all, 1)
	if got := mine.Cursor(); got != last.Cursor {
		t.Errorf("the reader is at %s, want %s", got, last.Cursor)
	}
	own := log.commit("a", "2")
	bus.Emit(own)
	heard(t, all, 1)
	if got := mine.Cursor(); got != last.Cursor {
		t.Errorf("a reader that has not read its event is at %s, want %s", got, last.Cursor)
	}
	if diff := cmp.Diff([]string{"2"}, heard(t, mine, 1)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestForgottenCursorsAreToldToReadAfresh(t *testing.T) {
	t.Parallel()
	log := newMemory()
	first := log.commit("a", "1")
	log.commit("a", "2")
	log.oldest = 3
	bus, s := stream(t, log)
	for _, after := range []chela.Cursor{first.Cursor, chela.NewCursor(0, 99, 0)} {
		r := subscribe(t, s, event.Filter{Session: "a", After: after})
		e, ok := r.Next(t.Context())
		if !ok || e.Kind != chela.EventResync || e.Cursor == "" {
			t.Fatalf("after %s came %v, %v", after, e, ok)
		}
		bus.Emit(log.commit("a", "new"))
		if diff := cmp.Diff([]string{"new"}, heard(t, r, 1)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	if _, err := s.Subscribe(t.Context(), event.Filter{After: "x"}); chela.KindOf(err) != chela.Invalid {
		t.Errorf("a broken cursor: %v", err)
	}
}

func TestSlowReadersAreCutOffAndCatchUp(t *testing.T) {
	t.Parallel()
	log := newMemory()
	bus, s := stream(t, log)
	slow, quick := subscribe(t, s, event.Filter{}), subscribe(t, s, event.Filter{})
	const many = queue + 10
	for i := range many {
		bus.Emit(log.commit("a", fmt.Sprint(i)))
		heard(t, quick, 1)
	}
	n := 0
	for {
		if _, ok := slow.Next(t.Context()); !ok {
			break
		}
		n++
	}
	if n != queue {
		t.Fatalf("the slow reader got %d events before it was cut off, want %d", n, queue)
	}
	again := subscribe(t, s, event.Filter{After: slow.Cursor()})
	if got := heard(t, again, many-n); got[0] != fmt.Sprint(n) {
		t.Errorf("it went on with %s, want %d", got[0], n)
	}
}

// TestNothingIsLostOverReconnects reads with reconnects at random moments while
// many sessions commit.
func TestNothingIsLostOverReconnects(t *testing.T) {
	t.Parallel()
	const sessions, each = 8, 150
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	log := newMemory()
	at, _ := log.last(t.Context())
	bus, s := stream(t, log)
	var wg sync.WaitGroup
	for i := range sessions {
		wg.Go(func() {
			key := chela.SessionKey(fmt.Sprint(i))
			for n := range each {
				e := log.commit(key, fmt.Sprint(n))
				if n%3 > 0 { // the others are another process's
					bus.Emit(e)
				}
			}
		})
	}
	next := map[chela.SessionKey]int{}
	for total := 0; total < sessions*each; {
		r, err := s.Subscribe(t.Context(), event.Filter{After: at})
		if err != nil {
			t.Fatal(err)
		}
		for range 1 + random.IntN(40) {
			if total == sessions*each {
				break
			}
			e, ok := r.Next(t.Context())
			if !ok {
				break
			}
			if e.Cursor.Compare(at) <= 0 || e.Text != fmt.Sprint(next[e.Session]) {
				t.Fatalf("after %s came %v of session %s, want its %d", at, e, e.Session, next[e.Session])
			}
			at = e.Cursor
			next[e.Session]++
			total++
		}
		if r.Cursor() != at {
			t.Fatalf("the reader says that it is at %s, and was told up to %s", r.Cursor(), at)
		}
		r.Close()
	}
	wg.Wait()
}

func TestStreamEnds(t *testing.T) {
	t.Parallel()
	log := newMemory()
	s := event.NewStream(event.Config{Bus: &event.Bus{}, Log: slog.New(slog.DiscardHandler), Read: log.read, Last: log.last})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }() // waited for below
	r, err := s.Subscribe(t.Context(), event.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if e, ok := r.Next(t.Context()); ok {
		t.Errorf("%v came after the end", e)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := s.Subscribe(t.Context(), event.Filter{}); chela.KindOf(err) != chela.Unavailable {
		t.Errorf("after the end: %v", err)
	}
}

func TestReadersComeAndGo(t *testing.T) {
	t.Parallel()
	log := newMemory()
	bus, s := stream(t, log)
	for i := range 20 {
		r, err := s.Subscribe(t.Context(), event.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		bus.Emit(log.commit("a", fmt.Sprint(i)))
		if e, ok := r.Next(ctx); !ok || e.Text != fmt.Sprint(i) {
			t.Fatalf("reader %d got %v, %v", i, e, ok)
		}
		cancel()
		r.Close()
		r.Close()
	}
}

// TestReads: a reader counts for the events that pass its filter, until it is closed.
func TestReads(t *testing.T) {
	t.Parallel()
	_, s := stream(t, newMemory())
	notice := chela.Event{Kind: chela.EventNotice, Session: "agent:main:main"}
	if s.Reads(notice) {
		t.Error("a stream without readers has one")
	}
	for _, f := range []event.Filter{{Session: "agent:main:dm:x"}, {Thread: "thr_1"}, {Kinds: []chela.EventKind{chela.EventTextDelta}}} {
		subscribe(t, s, f)
		if s.Reads(notice) {
			t.Errorf("a reader of %+v gets the notice", f)
		}
	}
	for _, f := range []event.Filter{{}, {Session: notice.Session}, {Kinds: []chela.EventKind{chela.EventNotice}}} {
		r, err := s.Subscribe(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		if !s.Reads(notice) {
			t.Errorf("a reader of %+v does not get the notice", f)
		}
		r.Close()
		if s.Reads(notice) {
			t.Errorf("a closed reader of %+v gets the notice", f)
		}
	}
}
