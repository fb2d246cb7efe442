package control_test

import (
	"context"
	"errors"
	"testing"

	"chela/internal/control"
)

func TestHandle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		do    func(h *control.Handle)
		run   error // with which the run's context ends
		asked error // with which a request to the model ends
	}{
		{"nothing", func(*control.Handle) {}, nil, nil},
		{"stop", (*control.Handle).Stop, control.ErrStopped, nil},
		{"time is up", (*control.Handle).TimeUp, control.ErrTimeUp, nil},
		{"park", (*control.Handle).Park, nil, control.ErrParked},
		{"cut off", (*control.Handle).CutOff, control.ErrStuck, nil},
		{"cut off once it is to stop", func(h *control.Handle) { h.Stop(); h.CutOff() }, control.ErrStopped, nil},
		{"cut off once it is parked", func(h *control.Handle) { h.Park(); h.CutOff() }, nil, control.ErrParked},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var h control.Handle
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
	var h control.Handle
	h.Stop()
	h.Park()
	run, cancel := context.WithCancelCause(t.Context())
	defer h.Attach(cancel)()
	asked, done := h.Asking(t.Context())
	defer done()
	if !errors.Is(context.Cause(run), control.ErrStopped) || !errors.Is(context.Cause(asked), control.ErrParked) || !h.Parked() {
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
