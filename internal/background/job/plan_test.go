package job_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
)

// underWay begins a job that is under way until it is cancelled.
func underWay(t *testing.T) (*house, chela.Job) {
	t.Helper()
	h := lite(t, `
turns:
  - {when: "has ended", steps: [{text: "NO_REPLY"}]}
  - {when: "slow", steps: [{text: "never", delay_ms: 60000}]}
`, nil)
	j := h.create(order("slow"))
	h.untilIt(j.ID, func(v api.Job) bool { return v.State == chela.JobInProgress && v.Turn != "" })
	return h, j
}

// steps returns the plan of a job, and how many events of a kind its story has.
func (h *house) steps(id chela.JobID, kind chela.JobEventKind) (steps []chela.JobStep, events int) {
	h.t.Helper()
	v, err := h.desk.Job(h.t.Context(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	all, err := h.desk.Events(h.t.Context(), id, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, e := range all {
		if e.Kind == kind {
			events++
		}
	}
	return v.Steps, events
}

// TestPlanIsChecked: a plan has up to 100 steps of up to 2,000 bytes. The same one
// changes nothing, and a step with the same text keeps its state.
func TestPlanIsChecked(t *testing.T) {
	t.Parallel()
	h, j := underWay(t)
	many := strings.Split(strings.Repeat("step ", 101), " ")[:101]
	for _, c := range []struct {
		name  string
		steps []string
		want  chela.Kind
	}{
		{"too many steps", many, chela.Invalid},
		{"as many as there may be", many[:100], ""},
		{"an empty step", []string{"a", ""}, chela.Invalid},
		{"a blank step", []string{" \n"}, chela.Invalid},
		{"a step that is too long", []string{strings.Repeat("a", 2001)}, chela.Invalid},
		{"the longest step", []string{strings.Repeat("a", 2000)}, ""},
		{"no step", nil, ""},
	} {
		if err := h.desk.Plan(t.Context(), j.ID, c.steps); chela.KindOf(err) != c.want {
			t.Errorf("%s: %v, want kind %q", c.name, err, c.want)
		}
	}

	if err := h.desk.Plan(t.Context(), j.ID, []string{"a", "b"}); err != nil {
		t.Fatal(err)
	}
	_, before := h.steps(j.ID, chela.JobPlanned)
	if err := h.desk.Step(t.Context(), j.ID, chela.JobStep{Place: 2, State: chela.StepDone, Note: "done"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := h.desk.Plan(t.Context(), j.ID, []string{"c", "b"}); err != nil {
			t.Fatal(err)
		}
	}
	steps, after := h.steps(j.ID, chela.JobPlanned)
	want := []chela.JobStep{{Place: 1, Text: "c", State: chela.StepPending}, {Place: 2, Text: "b", State: chela.StepDone, Note: "done"}}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	same(t, "plans that were told", 1, after-before)

	// A step that was the first one keeps its state in another place.
	if err := h.desk.Step(t.Context(), j.ID, chela.JobStep{Place: 1, State: chela.StepInProgress}); err != nil {
		t.Fatal(err)
	}
	if err := h.desk.Plan(t.Context(), j.ID, []string{"b", "c"}); err != nil {
		t.Fatal(err)
	}
	steps, _ = h.steps(j.ID, chela.JobPlanned)
	want = []chela.JobStep{{Place: 1, Text: "b", State: chela.StepDone, Note: "done"}, {Place: 2, Text: "c", State: chela.StepInProgress}}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Errorf("plan in another order (-want +got):\n%s", diff)
	}

	if _, err := h.desk.Cancel(t.Context(), j.ID, "me"); err != nil {
		t.Fatal(err)
	}
	if err := h.desk.Plan(t.Context(), j.ID, []string{"d"}); chela.KindOf(err) != chela.Conflict {
		t.Errorf("planned what has ended: %v", err)
	}
	if err := h.desk.Step(t.Context(), j.ID, chela.JobStep{Place: 1, State: chela.StepDone}); chela.KindOf(err) != chela.Conflict {
		t.Errorf("went on with what has ended: %v", err)
	}
	h.rest()
}

// TestStepsAreChecked: a step is one of the plan, and its note stays until there is
// another one.
func TestStepsAreChecked(t *testing.T) {
	t.Parallel()
	h, j := underWay(t)
	if err := h.desk.Plan(t.Context(), j.ID, []string{"a", "b"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		step   chela.JobStep
		want   chela.Kind
		events int // that are told of steps so far
	}{
		{chela.JobStep{Place: 0, State: chela.StepDone}, chela.NotFound, 0},
		{chela.JobStep{Place: 3, State: chela.StepDone}, chela.NotFound, 0},
		{chela.JobStep{Place: 1, State: "over"}, chela.Invalid, 0},
		{chela.JobStep{Place: 1}, chela.Invalid, 0},
		{chela.JobStep{Place: 1, State: chela.StepPending}, "", 0}, // it is already
		{chela.JobStep{Place: 1, State: chela.StepInProgress, Note: "first"}, "", 1},
		{chela.JobStep{Place: 1, State: chela.StepDone}, "", 2},
		{chela.JobStep{Place: 1, State: chela.StepDone}, "", 2},
		{chela.JobStep{Place: 2, State: chela.StepSkipped, Note: "second"}, "", 3},
	} {
		if err := h.desk.Step(t.Context(), j.ID, c.step); chela.KindOf(err) != c.want {
			t.Errorf("%+v: %v, want kind %q", c.step, err, c.want)
		}
		if _, events := h.steps(j.ID, chela.JobStepped); events != c.events {
			t.Errorf("after %+v: %d steps were told, want %d", c.step, events, c.events)
		}
	}
	steps, _ := h.steps(j.ID, chela.JobStepped)
	want := []chela.JobStep{{Place: 1, Text: "a", State: chela.StepDone, Note: "first"}, {Place: 2, Text: "b", State: chela.StepSkipped, Note: "second"}}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if _, err := h.desk.Cancel(t.Context(), j.ID, "me"); err != nil {
		t.Fatal(err)
	}
	h.rest()
}
