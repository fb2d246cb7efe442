package event_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/platform/event"
)

// queue is how many events a listener may be behind.
const queue = 4096

func all(chela.Event) bool { return true }

func texts(t *testing.T, l *event.Listener, n int) []string {
	t.Helper()
	var got []string
	for range n {
		e, ok := l.Next(t.Context())
		if !ok {
			t.Fatalf("the listener ended after %d events, want %d", len(got), n)
		}
		got = append(got, e.Text)
	}
	return got
}

// ended returns a context that has ended, to look whether something waits.
func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestListenersHearWhatTheyWant(t *testing.T) {
	t.Parallel()
	var b event.Bus
	b.Emit(chela.Event{Text: "nobody listens"})
	everything := b.Listen("", all)
	deltas := b.Listen("", func(e chela.Event) bool { return e.Kind == chela.EventTextDelta })
	defer everything.Close()
	defer deltas.Close()
	b.Emit(chela.Event{Kind: chela.EventTurnStarted, Text: "a"})
	b.Emit(chela.Event{Kind: chela.EventTextDelta, Text: "b"})
	b.Emit(chela.Event{Kind: chela.EventTextDelta, Text: "c"})
	if diff := cmp.Diff([]string{"a", "b", "c"}, texts(t, everything, 3)); diff != "" {
		t.Errorf("everything (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"b", "c"}, texts(t, deltas, 2)); diff != "" {
		t.Errorf("deltas (-want +got):\n%s", diff)
	}
	if e, ok := deltas.Next(ended(t)); ok {
		t.Errorf("heard %+v too", e)
	}
}

// Each emitter's events come in the order in which it emitted them, to every
// listener.
func TestOrder(t *testing.T) {
	t.Parallel()
	const emitters, each = 4, 500
	var b event.Bus
	listeners := []*event.Listener{b.Listen("", all), b.Listen("", all)}
	var wait sync.WaitGroup
	for n := range emitters {
		wait.Go(func() {
			for i := range each {
				b.Emit(chela.Event{Step: n, Limit: i})
			}
		})
	}
	wait.Wait()
	for _, l := range listeners {
		next := make([]int, emitters)
		for range emitters * each {
			e, ok := l.Next(t.Context())
			if !ok || e.Limit != next[e.Step] {
				t.Fatalf("event %d of emitter %d, want %d; open: %t", e.Limit, e.Step, next[e.Step], ok)
			}
			next[e.Step]++
		}
		l.Close()
	}
}

// A listener that falls behind is cut off. Emit does not wait for it, others go
// on hearing, and Next tells it after what had arrived.
func TestSlowListenerIsCutOff(t *testing.T) {
	t.Parallel()
	var b event.Bus
	slow, quick := b.Listen("", all), b.Listen("", all)
	for i := range queue + 10 {
		b.Emit(chela.Event{Text: fmt.Sprint(i)})
		if got := texts(t, quick, 1); got[0] != fmt.Sprint(i) {
			t.Fatalf("the quick listener heard %v, want %d", got, i)
		}
	}
	for i, text := range texts(t, slow, queue) {
		if text != fmt.Sprint(i) {
			t.Fatalf("event %d is %s", i, text)
		}
	}
	if e, ok := slow.Next(t.Context()); ok {
		t.Errorf("heard %+v after it was cut off", e)
	}
	slow.Close() // once more does no harm
	quick.Close()
}

func TestNextWaits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(b *event.Bus, l *event.Listener, cancel func())
		want bool
	}{
		"for an event":          {func(b *event.Bus, _ *event.Listener, _ func()) { b.Emit(chela.Event{}) }, true},
		"until it is closed":    {func(_ *event.Bus, l *event.Listener, _ func()) { l.Close() }, false},
		"until its context end": {func(_ *event.Bus, _ *event.Listener, cancel func()) { cancel() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var b event.Bus
				l := b.Listen("", all)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				heard := make(chan bool, 1)
				go func() {
					_, ok := l.Next(ctx)
					heard <- ok
				}()
				synctest.Wait()
				if len(heard) > 0 {
					t.Fatal("did not wait")
				}
				c.end(&b, l, cancel)
				if got := <-heard; got != c.want {
					t.Errorf("heard an event: %t, want %t", got, c.want)
				}
			})
		})
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	var b event.Bus
	l := b.Listen("", all)
	b.Emit(chela.Event{Text: "before"})
	l.Close()
	l.Close()
	b.Emit(chela.Event{Text: "after"})
	if diff := cmp.Diff([]string{"before"}, texts(t, l, 1)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if e, ok := l.Next(t.Context()); ok {
		t.Errorf("heard %+v after the end", e)
	}
}

// What has arrived is heard even if the context has ended.
func TestArrivedEventsComeFirst(t *testing.T) {
	t.Parallel()
	var b event.Bus
	l := b.Listen("", all)
	defer l.Close()
	for range 100 {
		b.Emit(chela.Event{Text: "there"})
		if _, ok := l.Next(ended(t)); !ok {
			t.Fatal("an event that had arrived is not heard")
		}
	}
}

// Listeners come and go while others emit.
func TestCloseWhileEmitting(t *testing.T) {
	t.Parallel()
	var b event.Bus
	stop := make(chan struct{})
	var emitters sync.WaitGroup
	for range 2 {
		emitters.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					b.Emit(chela.Event{})
				}
			}
		})
	}
	var listeners sync.WaitGroup
	for range 8 {
		listeners.Go(func() {
			for range 50 {
				l := b.Listen("", all)
				if _, ok := l.Next(t.Context()); !ok {
					t.Error("nothing is heard")
				}
				l.Close()
			}
		})
	}
	listeners.Wait()
	close(stop)
	emitters.Wait()
}
