package app_test

import (
	"slices"
	"strings"
	"testing"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/cli"
)

// told waits until somebody is told something that begins and goes on as wanted.
func told(t *testing.T, b *cli.Backend, begins, has string) {
	t.Helper()
	for {
		notices, err := api.All(t.Context(), b, api.NoticesList, api.NoticeQuery{})
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(notices, func(o chela.Outbound) bool {
			return strings.HasPrefix(o.Text, begins) && strings.Contains(o.Text, has)
		}) {
			return
		}
	}
}

// TestNoticesSayWhoSpeaks: the question of a job begins with its title and its id, and
// what a routine says with its name.
func TestNoticesSayWhoSpeaks(t *testing.T) {
	t.Parallel()
	b := openHome(t, `
turns:
  - {when: make it, steps: [{calls: [{tool: shell, args: {command: sleep 0}}]}, {text: Made.}]}
  - {steps: [{text: Looked.}]}
`)
	j, err := api.Call(t.Context(), b, api.JobsCreate, api.NewJob{Text: "make it", Title: "warm house"})
	if err != nil {
		t.Fatal(err)
	}
	if at := jobAtRest(t, b, j.ID); at.State != chela.JobAwaiting {
		t.Fatalf("the job is %s", at.State)
	}
	told(t, b, "warm house ("+string(j.ID)+"): asks whether it may use shell", "chela approvals yes apr_")
	v, err := api.Call(t.Context(), b, api.RoutinesCreate, api.NewRoutine{
		Name: "tea", Trigger: chela.Trigger{Kind: chela.TriggerManual}, Action: chela.RoutineAction{Kind: chela.ActionTurn, Text: "look"},
		Notify: chela.RoutineNotify{Policy: chela.NotifyAlways},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.Call(t.Context(), b, api.RoutinesFire, api.RoutineFiring{RoutineRef: api.RoutineRef{Name: v.Name}}); err != nil {
		t.Fatal(err)
	}
	told(t, b, "tea: ", "Looked.")
}
