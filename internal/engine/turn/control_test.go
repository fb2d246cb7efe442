package turn_test

import (
	"context"
	"errors"
	"testing"

	"chela/internal/engine/turn"
)

func TestHandle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		do    func(h *turn.Handle)
		run   error // with which the run's context ends
		asked error // with which a request to the model ends
	}{
		{"nothing", func(*turn.Handle) {}, nil, nil},
		{"stop", (*turn.Handle).Stop, turn.ErrStopped, nil},
		{"time is up", (*turn.Handle).TimeUp, turn.ErrTimeUp, nil},
		{"park", (*turn.Handle).Park, nil, turn.ErrParked},
		{"cut off", (*turn.Handle).CutOff, turn.ErrStuck, nil},
		{"cut off once it is to stop", func(h *turn.Handle) { h.Stop(); h.CutOff() }, turn.ErrStopped, nil},
		{"cut off once it is parked", func(h *turn.Handle) { h.Park(); h.CutOff() }, nil, turn.ErrParked},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var h turn.Handle
			run, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			detach := h.Attach(cancel)
			asked, done := h.Asking(t.Context())
			c.do(&h)
			if got := context.Cause(run); !errors.Is(got, c.run) {
				t.Errorf("the run ends with %v, want %v", got, c.run)
			}
			if got := context.Cause(asked); !errors.Is(got, c.asked) {
				t.Errorf("the request ends with %v, want %v", got, c.asked)
			}
			done()
			detach()
			c.do(&h) // reaches nobody any more
		})
	}
}

// What was said before a run is attached, or the model is asked, reaches it.
func TestHandleRemembers(t *testing.T) {
	t.Parallel()
	var h turn.Handle
	h.Stop()
	h.Park()
	run, cancel := context.WithCancelCause(t.Context())
	defer h.Attach(cancel)()
	asked, done := h.Asking(t.Context())
	defer done()
	if !errors.Is(context.Cause(run), turn.ErrStopped) || !errors.Is(context.Cause(asked), turn.ErrParked) || !h.Parked() {
		t.Errorf("the run ends with %v, the request with %v", context.Cause(run), context.Cause(asked))
	}
	h.Steer()
	if !h.Steering() {
		t.Error("messages wait and nobody says so")
	}
	if h.Steered(); h.Steering() {
		t.Error("messages were looked at and still wait")
	}
}
