package machine_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/engine/prompt"
	"chela/internal/engine/turn/machine"
)

// TestLimitsUnder lets overrides bound a turn further, and never less.
func TestLimitsUnder(t *testing.T) {
	t.Parallel()
	home := machine.TurnLimits{Steps: 50, Time: time.Hour, Guard: machine.GuardLimits{Repeats: 3}}
	bounded := home
	bounded.Steps, bounded.Time, bounded.Tokens = 5, time.Minute, 1000
	endless := machine.TurnLimits{Steps: 50}
	timed := machine.TurnLimits{Steps: 50, Time: time.Minute}
	for _, tt := range []struct {
		name string
		home machine.TurnLimits
		over chela.Overrides
		want machine.TurnLimits
	}{
		{"none", home, chela.Overrides{}, home},
		{"less", home, chela.Overrides{Steps: 5, Time: chela.Span(time.Minute), Tokens: 1000}, bounded},
		{"more", home, chela.Overrides{Steps: 500, Time: chela.Span(2 * time.Hour)}, home},
		{"just as much", home, chela.Overrides{Steps: 1, Time: chela.Span(time.Hour)}, machine.TurnLimits{Steps: 1, Time: time.Hour, Guard: home.Guard}},
		{"a time where there is none", endless, chela.Overrides{Time: chela.Span(time.Minute)}, timed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.home.Under(tt.over)); diff != "" {
				t.Errorf("limits (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNextTokens ends a turn before the request that would exceed its limit, but keeps
// an answer that is there.
func TestNextTokens(t *testing.T) {
	t.Parallel()
	given := machine.Facts{
		Limits: machine.TurnLimits{Steps: 10, Tokens: 1000},
		Budget: prompt.Budget{Window: 8000, Room: 7000, Frame: 144},
	}
	for name, tt := range map[string]struct {
		took int64
		last chela.EntryKind
		want string
	}{
		"room":     {600, chela.EntryToolResult, "call_model"},
		"used up":  {601, chela.EntryToolResult, "finish limited exhausted tokens the turn used 601 of its 1000 tokens, and its next request needs about 400"},
		"answered": {500, chela.EntryAssistant, "finish completed"},
	} {
		s := sketch{last: tt.last, text: "done", steps: 1}.state()
		s.Tokens = tt.took
		if got := brief(machine.Next(s, given)); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
