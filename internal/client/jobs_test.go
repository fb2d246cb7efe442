package client_test

import (
	"context"
	"testing"

	"chela"
	"chela/internal/api"
	"chela/internal/client"
)

func TestJobs(t *testing.T) {
	t.Parallel()
	j := chela.Job{ID: "job_1", State: chela.JobCompleted, Title: "bread", CreatedAt: day.UTC()}
	shown := api.Job{Job: j, Steps: []chela.JobStep{{Place: 1, Text: "look"}}, Cost: 3}
	checkNouns(t, []nounsCase{
		{
			"create", func(ctx context.Context, c *client.Client) (any, error) {
				return c.Jobs().Create(ctx, api.NewJob{Text: "bake", Parts: []string{"a"}, Key: "k"})
			},
			[]any{j},
			[]string{"POST /api/jobs", `{"text":"bake","parts":["a"],"key":"k"}`},
			j,
		},
		{
			"list", func(ctx context.Context, c *client.Client) (any, error) {
				return c.Jobs().List(ctx, api.JobFilter{
					States: []chela.JobState{chela.JobFailed, chela.JobPending}, Kind: chela.JobPlain, Requester: "agent:main:main", Before: "job_9", Limit: 2,
				})
			},
			[]any{api.Page[chela.Job]{Items: []chela.Job{j}, Next: "job_1"}},
			[]string{"GET /api/jobs?after=job_9&kind=job&limit=2&requester=agent%3Amain%3Amain&state=failed%2Cpending"},
			[]chela.Job{j},
		},
		{
			"show", func(ctx context.Context, c *client.Client) (any, error) { return c.Jobs().Job(ctx, "job_1") },
			[]any{shown},
			[]string{"GET /api/jobs/job_1"},
			shown,
		},
		{
			"events", func(ctx context.Context, c *client.Client) (any, error) { return c.Jobs().Events(ctx, "job_1", 3) },
			[]any{
				api.Page[chela.JobEvent]{Items: []chela.JobEvent{{Seq: 4}}, Next: "4"},
				api.Page[chela.JobEvent]{Items: []chela.JobEvent{{Seq: 5}}},
			},
			[]string{"GET /api/jobs/job_1/events?after=3", "GET /api/jobs/job_1/events?after=4"},
			[]chela.JobEvent{{Seq: 4}, {Seq: 5}},
		},
		{
			"files", func(ctx context.Context, c *client.Client) (any, error) { return c.Jobs().Files(ctx, "job_1") },
			[]any{api.Page[api.JobFile]{Items: []api.JobFile{{Path: "a.txt", Size: 2}}}},
			[]string{"GET /api/jobs/job_1/files"},
			[]api.JobFile{{Path: "a.txt", Size: 2}},
		},
		{
			"file", func(ctx context.Context, c *client.Client) (any, error) {
				content, err := c.Jobs().File(ctx, "job_1", "b/a.txt")
				return string(content), err
			},
			[]any{"hi"},
			[]string{"GET /api/jobs/job_1/files/content?path=b%2Fa.txt"},
			"hi",
		},
	})
}

func TestJobsAreChanged(t *testing.T) {
	t.Parallel()
	j := chela.Job{ID: "job_1", State: chela.JobCompleted, CreatedAt: day.UTC()}
	moving := func(name string, move func(client.Jobs) func(context.Context, chela.JobID) (chela.Job, error)) nounsCase {
		return nounsCase{
			name, func(ctx context.Context, c *client.Client) (any, error) { return move(c.Jobs())(ctx, "job/1") },
			[]any{j},
			[]string{"POST /api/jobs/job%2F1/" + name},
			j,
		}
	}
	checkNouns(t, []nounsCase{
		moving("cancel", func(j client.Jobs) func(context.Context, chela.JobID) (chela.Job, error) { return j.Cancel }),
		moving("accept", func(j client.Jobs) func(context.Context, chela.JobID) (chela.Job, error) { return j.Accept }),
		{
			"restart", func(ctx context.Context, c *client.Client) (any, error) {
				return c.Jobs().Restart(ctx, "job_1", api.JobAgain{Steps: 9})
			},
			[]any{j},
			[]string{"POST /api/jobs/job_1/restart", `{"steps":9}`},
			j,
		},
		{
			"prompt", func(ctx context.Context, c *client.Client) (any, error) {
				return c.Jobs().Prompt(ctx, "job_1", api.JobText{Text: "faster", Key: "k"})
			},
			[]any{j},
			[]string{"POST /api/jobs/job_1/prompt", `{"text":"faster","key":"k"}`},
			j,
		},
		{
			"modify", func(ctx context.Context, c *client.Client) (any, error) {
				return c.Jobs().Modify(ctx, "job_1", api.JobText{Text: "more"})
			},
			[]any{j},
			[]string{"POST /api/jobs/job_1/modify", `{"text":"more"}`},
			j,
		},
	})
}
