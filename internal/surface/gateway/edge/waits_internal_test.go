package edge

import (
	"context"
	"errors"
	"testing"
)

// TestWaitsAreEmptyOnceTheyClose: empty is closed by the later of close and the
// end of the last request, and only once.
func TestWaitsAreEmptyOnceTheyClose(t *testing.T) {
	t.Parallel()
	isEmpty := func(w *waits) bool {
		select {
		case <-w.empty:
			return true
		default:
			return false
		}
	}
	add := func(w *waits) (context.Context, func()) {
		t.Helper()
		ctx, done, err := w.add(t.Context(), &Visit{})
		if err != nil {
			t.Fatal(err)
		}
		return ctx, done
	}

	w := newWaits()
	ended, done := add(w)
	done()
	if isEmpty(w) || !errors.Is(context.Cause(ended), context.Canceled) {
		t.Errorf("after a request: empty %v, cancelled with %v", isEmpty(w), context.Cause(ended))
	}
	first, firstDone := add(w)
	second, secondDone := add(w)
	w.close()
	for _, ctx := range []context.Context{first, second} {
		if !errors.Is(context.Cause(ctx), errClosing) {
			t.Errorf("a request was cancelled with %v", context.Cause(ctx))
		}
	}
	if _, _, err := w.add(t.Context(), &Visit{}); !errors.Is(err, errClosing) {
		t.Errorf("add after close returns %v", err)
	}
	firstDone()
	if isEmpty(w) {
		t.Error("empty while a request is open")
	}
	secondDone()
	if !isEmpty(w) {
		t.Error("not empty after the last request")
	}
	w.close() // a second one has no effect

	idle := newWaits()
	idle.close()
	if !isEmpty(idle) {
		t.Error("not empty after close without requests")
	}
}
