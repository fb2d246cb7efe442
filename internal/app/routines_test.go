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
	Again         bool // the same wish is the same run
	Run           chela.RoutineRun
	Runs          []chela.RoutineRun
	Errors        []string
}

// live makes a routine, lets it fire, changes and deletes it.
func live(t *testing.T, b *cli.Backend, name string) (l routineLife) {
	t.Helper()
	ctx, r := t.Context(), b.Routines
	var err error
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	l.Made, err = r.Create(ctx, api.NewRoutine{
		Name: name, Trigger: chela.Trigger{Kind: chela.TriggerEvery, Every: chela.Span(500 * time.Hour), Anchor: time.Unix(0, 0)},
		Action: chela.RoutineAction{Kind: chela.ActionTurn, Text: "hello"}, Notify: chela.RoutineNotify{Policy: chela.NotifyNever},
	})
	must(err)
	first, err := r.Fire(ctx, name, api.Firing{Input: "there", Key: "k"})
	must(err)
	second, err := r.Fire(ctx, string(l.Made.ID), api.Firing{Input: "there", Key: "k"})
	must(err)
	l.Again = first == second
	l.Run, err = r.Ended(ctx, first, nil)
	must(err)
	l.Runs, err = r.Runs(ctx, name, 10)
	must(err)
	l.Next, err = r.Next(ctx, 1)
	must(err)
	off := false
	l.Changed, err = r.Change(ctx, name, api.RoutineChange{Enabled: &off})
	must(err)
	l.Named, err = r.Named(ctx, name)
	must(err)
	must(r.Delete(ctx, name))
	for _, err := range []error{
		r.Delete(ctx, name),
		second1(r.Named(ctx, "nobody")), second1(r.Run(ctx, "run_nobody")), second1(r.Ended(ctx, "run_nobody", nil)), second1(r.Runs(ctx, "nobody", 1)),
		second1(r.Create(ctx, api.NewRoutine{Name: "next"})), second1(r.Create(ctx, api.NewRoutine{Name: "x y"})),
		second1(r.Fire(ctx, "nobody", api.Firing{})), second1(r.Change(ctx, "nobody", api.RoutineChange{})),
	} {
		l.Errors = append(l.Errors, string(chela.KindOf(err)))
	}
	return l
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
