package self

// This part of the package holds the tools that create and control jobs:
// create_job, list_jobs, job_status, job_events, job_prompt and cancel_job, and
// the progress reports of a job: job_plan, job_step and job_parts. Access to
// the jobs is injected.

import (
	"context"
	"fmt"
	"time"

	"chela"
)

// An JobOrder is the request of create_job. It is keyed by the call: a repeated
// request creates no second job.
type JobOrder struct {
	Call        chela.ToolCall
	Agent       string // empty for the caller's own
	Title, Text string
	Priority    int
	Options     chela.JobOptions
	Parts       []string
}

// jobs are the jobs of a home. They are safe for concurrent use.
type jobs interface {
	Create(ctx context.Context, o JobOrder) (chela.Job, error)

	// Jobs returns the newest jobs that match, newest first.
	Jobs(ctx context.Context, w WantedJob) ([]chela.Job, error)

	Job(ctx context.Context, id chela.JobID) (JobView, error)
	Events(ctx context.Context, id chela.JobID, after int) ([]chela.JobEvent, error)
	Prompt(ctx context.Context, id chela.JobID, text string, call chela.ToolCall) error
	Cancel(ctx context.Context, id chela.JobID, by string) (chela.Job, error)

	progress
}

// progress is what a job reports about itself.
type progress interface {
	Plan(ctx context.Context, id chela.JobID, steps []string) error
	Step(ctx context.Context, id chela.JobID, step chela.JobStep) error
	Parts(ctx context.Context, id chela.JobID, call chela.CallID, texts []string) ([]chela.Job, error)
}

// jobTools makes the tools.
type jobTools struct {
	jobs
	now func() time.Time
}

// WantedJob filters the jobs of a list.
type WantedJob struct {
	Agent     string
	Requester chela.SessionKey // requested by this session; empty for all
	States    []chela.JobState // in any of these states; empty for all
	Limit     int
}

// A JobView is a job with its steps and parts.
type JobView struct {
	chela.Job
	Steps []chela.JobStep
	Parts []chela.Job
	Usage chela.TokenUsage
	Cost  chela.MicroUSD

	Provenance chela.Provenance // provenance of the result
}

// JobTools returns the tools.
func JobTools(of jobs, now func() time.Time) []chela.Tool {
	d := jobTools{of, now}
	return []chela.Tool{d.create(), d.list(), d.status(), d.events(), d.prompt(), d.cancel(), d.plan(), d.step(), d.parts()}
}

// jobChange is the judgement of a call that changes rows of chela's store and may
// be repeated with the same key.
func jobChange(preview string, subjects ...string) chela.Judgement {
	return chela.Judgement{Effect: chela.EffectWrite, Resume: chela.ResumeRepeat, Preview: preview, Subjects: subjects}
}

// powerful returns the judgement of a call that needs a capability.
func powerful(p chela.Power, j chela.Judgement) chela.Judgement {
	j.Power = p
	return j
}

// requesterOf returns the actor: the session of a call.
func requesterOf(c chela.ToolCall) string { return string(c.Session) }

// seesJob reports whether a session may see a job: it requested the job or, in a
// session of the owner alone, the job belongs to the agent.
func seesJob(c chela.ToolCall, j chela.Job) bool {
	if j.Requester == c.Session && j.Requester != "" || j.Session == c.Session {
		return true
	}
	return j.Agent == c.Agent && isMain(c.Session)
}

// isMain reports whether a session is a main one.
func isMain(session chela.SessionKey) bool {
	key, err := chela.ParseSessionKey(session)
	return err == nil && key.Kind == chela.KeyMain
}

// find returns a job that the session of a call may see. Others are NotFound,
// as if they did not exist.
func (d jobTools) find(ctx context.Context, c chela.ToolCall, id string) (JobView, error) {
	v, err := d.Job(ctx, chela.JobID(id))
	if err == nil && !seesJob(c, v.Job) {
		err = chela.E(chela.NotFound, fmt.Sprintf("there is no job %.60q", id))
	}
	if chela.KindOf(err) == chela.NotFound {
		err = chela.E(chela.NotFound, fmt.Sprintf("there is no job %.60q", id)).WithHint("list_jobs lists those that there are")
	}
	return v, err
}

// ownJob returns the job whose session made a call.
func ownJob(c chela.ToolCall) (chela.JobID, error) {
	key, err := chela.ParseSessionKey(c.Session)
	if err != nil || key.Kind != chela.KeyJob {
		return "", chela.E(chela.Unsupported, "this session is not that of a job")
	}
	return chela.JobID(key.ID), nil
}
