package ingress_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/engine/ingress"
	"chela/internal/platform/event"
)

const (
	session = chela.SessionKey("agent:main:main")
	turnID  = chela.TurnID("turn_1")
)

// A stage is a turn that a test moves, and the audience of it.
type stage struct {
	event.Bus
	*event.Listener // to the bus

	mu    sync.Mutex
	state chela.TurnState // guarded by mu, like all below
	reads int
	wakes int
	told  []string
	err   error
	over  chan struct{}
}

func (s *stage) Turn(_ context.Context, id chela.TurnID) (chela.Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	return chela.Turn{ID: id, Session: session, State: s.state}, nil
}

func (s *stage) Serves(chela.SessionKey) bool { return true }

func (s *stage) Wake(context.Context, chela.SessionKey) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wakes++
	return nil
}

func (s *stage) Show(e chela.Event) { s.tell(strings.TrimSpace(string(e.Kind) + " " + e.Text)) }

func (s *stage) Stands(t chela.Turn) { s.tell("the turn is " + string(t.State)) }

func (s *stage) tell(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, what)
}

// move commits a state and emits its event.
func (s *stage) move(state chela.TurnState, kind chela.EventKind) {
	s.mu.Lock()
	s.state = state
	s.mu.Unlock()
	s.emit(kind, "")
}

func (s *stage) emit(kind chela.EventKind, text string) {
	s.Emit(chela.Event{Kind: kind, Session: session, Turn: turnID, Text: text})
}

// attend attends the turn of a stage in a goroutine, which ends with it.
func attend(t *testing.T, state chela.TurnState) *stage {
	s := &stage{state: state, over: make(chan struct{})}
	s.Listener = s.Listen(session, nil)
	f := ingress.Follower{Turns: s, Lanes: s}
	go func() { // the test waits for it
		defer close(s.over)
		defer s.Listener.Close()
		s.err = f.Attend(t.Context(), turnID, false, s)
	}()
	synctest.Wait()
	return s
}

// ends waits for the end and compares what was told.
func (s *stage) ends(t *testing.T, want ...string) {
	t.Helper()
	<-s.over
	if s.err != nil {
		t.Errorf("error: %v", s.err)
	}
	if diff := cmp.Diff(want, s.told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

func TestAttendTellsEachOutcome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := attend(t, chela.TurnProcessing)
		s.emit(chela.EventTextDelta, "a")
		s.Emit(chela.Event{Kind: chela.EventTextDelta, Session: session, Turn: "turn_2", Text: "of another turn"})
		s.move(chela.TurnAwaiting, chela.EventApprovalRequested)
		synctest.Wait()
		s.move(chela.TurnProcessing, chela.EventApprovalAnswered)
		s.emit(chela.EventTextDelta, "b")
		s.move(chela.TurnAwaiting, chela.EventApprovalRequested)
		synctest.Wait()
		s.move(chela.TurnProcessing, chela.EventApprovalAnswered)
		s.move(chela.TurnCompleted, chela.EventTurnFinished)
		s.ends(t, "text.delta a", "approval.requested", "the turn is awaiting_approval", "approval.answered", "text.delta b",
			"approval.requested", "the turn is awaiting_approval", "approval.answered", "turn.finished", "the turn is completed")
	})
}

// A turn that waits for several answers is told of once.
func TestAttendTellsOnceThatATurnWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := attend(t, chela.TurnAwaiting)
		s.emit(chela.EventApprovalAnswered, "one of two")
		<-time.After(10 * time.Second)
		s.move(chela.TurnProcessing, chela.EventApprovalAnswered)
		s.move(chela.TurnCompleted, chela.EventTurnFinished)
		s.ends(t, "the turn is awaiting_approval", "approval.answered one of two", "approval.answered", "turn.finished", "the turn is completed")
	})
}

// A turn continues, and ends, in another process, whose events are not received.
func TestAttendNeedsNoEvents(t *testing.T) {
	t.Parallel()
	for _, from := range []chela.TurnState{chela.TurnProcessing, chela.TurnAwaiting} {
		t.Run(string(from), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := attend(t, from)
				<-time.After(time.Minute)
				s.mu.Lock()
				s.state = chela.TurnCompleted
				s.mu.Unlock()
				<-s.over
				if last := s.told[len(s.told)-1]; s.err != nil || last != "the turn is completed" {
					t.Errorf("error %v, told %v", s.err, s.told)
				}
				if s.reads > 20 || from == chela.TurnProcessing && s.wakes < 10 {
					t.Errorf("the turn was read %d times and its lane woken %d times in a minute", s.reads, s.wakes)
				}
			})
		})
	}
}

func TestAttendEndsWithTheFaultOfARun(t *testing.T) {
	t.Parallel()
	for _, from := range []chela.TurnState{chela.TurnProcessing, chela.TurnAwaiting} {
		t.Run(string(from), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := attend(t, from)
				s.Emit(chela.Event{Kind: chela.EventNotice, Session: session, Turn: turnID, Text: "the disk is full", Error: chela.Exhausted})
				<-s.over
				if chela.KindOf(s.err) != chela.Exhausted || chela.MessageOf(s.err) != "the disk is full" {
					t.Errorf("error: %v", s.err)
				}
			})
		})
	}
}

// The events of a turn that ended meanwhile come before its outcome.
func TestAttendShowsTheEventsBeforeAnEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := attend(t, chela.TurnProcessing)
		var want []string
		for i := range 100 {
			s.emit(chela.EventTextDelta, fmt.Sprint(i))
			want = append(want, "text.delta "+fmt.Sprint(i))
		}
		s.move(chela.TurnCompleted, chela.EventTurnFinished)
		s.ends(t, slices.Concat(want, []string{"turn.finished", "the turn is completed"})...)
	})
}
