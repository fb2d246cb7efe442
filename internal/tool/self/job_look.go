package self

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/tool"
)

type listJobsInput struct {
	State string `json:"state,omitempty" jsonschema:"only those in this state" enum:"live,pending,in_progress,awaiting_approval,paused,completed,submitted,accepted,modified,failed,interrupted,cancelled,stuck,recovering"`
	Limit int    `json:"limit,omitempty" jsonschema:"number of rows" min:"1" max:"100"`
}

// liveJobs are the states of unfinished jobs.
var liveJobs = []chela.JobState{
	chela.JobPending, chela.JobInProgress, chela.JobAwaiting, chela.JobPaused, chela.JobModified, chela.JobStuck, chela.JobRecovering,
}

func (d jobTools) list(ctx context.Context, call tool.Call[listJobsInput]) (chela.ToolResult, error) {
	var states []chela.JobState
	switch call.In.State {
	case "":
	case "live":
		states = liveJobs
	default:
		states = []chela.JobState{chela.JobState(call.In.State)}
	}
	page, err := api.Call(ctx, d.jobs(call.ToolCall), api.JobsList, api.JobFilter{States: states, Limit: cmp.Or(call.In.Limit, 20)})
	res := tool.Done(jobLines(page.Items))
	for _, j := range page.Items {
		res.Provenance = res.Provenance.With(j.Origin.Provenance)
	}
	return res, err
}

// jobLines formats jobs, one per line.
func jobLines(jobs []chela.Job) string {
	if len(jobs) == 0 {
		return "[there are no such jobs]"
	}
	var b strings.Builder
	for _, j := range jobs {
		fmt.Fprintf(&b, "%s  %s  %s\n", j.ID, j.State, oneLine(j.Title))
	}
	return b.String()
}

type jobInput struct {
	JobID string `json:"job_id" jsonschema:"id of the job"`
}

func jobRef(id string) api.JobRef { return api.JobRef{ID: chela.JobID(id)} }

func (d jobTools) status(ctx context.Context, call tool.Call[jobInput]) (chela.ToolResult, error) {
	v, err := api.Call(ctx, d.jobs(call.ToolCall), api.JobsShow, jobRef(call.In.JobID))
	res := tool.Done(d.told(v))
	res.Provenance = v.Provenance
	return res, err
}

// told formats all details of a job.
func (d jobTools) told(v api.Job) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\nstate: %s", v.ID, oneLine(v.Title), v.State)
	if v.Reason != "" {
		fmt.Fprintf(&b, " (%s)", oneLine(v.Reason))
	}
	fmt.Fprintf(&b, "\nattempt: %d, created %s", v.Attempt, v.CreatedAt.UTC().Format(time.RFC3339))
	if !v.StartedAt.IsZero() {
		end := v.FinishedAt
		if end.IsZero() {
			end = d.Now()
		}
		fmt.Fprintf(&b, ", runtime %s", end.Sub(v.StartedAt).Round(time.Second))
	}
	if tokens := v.Usage.Total(); tokens > 0 {
		fmt.Fprintf(&b, "\nspent: %d tokens, %s", tokens, v.Cost)
	}
	fmt.Fprintf(&b, "\nsession: %s\n", v.Session)
	for _, s := range v.Steps {
		fmt.Fprintf(&b, "step %d [%s] %s", s.Place, s.State, oneLine(s.Text))
		if s.Note != "" {
			fmt.Fprintf(&b, ": %s", oneLine(s.Note))
		}
		b.WriteByte('\n')
	}
	for _, p := range v.Parts {
		fmt.Fprintf(&b, "part %d %s [%s] %s\n", p.Place+1, p.ID, p.State, oneLine(p.Title))
	}
	if v.Result != "" {
		fmt.Fprintf(&b, "\nresult:\n%s\n", v.Result)
	}
	return b.String()
}

type eventsInput struct {
	JobID string `json:"job_id" jsonschema:"id of the job"`
	After int    `json:"after,omitempty" jsonschema:"only events with a higher number" min:"0"`
}

func (d jobTools) events(ctx context.Context, call tool.Call[eventsInput]) (res chela.ToolResult, err error) {
	v, err := api.Call(ctx, d.jobs(call.ToolCall), api.JobsShow, jobRef(call.In.JobID))
	if err != nil {
		return res, err
	}
	page, err := api.Call(ctx, d.jobs(call.ToolCall), api.JobsEvents, api.JobEventsQuery{JobRef: jobRef(call.In.JobID), After: call.In.After, Limit: api.MaxPage})
	res = tool.Done(jobStory(page.Items))
	res.Provenance = v.Provenance
	return res, err
}

// jobStory formats the events of a job, one per line.
func jobStory(events []chela.JobEvent) string {
	if len(events) == 0 {
		return "[nothing has happened since]"
	}
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%d  %s  %s", e.Seq, e.At.UTC().Format(time.RFC3339), e.Kind)
		if e.To != "" {
			fmt.Fprintf(&b, " %s → %s", e.From, e.To)
		}
		if e.Step > 0 {
			fmt.Fprintf(&b, " %d", e.Step)
		}
		if e.Text != "" {
			fmt.Fprintf(&b, ": %s", oneLine(e.Text))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
