//go:build !failpoint

package fail_test

import (
	"testing"

	"chela/internal/platform/fail"
)

// TestOrdinaryBuilds do nothing at all, whatever the environment says.
func TestOrdinaryBuilds(t *testing.T) {
	t.Setenv("CHELA_FAILPOINTS", "a=error")
	t.Setenv("CHELA_FAILPOINTS_MUTANTS", "a,label a")
	if fail.Enabled || fail.Mutant("a") {
		t.Error("an ordinary build says that it is none")
	}
	if err := fail.Point("a"); err != nil {
		t.Errorf("a point of an ordinary build failed: %v", err)
	}
	if n := testing.AllocsPerRun(100, func() { _ = fail.Point("a") }); n != 0 {
		t.Errorf("a point allocates %v times", n)
	}
}
