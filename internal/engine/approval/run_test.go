package approval_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"chela"
	"chela/internal/engine/approval"
	"chela/internal/platform/local"
	"chela/internal/store"
)

// A recorder is a log handler that keeps messages.
type recorder struct {
	slog.Handler
	messages []string
	then     func() // is called after each
}

// Enabled implements slog.Handler.
func (r *recorder) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (r *recorder) Handle(_ context.Context, m slog.Record) error {
	r.messages = append(r.messages, m.Message)
	r.then()
	return nil
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	onBoth(t, markScenario, func(h *house) {
		h.asked(mainSession, "mark a")
		id := h.pending().ID
		h.later(2 * time.Hour)
		ctx, cancel := context.WithCancel(h.Context())
		ended := make(chan error, 1)
		heard := h.bus.Listen("", func(e chela.Event) bool { return e.Kind == chela.EventTurnFinished })
		defer heard.Close()
		log := &recorder{Handler: slog.DiscardHandler, then: func() {}}
		approvals := approval.New(h.store, approval.Config{Process: local.Process{IDs: h.ids, Now: h.now, Emit: h.emit, Log: slog.New(log)}, Wake: h.lanes.Wake})
		go func() { ended <- approvals.Run(ctx) }()
		patient, done := context.WithTimeout(h.Context(), time.Minute)
		defer done()
		if _, ok := heard.Next(patient); !ok {
			h.Error("nothing was closed at the start")
		}
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			h.Errorf("run: %v", err)
		}
		h.checkExpired(id)
		if len(log.messages) > 0 {
			h.Errorf("a run without trouble logs %q", log.messages)
		}
	})
}

// TestSweepThatFailsIsLogged: a failure does not end Run, unless its context is
// done, which is no failure.
func TestSweepThatFailsIsLogged(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "chela.db")})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	log := &recorder{Handler: slog.DiscardHandler, then: cancel}
	approvals := approval.New(s, approval.Config{Process: local.Process{Now: time.Now, Log: slog.New(log)}})
	for _, when := range []string{"while it runs", "once its context is done"} {
		if err := approvals.Run(ctx); err != nil {
			t.Errorf("%s: run: %v", when, err)
		}
		if len(log.messages) != 1 {
			t.Errorf("%s: logged %q, want one message", when, log.messages)
		}
	}
}

// TestLateAnswerOfACommand leaves a question that has expired to Sweep.
func TestLateAnswerOfACommand(t *testing.T) {
	t.Parallel()
	onBoth(t, markScenario, func(h *house) {
		h.asked(mainSession, "mark a")
		id := h.pending().ID
		h.later(time.Hour + time.Second)
		err := h.store.Write(h.Context(), "test.answer", func(w *store.Write) error {
			_, _, err := h.approvals.AnswerIn(h.Context(), w, approval.Reply{ID: id, Answer: chela.AnswerOnce, By: "test"})
			return err
		})
		if chela.KindOf(err) != chela.Conflict {
			h.Errorf("error %v, want a conflict", err)
		}
		if got := h.pending(); got.State != chela.ApprovalPending {
			h.Errorf("the question is %s before the sweep", got.State)
		}
		h.sweep()
		h.checkExpired(id)
	})
}

// TestInWay: a message waits behind the questions of its thread, unless their turn
// is about to end.
func TestInWay(t *testing.T) {
	t.Parallel()
	onBoth(t, markScenario, func(h *house) {
		h.asked(mainSession, "mark a")
		a := h.pending()
		check := func(when string, session chela.SessionKey, thread chela.ThreadID, want int) {
			h.Helper()
			h.read(func(ctx context.Context, r *store.Read) error {
				m := chela.InboxMessage{Inbound: chela.Inbound{Session: session, Thread: thread}}
				found, err := approval.InWay(ctx, r, m)
				if len(found) != want || want == 1 && found[0].ID != a.ID {
					h.Errorf("%s: %d questions, want %d: %+v", when, len(found), want, found)
				}
				return err
			})
		}
		check("in its thread", mainSession, a.Thread, 1)
		check("in another thread", mainSession, "thr_other", 0)
		check("in another session", "agent:main:dm:ann", a.Thread, 0)
		err := h.store.Write(h.Context(), "test.stop", func(w *store.Write) error { return w.RequestStop(h.Context(), a.Turn) })
		if err != nil {
			h.Fatal(err)
		}
		check("once its turn is to stop", mainSession, a.Thread, 0)
		if err := h.lanes.Stop(h.Context(), a.Turn); err != nil {
			h.Fatal(err)
		}
		h.rest(mainSession)
	})
}
