package machine_test

import (
	"strings"
	"testing"

	"chela"
	"chela/internal/engine/turn/machine"
)

// With few steps left there is no room for a note about a written-out call.
func TestWrittenOutCallAtTheEnd(t *testing.T) {
	t.Parallel()
	for steps, want := range map[int]string{2: "finish limited", 3: "finish completed", 4: "call_model note"} {
		s := sketch{last: chela.EntryAssistant, text: `look(name="x")`, steps: 2}.state()
		f := machine.Facts{Tools: []chela.ToolSpec{{Name: "look"}}}
		f.Limits = machine.TurnLimits{Steps: steps, Guard: machine.GuardLimits{Nudges: 1}}
		if got := brief(machine.Next(s, f)); !strings.HasPrefix(got, want) {
			t.Errorf("of %d steps: %s, want %s", steps, got, want)
		}
	}
}
