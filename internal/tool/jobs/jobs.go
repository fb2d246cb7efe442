// Package jobs holds the tools that begin and look after jobs: create_job,
// list_jobs, job_status, job_events, job_prompt and cancel_job, and those by which
// a job tells how far it is: job_plan, job_step and job_parts. Who keeps jobs is
// handed in.
package jobs

import (
	"context"
	"fmt"
	"time"

	"chela"
)

// An Order is what create_job asks for. The call names the request: the same one
// makes no second job.
type Order struct {
	Call        chela.ToolCall
	Agent       string // empty for the caller's own
	Title, Text string
	Priority    int
	Options     chela.JobOptions
	Parts       []string
}

// A Desk keeps jobs. All fields are required; the functions may be called by
// several goroutines at once.
type Desk struct {
	Create func(ctx context.Context, o Order) (chela.Job, error)

	// Jobs returns the newest jobs that are wanted, the newest first.
	Jobs func(ctx context.Context, w Wanted) ([]chela.Job, error)

	Job    func(ctx context.Context, id chela.JobID) (View, error)
	Events func(ctx context.Context, id chela.JobID, after int) ([]chela.JobEvent, error)
	Prompt func(ctx context.Context, id chela.JobID, text string, call chela.ToolCall) error
	Cancel func(ctx context.Context, id chela.JobID, by string) (chela.Job, error)

	// What a job says of itself.
	Plan  func(ctx context.Context, id chela.JobID, steps []string) error
	Step  func(ctx context.Context, id chela.JobID, step chela.JobStep) error
	Parts func(ctx context.Context, id chela.JobID, call chela.CallID, texts []string) ([]chela.Job, error)

	Now func() time.Time
}

// Wanted says which jobs are to be listed.
type Wanted struct {
	Agent     string
	Requester chela.SessionKey // only those that this session asked for; empty for all
	States    []chela.JobState // only those in one of these; empty for all
	Limit     int
}

// A View is a job with what belongs to it.
type View struct {
	chela.Job
	Steps []chela.JobStep
	Parts []chela.Job
	Usage chela.TokenUsage
	Cost  chela.MicroUSD
}

// Tools returns the tools.
func Tools(d Desk) []chela.Tool {
	return []chela.Tool{d.create(), d.list(), d.status(), d.events(), d.prompt(), d.cancel(), d.plan(), d.step(), d.parts()}
}

// writing is the judgement of a call that changes rows of chela and may be run
// again with the same key.
func writing(preview string, subjects ...string) chela.Judgement {
	return chela.Judgement{Effect: chela.EffectWrite, Resume: chela.ResumeRepeat, Preview: preview, Subjects: subjects}
}

// by says who acts: the session of a call.
func by(c chela.ToolCall) string { return string(c.Session) }

// sees reports whether a session may know of a job: it asked for it or, where only
// the owner talks to the agent, it is one of the agent's.
func sees(c chela.ToolCall, j chela.Job) bool {
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

// find returns a job that the session of a call may know of. Others look as if
// they did not exist.
func (d Desk) find(ctx context.Context, c chela.ToolCall, id string) (View, error) {
	v, err := d.Job(ctx, chela.JobID(id))
	if err == nil && !sees(c, v.Job) {
		err = chela.E(chela.NotFound, fmt.Sprintf("there is no job %.60q", id))
	}
	if chela.KindOf(err) == chela.NotFound {
		err = chela.E(chela.NotFound, fmt.Sprintf("there is no job %.60q", id)).WithHint("list_jobs lists those that there are")
	}
	return v, err
}

// own returns the job whose session a call is from.
func own(c chela.ToolCall) (chela.JobID, error) {
	key, err := chela.ParseSessionKey(c.Session)
	if err != nil || key.Kind != chela.KeyJob {
		return "", chela.E(chela.Unsupported, "this session is not that of a job")
	}
	return chela.JobID(key.ID), nil
}
