package command_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/command"
)

// Who asks for routines, or when they are due, is told that the configuration lets
// none fire by itself.
func TestOffIsTold(t *testing.T) {
	t.Parallel()
	tea := chela.Routine{ID: "rtn_1", Name: "tea", Enabled: true, Trigger: chela.Trigger{Kind: chela.TriggerEvery, Every: chela.Span(time.Hour)}}
	h := command.RoutineAPI{
		All:   func(context.Context) ([]chela.Routine, error) { return []chela.Routine{tea}, nil },
		Named: func(context.Context, string) (chela.Routine, error) { return tea, nil },
		Next:  func(context.Context, int) ([]api.Due, error) { return []api.Due{{Routine: "rtn_1", Name: "tea"}}, nil },
		Zone:  time.UTC,
	}
	for _, word := range []string{"list", "next"} {
		for _, off := range []bool{false, true} {
			h.Off = off
			said, err := h.Routine(t.Context(), command.RoutineOrder{Args: word})
			if told := strings.Contains(said, "routines.enabled is false"); err != nil || told != off {
				t.Errorf("%s, off %t: %q, %v", word, off, said, err)
			}
		}
	}
}
