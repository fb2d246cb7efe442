package self

// This part of the package holds the tools that create and control jobs:
// create_job, list_jobs, job_status, job_events, job_prompt and cancel_job, and
// the progress reports of a job: job_plan, job_step and job_parts.

import (
	"context"
	"time"

	"chela"
)

// JobConfig holds the dependencies of the tools of jobs. All fields are required.
type JobConfig struct {
	Connect  ConnectFunc
	Progress progress
	Agents   func(agent string) []string // that an agent may let work on a job
	Now      func() time.Time
}

// progress is what a job reports about itself.
type progress interface {
	Plan(ctx context.Context, id chela.JobID, steps []string) error
	Step(ctx context.Context, id chela.JobID, step chela.JobStep) error
	Parts(ctx context.Context, id chela.JobID, key string, texts []string) ([]chela.Job, error)
}

// jobTools makes the tools.
type jobTools struct{ JobConfig }

// JobTools returns the tools.
func JobTools(cfg JobConfig) []chela.Tool {
	d := jobTools{cfg}
	return []chela.Tool{
		define("create_job", d.create, createJobInput.judge), define("list_jobs", d.list, nil),
		define("job_status", d.status, nil), define("job_events", d.events, nil),
		define("job_prompt", d.prompt, promptInput.judge), define("cancel_job", d.cancel, jobInput.judgeCancel),
		define("job_plan", d.plan, planInput.judge), define("job_step", d.step, stepInput.judge), define("job_parts", d.parts, partsInput.judge),
	}
}

// jobs returns the connection of a call.
func (d jobTools) jobs(call chela.ToolCall) connection {
	return connection{d.Connect, call, "list_jobs lists those that there are"}
}

// ownJob returns the job whose session made a call.
func ownJob(c chela.ToolCall) (chela.JobID, error) {
	key, err := chela.ParseSessionKey(c.Session)
	if err != nil || key.Kind != chela.KeyJob {
		return "", chela.E(chela.Unsupported, "this session is not that of a job")
	}
	return chela.JobID(key.ID), nil
}
