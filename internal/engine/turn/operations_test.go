package turn_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/turn"
)

// A talked is a conversation with one turn.
type talked struct {
	turn     chela.Turn
	follow   func(ctx context.Context) error
	accepted []chela.Inbound
}

// api returns a connection to the operations on the turn.
func (k *talked) api(c api.Caller) api.Local {
	return api.Local{Caller: c, Operations: turn.Operations(k, k)}
}

func (k *talked) Turn(_ context.Context, id chela.TurnID) (chela.Turn, error) {
	if id != k.turn.ID {
		return chela.Turn{}, chela.E(chela.NotFound, "no such turn")
	}
	return k.turn, nil
}

func (k *talked) Outcome(ctx context.Context, id chela.TurnID) (api.Turn, error) {
	t, err := k.Turn(ctx, id)
	return api.Turn{Turn: t, Answer: "answer"}, err
}

func (k *talked) Trace(ctx context.Context, id chela.TurnID) (api.Trace, error) {
	t, err := k.Turn(ctx, id)
	return api.Trace{Turn: t}, err
}

func (k *talked) Accept(_ context.Context, in chela.Inbound) (api.Receipt, error) {
	k.accepted = append(k.accepted, in)
	return api.Receipt{Turn: k.turn.ID}, nil
}

func (k *talked) Follow(ctx context.Context, id chela.TurnID, _ func(chela.Event)) (chela.Turn, error) {
	if err := k.follow(ctx); err != nil {
		return chela.Turn{}, err
	}
	return k.Turn(ctx, id)
}

func (k *talked) Stop(_ context.Context, id chela.TurnID) error {
	if k.turn.State.Ended() || id != k.turn.ID {
		return chela.E(chela.Conflict, "it has ended")
	}
	k.turn.State = chela.TurnInterrupted
	return nil
}

// forever waits for the end of a context.
func forever(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestWaitForATurn: after the time to wait the answer is the current state. An error
// that leaves the turn running names the turn.
func TestWaitForATurn(t *testing.T) {
	t.Parallel()
	closing, away := chela.E(chela.Unavailable, "the daemon is shutting down"), chela.E(chela.Unavailable, "no model")
	broken := errors.New("the disk is broken")
	fails := func(err error) func(context.Context) error { return func(context.Context) error { return err } }
	for name, tt := range map[string]struct {
		follow func(context.Context) error
		wait   int64
		want   error
		named  bool
		took   time.Duration
	}{
		"no time to wait":   {fails(broken), 0, nil, false, 0},
		"the turn ended":    {fails(nil), 1000, nil, false, 0},
		"the time is over":  {forever, 1000, nil, false, time.Second},
		"shutting down":     {forever, 3000, closing, true, 2 * time.Second},
		"no model":          {fails(away), 1000, away, true, 0},
		"cannot be read":    {fails(broken), 1000, broken, false, 0},
		"time is over last": {func(ctx context.Context) error { _ = forever(ctx); return broken }, 1000, nil, false, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Second, closing)
				defer cancel()
				k := &talked{turn: chela.Turn{ID: "turn_1", State: chela.TurnProcessing}, follow: tt.follow}
				began := time.Now()
				got, err := api.Call(ctx, k.api(api.Caller{}), api.TurnsShow, api.TurnQuery{TurnRef: api.TurnRef{ID: "turn_1"}, WaitMS: tt.wait})
				if !errors.Is(err, tt.want) || err == nil && got.Answer != "answer" {
					t.Errorf("%+v, %v, want the error %v", got, err, tt.want)
				}
				var waited api.WaitError
				if errors.As(err, &waited); (waited.Turn == "turn_1") != tt.named || err != nil && err.Error() != tt.want.Error() {
					t.Errorf("the error %v names the turn %q", err, waited.Turn)
				}
				if took := time.Since(began); took != tt.took {
					t.Errorf("it took %s, want %s", took, tt.took)
				}
			})
		})
	}
}

// TestSteerATurn: the message has the caller's origin and rights, and goes into the
// turn at once. A turn that has ended takes none.
func TestSteerATurn(t *testing.T) {
	t.Parallel()
	k := &talked{turn: chela.Turn{ID: "turn_1", Session: "agent:main:main", Thread: "thr_1", State: chela.TurnProcessing}}
	by := api.Caller{Scope: chela.ScopeTalk, Origin: chela.Origin{Channel: "http", Account: "tok_1"}, Input: chela.InputTyped, Key: "k"}
	home, ref := k.api(by), api.TurnRef{ID: "turn_1"}
	steer := api.TurnSteer{TurnRef: ref, Message: api.Steer{Text: "left"}}
	if r, err := api.Call(t.Context(), home, api.TurnsSteer, steer); err != nil || r.Turn != "turn_1" {
		t.Errorf("%+v, %v", r, err)
	}
	want := []chela.Inbound{{
		Session: "agent:main:main", Thread: "thr_1", Origin: by.Origin, Scope: by.Scope, Input: by.Input, Text: "left", MessageID: "k",
		Queue: chela.QueueSettings{Mode: chela.QueueSteer},
	}}
	if diff := cmp.Diff(want, k.accepted); diff != "" {
		t.Errorf("accepted (-want +got)\n%s", diff)
	}
	if got, err := api.Call(t.Context(), home, api.TurnsCancel, ref); err != nil || got.State != chela.TurnInterrupted || got.Answer != "answer" {
		t.Errorf("cancelled %+v, %v", got, err)
	}
	if _, err := api.Call(t.Context(), home, api.TurnsCancel, ref); chela.KindOf(err) != chela.Conflict {
		t.Errorf("cancelled again: %v", err)
	}
	if _, err := api.Call(t.Context(), home, api.TurnsSteer, steer); chela.KindOf(err) != chela.Conflict || len(k.accepted) != 1 {
		t.Errorf("steered after its end: %v", err)
	}
	steer.ID = "turn_2"
	if _, err := api.Call(t.Context(), home, api.TurnsSteer, steer); chela.KindOf(err) != chela.NotFound {
		t.Errorf("steered no turn: %v", err)
	}
}
