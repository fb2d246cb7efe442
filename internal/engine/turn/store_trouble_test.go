package turn_test

import (
	"errors"
	"fmt"
	"testing"

	"chela"
)

// TestModelNotAskedForTheStore: a turn does not fail since the store kept the model
// from being asked, or somebody else runs it. The run ends with the error, and
// another one asks.
func TestModelNotAskedForTheStore(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"the store does not work": fmt.Errorf("%w: %w", chela.ErrLater, chela.E(chela.Unavailable, "the database is locked")),
		"somebody else runs it":   chela.E(chela.Conflict, "the lane has another holder"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, say("one", "write a"), fails(err), say("there"))
			r.model.inOrder = true
			if _, got := r.run(); !errors.Is(got, err) {
				t.Errorf("the run ended with %v", got)
			}
			r.mustRun(chela.TurnCompleted)
		})
		t.Run(name+", for a summary", func(t *testing.T) {
			t.Parallel()
			r := pastRig(t, 90, fails(err), say("a summary"), say("there"))
			if _, got := r.run(); !errors.Is(got, err) {
				t.Errorf("the run ended with %v", got)
			}
			r.mustRun(chela.TurnCompleted)
		})
	}
}
