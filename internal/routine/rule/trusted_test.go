package rule_test

import (
	"testing"

	"chela"
	"chela/internal/routine/rule"
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
