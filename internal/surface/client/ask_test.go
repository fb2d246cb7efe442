package client_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/client"
)

// An asking is an Ask, or a Follow, that goes on while a test looks.
type asking struct {
	shown  []string // kinds and texts of what was shown
	turn   chela.Turn
	err    error
	cancel context.CancelFunc
	over   chan struct{}
}

// begin follows a conversation in a goroutine that ends with the asking.
func begin(t *testing.T, follow func(context.Context, func(chela.Event)) (chela.Turn, error)) *asking {
	ctx, cancel := context.WithCancel(t.Context())
	a := &asking{cancel: cancel, over: make(chan struct{})}
	go func() {
		defer close(a.over)
		a.turn, a.err = follow(ctx, func(e chela.Event) {
			a.shown = append(a.shown, strings.TrimSpace(string(e.Kind)+" "+e.Text))
		})
	}()
	synctest.Wait()
	return a
}

func ask(t *testing.T, c *client.Client) *asking {
	return begin(t, func(ctx context.Context, show func(chela.Event)) (chela.Turn, error) {
		return c.Ask(ctx, hello(), show)
	})
}

func hello() chela.Inbound {
	return chela.Inbound{Session: session, Agent: "main", Text: "hello", Origin: chela.Origin{Channel: "terminal", Owner: true}}
}

// ends waits for the asking and compares what it came to.
func (a *asking) ends(t *testing.T, state chela.TurnState, shown ...string) {
	t.Helper()
	<-a.over
	if a.err != nil {
		t.Errorf("error: %v", a.err)
	}
	if a.turn.ID != "turn_1" || a.turn.State != state {
		t.Errorf("turn %q is %q, want turn_1 to be %q", a.turn.ID, a.turn.State, state)
	}
	if diff := cmp.Diff(shown, a.shown); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
}

// fails waits for the asking and compares its error.
func (a *asking) fails(t *testing.T, kind chela.Kind, text string) {
	t.Helper()
	<-a.over
	if chela.KindOf(a.err) != kind || !strings.Contains(chela.MessageOf(a.err), text) {
		t.Errorf("error %q of kind %q, want %q of kind %q", chela.MessageOf(a.err), chela.KindOf(a.err), text, kind)
	}
}

// waits fails the test if the asking is over.
func (a *asking) waits(t *testing.T) {
	t.Helper()
	synctest.Wait()
	select {
	case <-a.over:
		t.Fatalf("it is over, with %v and %v", a.turn, a.err)
	default:
	}
}

func delta(text string) chela.Event {
	return chela.Event{Kind: chela.EventTextDelta, Turn: "turn_1", Text: text}
}

func TestAskShowsItsTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDaemon(t)
		a := ask(t, d.dial(t))
		d.emit(delta("he"))
		d.emit(chela.Event{Kind: chela.EventTextDelta, Turn: "turn_2", Text: "of another turn"})
		d.emit(chela.Event{Kind: chela.EventTextDelta, Session: "agent:main:dm:x", Turn: "turn_1", Text: "of another session"})
		d.emit(chela.Event{Kind: chela.EventNotice, Turn: "turn_1", Text: "that is all"})
		d.emit(delta("llo"))
		d.move("turn_1", chela.TurnCompleted, chela.EventTurnFinished)
		a.ends(t, chela.TurnCompleted, "turn.started", "text.delta he", "notice that is all", "text.delta llo", "turn.finished")
		want := []api.Message{{Session: session, Agent: "main", Text: "hello", MessageID: d.said[0].MessageID}}
		if diff := cmp.Diff(want, d.said); diff != "" || want[0].MessageID == "" {
			t.Errorf("sent with id %q (-want +got):\n%s", want[0].MessageID, diff)
		}
	})
}

func TestAskSendsTheWholeMessage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDaemon(t)
		c := d.dial(t)
		in := chela.Inbound{
			Session: session, Thread: "thr_9", Agent: "main", Text: "x", Model: "a/b", Queue: chela.QueueSettings{Mode: chela.QueueFollowup}, MessageID: "mine",
			Attachments: []chela.Attachment{{Name: "n", MediaType: "text/plain", SHA256: "00ff", Size: 3}},
		}
		a := begin(t, func(ctx context.Context, show func(chela.Event)) (chela.Turn, error) { return c.Ask(ctx, in, show) })
		d.move("turn_1", chela.TurnFailed, chela.EventTurnFinished)
		a.ends(t, chela.TurnFailed, "turn.started", "turn.finished")
		want := []api.Message{{
			Session: session, Thread: "thr_9", Agent: "main", Text: "x", Model: "a/b", Mode: chela.QueueFollowup, MessageID: "mine",
			Attachments: []api.Attachment{{Name: "n", MediaType: "text/plain", SHA256: "00ff", Size: 3}},
		}}
		if diff := cmp.Diff(want, d.said); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
	})
}

func TestAskRefuses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDaemon(t)
		c := d.dial(t)
		for _, tt := range []struct {
			kind   chela.Kind
			change func(*chela.Inbound)
		}{
			{chela.Invalid, func(in *chela.Inbound) { in.Session = "main" }},
			{chela.Unsupported, func(in *chela.Inbound) { in.History = []chela.Message{{Role: chela.RoleUser}} }},
			{chela.Unsupported, func(in *chela.Inbound) { in.Offers = []chela.ToolSpec{{Name: "x"}} }},
			{chela.Unsupported, func(in *chela.Inbound) { in.Results = []chela.OfferResult{{Call: "call_1"}} }},
		} {
			in := hello()
			tt.change(&in)
			if _, err := c.Ask(t.Context(), in, nil); chela.KindOf(err) != tt.kind {
				t.Errorf("%+v: %v, want the kind %s", in, err, tt.kind)
			}
		}
		if len(d.said) != 0 {
			t.Errorf("sent %d messages", len(d.said))
		}
	})
}

func TestAskReturnsWhenAPersonIsAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDaemon(t)
		c := d.dial(t)
		a := ask(t, c)
		d.move("turn_1", chela.TurnAwaiting, chela.EventApprovalRequested)
		a.ends(t, chela.TurnAwaiting, "turn.started", "approval.requested")

		// While it waits, following it ends at once; once it was answered, what
		// comes is shown. An answer from elsewhere lets it go on, too.
		waits := begin(t, func(ctx context.Context, show func(chela.Event)) (chela.Turn, error) {
			return c.Follow(ctx, "turn_1", show)
		})
		waits.ends(t, chela.TurnAwaiting)
		d.move("turn_1", chela.TurnProcessing, chela.EventApprovalAnswered)
		b := begin(t, func(ctx context.Context, show func(chela.Event)) (chela.Turn, error) {
			return c.Follow(ctx, "turn_1", show)
		})
		d.emit(chela.Event{Kind: chela.EventApprovalRequested, Turn: "turn_1"})
		b.waits(t)
		d.emit(chela.Event{Kind: chela.EventApprovalAnswered, Turn: "turn_1"})
		d.move("turn_1", chela.TurnCompleted, chela.EventTurnFinished)
		b.ends(t, chela.TurnCompleted, "approval.requested", "approval.answered", "turn.finished")
	})
}

func TestFollowOfAnEndedTurnReturnsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDaemon(t)
		c := d.dial(t)
		d.open("turn_1")
		d.move("turn_1", chela.TurnLimited, chela.EventTurnFinished)
		began := time.Now()
		turn, err := c.Follow(t.Context(), "turn_1", func(e chela.Event) { t.Errorf("%s is shown", e.Kind) })
		if err != nil || turn.State != chela.TurnLimited || time.Since(began) != 0 || len(d.seen) != 1 {
			t.Errorf("got %v and %v after %v and %d streams, want the turn at once", turn, err, time.Since(began), len(d.seen))
		}
		if _, err := c.Follow(t.Context(), "turn_2", nil); chela.KindOf(err) != chela.NotFound {
			t.Errorf("a turn that is not there: %v", err)
		}
	})
}

// A message that waits behind others is followed from the first event of the
// turn that takes it.
func TestAskWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDaemon(t)
		d.busy = true
		a := ask(t, d.dial(t))
		for i := range 3 {
			d.emit(chela.Event{Kind: chela.EventTextDelta, Turn: "turn_0", Text: fmt.Sprint(i)})
		}
		d.emit(chela.Event{Kind: chela.EventTurnFinished, Turn: "turn_0"})
		a.waits(t)
		d.open("turn_1")
		d.emit(delta("hello"))
		d.move("turn_1", chela.TurnCompleted, chela.EventTurnFinished)
		a.ends(t, chela.TurnCompleted, "turn.started", "text.delta hello", "turn.finished")
		if len(d.said) != 1 {
			t.Errorf("sent %d messages, want one", len(d.said))
		}
	})
}

// A message may also enter a turn that runs, of which no event tells.
func TestAskFindsItsTurnWithoutAnEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDaemon(t)
		d.busy, d.mute = true, true
		a := ask(t, d.dial(t))
		d.open("turn_1")
		a.waits(t)
		<-time.After(6 * time.Second)
		d.change(func() { d.turns["turn_1"] = chela.Turn{ID: "turn_1", State: chela.TurnCompleted} })
		a.ends(t, chela.TurnCompleted)
	})
}

func TestAskThatGetsNoTurn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		happen func(*daemon)
		kind   chela.Kind
		text   string
	}{
		{
			"behind an approval",
			func(d *daemon) {
				d.refusal = &api.Error{
					Kind: chela.Denied, Hint: "answer that first: chela approvals yes apr_1",
					Message: "the message is stored and queued behind approval apr_1; answer that first: chela approvals yes apr_1",
				}
			},
			chela.Denied, "queued behind approval apr_1; answer that first: chela approvals yes apr_1",
		},
		{
			"dropped", func(d *daemon) {
				d.refusal = &api.Error{Kind: chela.Exhausted, Message: "the message was dropped"}
			}, chela.Exhausted, "the message was dropped",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDaemon(t)
				d.busy = true
				a := ask(t, d.dial(t))
				d.change(func() { tt.happen(d) })
				a.fails(t, tt.kind, tt.text)
				if a.turn.ID != "" || len(a.shown) != 0 {
					t.Errorf("turn %q, shown %v", a.turn.ID, a.shown)
				}
			})
		})
	}
}

func TestAskEndsWithTheFaultOfARun(t *testing.T) {
	t.Parallel()
	notice := chela.Event{Kind: chela.EventNotice, Turn: "turn_1", Text: "the database is full", Error: chela.Exhausted}
	for _, busy := range []bool{false, true} {
		t.Run(fmt.Sprint("busy ", busy), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDaemon(t)
				d.busy = busy
				a := ask(t, d.dial(t))
				d.emit(notice)
				a.fails(t, chela.Exhausted, "the database is full")
			})
		})
	}
}

// Whoever gives up knows the turn, so that it can be stopped, and is shown
// nothing more.
func TestAskEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for _, busy := range []bool{false, true} {
		t.Run(fmt.Sprint("busy ", busy), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDaemon(t)
				d.busy = busy
				a := ask(t, d.dial(t))
				shown := slices.Clone(a.shown)
				a.cancel()
				<-a.over
				d.emit(delta("too late"))
				synctest.Wait()
				want := chela.TurnID("turn_1")
				if busy {
					want = ""
				}
				if !errors.Is(a.err, context.Canceled) || a.turn.ID != want || !slices.Equal(a.shown, shown) {
					t.Errorf("%v, turn %q, shown %v; want %v, %q, %v", a.err, a.turn.ID, a.shown, context.Canceled, want, shown)
				}
			})
		})
	}
}
