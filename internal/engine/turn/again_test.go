package turn_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/engine/turn"
)

// TestAgain: the first request of a run says that a process died which may have
// made it, whatever the run does before, unless that was not done yet. Those that
// follow do not.
func TestAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first   step
		diesAt  string // the append at which the process dies; the answer of the second step if empty
		steered bool
		denied  bool
		want    []bool
	}{
		"the lane may have messages": {first: say("one", "look a"), steered: true, want: []bool{true, false}},
		"reads are repeated":         {first: say("one", "look a", "look b"), want: []bool{true, false}},
		"calls are judged again":     {first: say("one", "write a"), denied: true, want: []bool{true, false}},
		"its answer was not kept":    {first: say("one", "write a"), diesAt: "turn.running", want: []bool{true, false, false}},
		"an effect was not begun":    {first: say("one", "look a", "write b"), diesAt: "turn.running", want: []bool{false, false}},
		"it died in an effect":       {first: say("one", "write a"), diesAt: "turn.result", want: []bool{false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.first, say("two", "look c"), say("there"))
			if c.denied {
				r.verdict = func(call chela.ToolCall) turn.Ruling {
					if call.Tool == "write" {
						return turn.Ruling{Verdict: chela.Deny}
					}
					return turn.Ruling{Verdict: chela.Allow}
				}
			}
			steps := 0
			r.book.fail = func(_ int, op string) error {
				if op == c.diesAt {
					return errDied
				}
				if steps++; c.diesAt == "" && steps == 2 {
					return errDied
				}
				return nil
			}
			if _, err := r.run(); err == nil {
				t.Fatal("no process died")
			}
			r.book.fail = nil
			if c.steered {
				r.control.Steer()
			}
			before := len(r.model.requests)
			r.left = true
			r.mustRun(chela.TurnCompleted)
			var got []bool
			for _, req := range r.model.requests[before:] {
				got = append(got, req.Again)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("requests that say that they may be made again (-want +got)\n%s", diff)
			}
		})
	}
}
