package rule_test

import (
	"testing"

	"chela"
	"chela/internal/background/routine/rule"
)

// TestTrusted gives the rights of the owner to what a clock or a person makes fire,
// and never to what comes from outside.
func TestTrusted(t *testing.T) {
	t.Parallel()
	for cause, want := range map[chela.TriggerKind]bool{
		chela.TriggerCron: true, chela.TriggerEvery: true, chela.TriggerAt: true, chela.TriggerManual: true,
		chela.TriggerEvent: false, chela.TriggerSystem: false, chela.TriggerWebhook: false, "": false,
	} {
		for _, owner := range []bool{true, false} {
			v := chela.Routine{Origin: chela.Origin{Owner: owner}}
			if got := rule.Trusted(v, chela.RoutineRun{Cause: cause}); got != (want && owner) {
				t.Errorf("fired by %q, of the owner %t: %t", cause, owner, got)
			}
		}
	}
}

// TestProvenance: what fires a routine by its clock adds no text; what a person or a
// stranger hands in is named as the source.
func TestProvenance(t *testing.T) {
	t.Parallel()
	outside := chela.Provenance{Integrity: chela.IntegrityOutside, Source: "a page"}
	for _, c := range []struct {
		name string
		of   chela.Provenance // of the routine
		run  chela.RoutineRun
		want string // source; empty: it is the owner's own
	}{
		{"a clock", chela.Provenance{}, chela.RoutineRun{Cause: chela.TriggerCron}, ""},
		{"an interval", chela.Provenance{}, chela.RoutineRun{Cause: chela.TriggerEvery}, ""},
		{"a moment", chela.Provenance{}, chela.RoutineRun{Cause: chela.TriggerAt}, ""},
		{"a person", chela.Provenance{}, chela.RoutineRun{Cause: chela.TriggerManual}, ""},
		{"a person with an input", chela.Provenance{}, chela.RoutineRun{Cause: chela.TriggerManual, Input: "x"}, "the input with which routine news was fired"},
		{"a webhook", chela.Provenance{}, chela.RoutineRun{Cause: chela.TriggerWebhook, Input: "x"}, "the webhook that made routine news fire"},
		{"an event", chela.Provenance{}, chela.RoutineRun{Cause: chela.TriggerEvent}, "the event that made routine news fire"},
		{"a clock, of a routine from outside", outside, chela.RoutineRun{Cause: chela.TriggerCron}, "a page"},
		{"an event, of a routine from outside", outside, chela.RoutineRun{Cause: chela.TriggerEvent}, "a page"},
	} {
		v := chela.Routine{Name: "news", Origin: chela.Origin{Owner: true, Provenance: c.of}}
		if got := rule.Provenance(v, c.run); got.Source != c.want || got.BelowFolder() != (c.want != "") {
			t.Errorf("%s: %+v, want %q", c.name, got, c.want)
		}
	}
}
