package chela_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
)

func TestSwitchTo(t *testing.T) {
	t.Parallel()
	s := chela.Session{Thread: "thr_1", Settings: chela.Settings{Elevated: "full", Verbose: "off"}}
	s.SwitchTo("thr_1")
	if s.Settings.Elevated != "full" {
		t.Error("staying ends elevated rights")
	}
	s.SwitchTo("thr_2")
	if diff := cmp.Diff(chela.Session{Thread: "thr_2", Settings: chela.Settings{Verbose: "off"}}, s); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
