package client_test

import (
	"context"
	"testing"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/client"
)

func TestRoutines(t *testing.T) {
	t.Parallel()
	v := chela.Routine{ID: "rtn_1", Name: "daily", NextAt: day.UTC()}
	off, daily := false, api.RoutineRef{Name: "daily"}
	checkNouns(t, []nounsCase{
		{
			"all", func(ctx context.Context, c *client.Client) (any, error) {
				return api.All(ctx, c, api.RoutinesList, api.RoutineQuery{})
			},
			[]any{page(v)},
			[]string{"GET /api/routines"},
			[]chela.Routine{v},
		},
		{
			"named", func(ctx context.Context, c *client.Client) (any, error) {
				return api.Call(ctx, c, api.RoutinesShow, api.RoutineRef{Name: "da/ily"})
			},
			[]any{v},
			[]string{"GET /api/routines/da%2Fily"},
			v,
		},
		{
			"create", func(ctx context.Context, c *client.Client) (any, error) {
				return api.Call(ctx, c, api.RoutinesCreate, api.NewRoutine{Name: "daily", Trigger: chela.Trigger{Kind: chela.TriggerManual}})
			},
			[]any{v},
			[]string{"POST /api/routines", `{"name":"daily","trigger":{"kind":"manual"},"action":{"kind":"","text":""}}`},
			v,
		},
		{
			"change", func(ctx context.Context, c *client.Client) (any, error) {
				return api.Call(ctx, c, api.RoutinesChange, api.RoutineEdit{RoutineRef: daily, Change: api.RoutineChange{Enabled: &off}})
			},
			[]any{v},
			[]string{"PATCH /api/routines/daily", `{"enabled":false}`},
			v,
		},
		{
			"delete", func(ctx context.Context, c *client.Client) (any, error) {
				return api.Call(ctx, c, api.RoutinesDelete, daily)
			},
			[]any{nil},
			[]string{"DELETE /api/routines/daily"},
			api.None{},
		},
		{
			"fire", func(ctx context.Context, c *client.Client) (any, error) {
				return api.Call(ctx, c, api.RoutinesFire, api.RoutineFiring{RoutineRef: daily, Firing: api.Firing{Input: "now", Key: "k"}})
			},
			[]any{api.FiredRun{Run: "run_1"}},
			[]string{"POST /api/routines/daily/fire", `{"input":"now","key":"k"}`},
			api.FiredRun{Run: "run_1"},
		},
	})
}

// TestRuns reads runs of routines and their due times.
func TestRuns(t *testing.T) {
	t.Parallel()
	run := chela.RoutineRun{ID: "run_1", Routine: "rtn_1", State: chela.RunRunning, Due: day.UTC()}
	ended := run
	ended.State, ended.Output = chela.RunOK, "well"
	due := api.Due{At: day.UTC(), Routine: "rtn_1", Name: "daily"}
	daily := api.RoutineRef{Name: "daily"}
	checkNouns(t, []nounsCase{
		{
			"runs", func(ctx context.Context, c *client.Client) (any, error) {
				return api.Call(ctx, c, api.RoutinesRuns, api.RunsQuery{RoutineRef: daily, Limit: 2})
			},
			[]any{page(run)},
			[]string{"GET /api/routines/daily/runs?limit=2"},
			page(run),
		},
		{
			"run", func(ctx context.Context, c *client.Client) (any, error) {
				return api.Call(ctx, c, api.RunsShow, api.RunQuery{ID: "run_1"})
			},
			[]any{run},
			[]string{"GET /api/runs/run_1"},
			run,
		},
		{
			"ended", func(ctx context.Context, c *client.Client) (any, error) {
				return api.Call(ctx, c, api.RunsShow, api.RunQuery{ID: "run_1", WaitMS: 30_000, Waits: new("")})
			},
			[]any{ended},
			[]string{"GET /api/runs/run_1?wait_ms=30000&waits="},
			ended,
		},
		{
			"next", func(ctx context.Context, c *client.Client) (any, error) {
				return api.Call(ctx, c, api.RoutinesNext, api.DueQuery{Limit: 3})
			},
			[]any{page(due)},
			[]string{"GET /api/routines/next?limit=3"},
			page(due),
		},
	})
}
