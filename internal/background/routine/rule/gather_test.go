package rule_test

import (
	"testing"
	"time"

	"chela"
	"chela/internal/background/routine/rule"
)

// TestGathers gathers what arrives from outside, if the routine says so, and neither
// times nor people.
func TestGathers(t *testing.T) {
	t.Parallel()
	for cause, want := range map[chela.TriggerKind]bool{
		chela.TriggerEvent: true, chela.TriggerSystem: true, chela.TriggerWebhook: true, chela.TriggerManual: false, chela.TriggerCron: false,
		chela.TriggerEvery: false, chela.TriggerAt: false,
	} {
		for _, collect := range []bool{true, false} {
			v := chela.Routine{Guards: chela.RoutineGuards{Collect: collect}}
			if got := rule.Gathers(v, cause); got != (want && collect) {
				t.Errorf("%s, collect %t: gathers %t", cause, collect, got)
			}
		}
	}
}

// TestCooling returns the rest of the cooldown since the newest run.
func TestCooling(t *testing.T) {
	t.Parallel()
	now := time.Unix(10_000, 0)
	for _, tt := range []struct {
		cooldown time.Duration
		runs     []time.Time
		want     time.Duration
	}{
		{time.Minute, []time.Time{now.Add(-20 * time.Second), now.Add(-time.Hour)}, 40 * time.Second},
		{time.Minute, []time.Time{now.Add(-time.Minute)}, 0},
		{time.Minute, []time.Time{now.Add(-time.Hour)}, 0},
		{time.Minute, nil, 0},
		{-1, []time.Time{now}, 0},
		{0, []time.Time{now}, 0},
	} {
		v := chela.Routine{Guards: chela.RoutineGuards{Cooldown: chela.Span(tt.cooldown)}}
		if got := rule.Cooling(v, rule.Facts{Now: now, Runs: tt.runs}); got != tt.want {
			t.Errorf("a cooldown of %s, runs %v: %s, want %s", tt.cooldown, tt.runs, got, tt.want)
		}
	}
	if got := rule.Gathered("a", "b"); got != "a\n\n---\n\nb" {
		t.Errorf("gathered %q", got)
	}
}
