package app_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/cli"
)

// A routineLife is what became of a routine from its making to its end.
type routineLife struct {
	Made, Changed chela.Routine
	Named         chela.Routine
	Next          []api.Due
	Again         bool // the same request is the same run
	Run           chela.RoutineRun
	Runs          []chela.RoutineRun
	Errors        []string
}

// live makes a routine, lets it fire, changes and deletes it.
func live(t *testing.T, b *cli.Backend, name string) (l routineLife) {
	t.Helper()
	ctx, home := t.Context(), b
	one, nobody := api.RoutineRef{Name: name}, api.RoutineRef{Name: "nobody"}
	l.Made = must(api.Call(ctx, home, api.RoutinesCreate, api.NewRoutine{
		Name: name, Trigger: chela.Trigger{Kind: chela.TriggerEvery, Every: chela.Span(500 * time.Hour), Anchor: time.Unix(0, 0)},
		Action: chela.RoutineAction{Kind: chela.ActionTurn, Text: "hello"}, Notify: chela.RoutineNotify{Policy: chela.NotifyNever},
	}))(t)
	firing := api.Firing{Input: "there", Key: "k"}
	first := must(api.Call(ctx, home, api.RoutinesFire, api.RoutineFiring{RoutineRef: one, Firing: firing}))(t)
	second := must(api.Call(ctx, home, api.RoutinesFire, api.RoutineFiring{RoutineRef: api.RoutineRef{Name: string(l.Made.ID)}, Firing: firing}))(t)
	l.Again = first == second
	l.Run = must(api.Call(ctx, home, api.RunsShow, api.RunQuery{ID: first.Run, WaitMS: api.MaxWait}))(t)
	l.Runs = must(api.All(ctx, home, api.RoutinesRuns, api.RunsQuery{RoutineRef: one, Limit: 10}))(t)
	l.Next = must(api.Call(ctx, home, api.RoutinesNext, api.DueQuery{Limit: 1}))(t).Items
	l.Changed = must(api.Call(ctx, home, api.RoutinesChange, api.RoutineEdit{RoutineRef: one, Change: api.RoutineChange{Enabled: new(false)}}))(t)
	l.Named = must(api.Call(ctx, home, api.RoutinesShow, one))(t)
	must(api.Call(ctx, home, api.RoutinesDelete, one))(t)
	for _, err := range []error{
		second1(api.Call(ctx, home, api.RoutinesDelete, one)),
		second1(api.Call(ctx, home, api.RoutinesShow, nobody)),
		second1(api.Call(ctx, home, api.RunsShow, api.RunQuery{ID: "run_nobody"})),
		second1(api.Call(ctx, home, api.RunsShow, api.RunQuery{ID: "run_nobody", WaitMS: 30_000})),
		second1(api.Call(ctx, home, api.RoutinesRuns, api.RunsQuery{RoutineRef: nobody, Limit: 1})),
		second1(api.Call(ctx, home, api.RoutinesCreate, api.NewRoutine{Name: "next"})),
		second1(api.Call(ctx, home, api.RoutinesCreate, api.NewRoutine{Name: "x y"})),
		second1(api.Call(ctx, home, api.RoutinesFire, api.RoutineFiring{RoutineRef: nobody})),
		second1(api.Call(ctx, home, api.RoutinesChange, api.RoutineEdit{RoutineRef: nobody})),
	} {
		l.Errors = append(l.Errors, string(chela.KindOf(err)))
	}
	return l
}

// must returns a function that ends the test if there is an error.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func second1[T any](_ T, err error) error { return err }

// TestRoutinesThroughTheDaemonAreTheSame lets a routine live in a home that is opened,
// and another one through a daemon.
func TestRoutinesThroughTheDaemonAreTheSame(t *testing.T) {
	t.Parallel()
	direct, through := bothWays(t)
	want, got := live(t, direct, "one"), live(t, through, "two")
	same := cmp.Options{
		cmpopts.IgnoreFields(chela.Routine{}, "ID", "Name", "CreatedAt", "UpdatedAt", "LastAt"),
		cmpopts.IgnoreFields(chela.RoutineRun{}, "ID", "Routine", "Due", "Session", "Thread", "Turn", "CreatedAt", "StartedAt", "FinishedAt"),
		cmpopts.IgnoreFields(api.Due{}, "Routine", "Name"), cmp.Comparer(time.Time.Equal),
	}
	if diff := cmp.Diff(want, got, same); diff != "" {
		t.Errorf("a routine (-direct +through)\n%s", diff)
	}
	if !want.Again || want.Run.State != chela.RunOK || want.Run.Output != "You said hello\n\nthere." || want.Runs[0].Output != "" || !want.Made.Origin.Owner {
		t.Errorf("the routine is %+v", want)
	}
	if diff := cmp.Diff([]string{"not_found", "not_found", "not_found", "not_found", "not_found", "invalid", "invalid", "not_found", "not_found"}, want.Errors); diff != "" {
		t.Errorf("errors (-want +got)\n%s", diff)
	}
}
