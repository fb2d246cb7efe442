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
	run := chela.RoutineRun{ID: "run_1", Routine: "rtn_1", State: chela.RunRunning, Due: day.UTC()}
	ended := run
	ended.State, ended.Output = chela.RunOK, "well"
	due := api.Due{At: day.UTC(), Routine: "rtn_1", Name: "daily"}
	off := false
	checkNouns(t, []nounsCase{
		{
			"all", func(ctx context.Context, c *client.Client) (any, error) { return c.Routines().All(ctx) },
			[]any{page(v)},
			[]string{"GET /api/routines"},
			[]chela.Routine{v},
		},
		{
			"named", func(ctx context.Context, c *client.Client) (any, error) { return c.Routines().Named(ctx, "da/ily") },
			[]any{v},
			[]string{"GET /api/routines/da%2Fily"},
			v,
		},
		{
			"create", func(ctx context.Context, c *client.Client) (any, error) {
				return c.Routines().Create(ctx, api.NewRoutine{Name: "daily", Trigger: chela.Trigger{Kind: chela.TriggerManual}})
			},
			[]any{v},
			[]string{"POST /api/routines", `{"name":"daily","trigger":{"kind":"manual"},"action":{"kind":"","text":""}}`},
			v,
		},
		{
			"change", func(ctx context.Context, c *client.Client) (any, error) {
				return c.Routines().Change(ctx, "daily", api.RoutineChange{Enabled: &off})
			},
			[]any{v},
			[]string{"PATCH /api/routines/daily", `{"enabled":false}`},
			v,
		},
		{
			"delete", func(ctx context.Context, c *client.Client) (any, error) {
				return nil, c.Routines().Delete(ctx, "daily")
			},
			[]any{nil},
			[]string{"DELETE /api/routines/daily"},
			nil,
		},
		{
			"fire", func(ctx context.Context, c *client.Client) (any, error) {
				return c.Routines().Fire(ctx, "daily", api.Firing{Input: "now", Key: "k"})
			},
			[]any{api.Fired{Run: "run_1"}},
			[]string{"POST /api/routines/daily/fire", `{"input":"now","key":"k"}`},
			chela.RunID("run_1"),
		},
		{
			"runs", func(ctx context.Context, c *client.Client) (any, error) { return c.Routines().Runs(ctx, "daily", 2) },
			[]any{page(run)},
			[]string{"GET /api/routines/daily/runs?limit=2"},
			[]chela.RoutineRun{run},
		},
		{
			"run", func(ctx context.Context, c *client.Client) (any, error) { return c.Routines().Run(ctx, "run_1") },
			[]any{run},
			[]string{"GET /api/runs/run_1"},
			run,
		},
		{
			"ended", func(ctx context.Context, c *client.Client) (any, error) { return c.Routines().Ended(ctx, "run_1", nil) },
			[]any{run, ended},
			[]string{"GET /api/runs/run_1?wait_ms=30000", "GET /api/runs/run_1?wait_ms=30000"},
			ended,
		},
		{
			"next", func(ctx context.Context, c *client.Client) (any, error) { return c.Routines().Next(ctx, 3) },
			[]any{page(due)},
			[]string{"GET /api/routines/next?limit=3"},
			[]api.Due{due},
		},
	})
}
