package command

import (
	"context"
	"strings"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
)

// TestOffIsTold: lists of routines and of their due times say that the configuration
// disables all triggers.
func TestOffIsTold(t *testing.T) {
	t.Parallel()
	tea := chela.Routine{ID: "rtn_1", Name: "tea", Enabled: true, Trigger: chela.Trigger{Kind: chela.TriggerEvery, Every: chela.Span(time.Hour)}}
	home := api.Local{Operations: []api.Bound{
		api.RoutinesList.Do(func(context.Context, api.Caller, api.RoutineQuery) (api.Page[chela.Routine], error) {
			return api.Page[chela.Routine]{Items: []chela.Routine{tea}}, nil
		}),
		api.RoutinesShow.Do(func(context.Context, api.Caller, api.RoutineRef) (chela.Routine, error) { return tea, nil }),
		api.RoutinesNext.Do(func(context.Context, api.Caller, api.DueQuery) (api.Page[api.Due], error) {
			return api.Page[api.Due]{Items: []api.Due{{Routine: "rtn_1", Name: "tea"}}}, nil
		}),
	}}
	for _, word := range []string{"list", "next"} {
		for _, off := range []bool{false, true} {
			i := &Interpreter{cfg: Config{Zone: time.UTC, RoutinesOff: off}}
			g := given{Interpreter: i, Local: home, Inbound: chela.Inbound{Session: "agent:main:main"}, args: word}
			said, err := g.routine(t.Context())
			if told := strings.Contains(said, "routines.enabled is false"); err != nil || told != off || !strings.Contains(said, "tea") {
				t.Errorf("%s, off %t: %q, %v", word, off, said, err)
			}
		}
	}
}
