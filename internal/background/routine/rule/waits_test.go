package rule_test

import (
	"testing"

	"chela"
	"chela/internal/background/routine/rule"
)

func TestWaits(t *testing.T) {
	t.Parallel()
	asked := []chela.Approval{{ID: "apr_0", Tool: "web", State: chela.ApprovalGranted}, {ID: "apr_1", Tool: "shell", State: chela.ApprovalPending}}
	const answer = "it asks whether it may use shell: answer with chela approvals yes apr_1, or no"
	job := func(state chela.JobState, waits int) *chela.Job {
		return &chela.Job{ID: "job_1", State: state, Waits: waits, Reason: "waits for others"}
	}
	for name, c := range map[string]struct {
		waits rule.Obstacle
		want  string
	}{
		"nothing known":       {rule.Obstacle{}, ""},
		"turn runs":           {rule.Obstacle{Turn: &chela.Turn{State: chela.TurnProcessing}, Approvals: asked}, ""},
		"turn asks":           {rule.Obstacle{Turn: &chela.Turn{State: chela.TurnAwaiting}, Approvals: asked}, answer},
		"turn waits":          {rule.Obstacle{Turn: &chela.Turn{State: chela.TurnAwaiting}, Approvals: asked[:1]}, "it waits for a person"},
		"job pending":         {rule.Obstacle{Job: job(chela.JobPending, 0)}, "its job job_1 waits for a slot"},
		"job with parts":      {rule.Obstacle{Job: job(chela.JobPending, 2)}, "its job job_1 waits for others"},
		"job runs":            {rule.Obstacle{Job: job(chela.JobInProgress, 0), Approvals: asked}, ""},
		"job waits":           {rule.Obstacle{Job: job(chela.JobInProgress, 1)}, "its job job_1 waits for others"},
		"job asks":            {rule.Obstacle{Job: job(chela.JobAwaiting, 0), Approvals: asked}, "its job job_1 waits: " + answer},
		"job recovers":        {rule.Obstacle{Job: job(chela.JobRecovering, 0)}, ""},
		"job that ended":      {rule.Obstacle{Job: job(chela.JobFailed, 0)}, ""},
		"job nobody knows of": {rule.Obstacle{Job: &chela.Job{ID: "job_1"}}, ""},
	} {
		if got := c.waits.Text(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestToBegin(t *testing.T) {
	t.Parallel()
	d := rule.Defaults{Most: 3}
	turn := chela.Routine{ID: "rtn_1", Action: chela.RoutineAction{Kind: chela.ActionTurn}}
	says, many := turn, turn
	says.Action.Kind, many.Guards.Concurrent = chela.ActionNotify, -1
	full := rule.Places{Running: map[chela.RoutineID]int{"rtn_2": 3}, Taken: 3}
	waiting := rule.Places{Running: map[chela.RoutineID]int{"rtn_1": 1, "rtn_2": 3}, Taken: 2}
	for name, c := range map[string]struct {
		routine chela.Routine
		places  rule.Places
		next    bool
		want    string
	}{
		"free":             {turn, rule.Places{}, true, ""},
		"not the next":     {turn, rule.Places{}, false, "older runs of its routine begin first"},
		"no place":         {turn, full, true, "a slot: the limit of 3 running runs is reached"},
		"needs no place":   {says, full, true, ""},
		"guard":            {turn, waiting, true, "its routine is running once already, the limit of its guard"},
		"no guard":         {many, waiting, true, ""},
		"others that wait": {chela.Routine{ID: "rtn_3"}, waiting, true, ""},
	} {
		if got := d.ToBegin(c.routine, c.places, c.next); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if may := d.MayBegin(c.routine, c.places); c.next && may != (c.want == "") {
			t.Errorf("%s: it may begin: %t", name, may)
		}
	}
	p := rule.Places{Running: map[chela.RoutineID]int{}}
	p.Take(turn)
	p.Take(turn)
	p.Take(says)
	if p.Taken != 2 || p.Running["rtn_1"] != 2 {
		t.Errorf("taken: %+v", p)
	}
}
