package self

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/tool"
)

// maxParts is how many subtasks one call may ask for.
const maxParts = 20

type createJobInput struct {
	Title          string   `json:"title" jsonschema:"a few words that name it to people"`
	Description    string   `json:"description" jsonschema:"the whole task; the job knows nothing else"`
	Subtasks       []string `json:"subtasks,omitempty" jsonschema:"tasks of parts that run at the same time"`
	Plan           bool     `json:"plan,omitempty" jsonschema:"write down a plan first"`
	Priority       int      `json:"priority,omitempty" jsonschema:"jobs of a higher priority begin first" min:"-10" max:"10"`
	Agent          string   `json:"agent,omitempty" jsonschema:"agent that works on it"`
	Model          string   `json:"model,omitempty" jsonschema:"provider/model"`
	Thinking       string   `json:"thinking,omitempty" jsonschema:"how much the model reasons" enum:"off,minimal,low,medium,high,xhigh"`
	MaxSteps       int      `json:"max_steps,omitempty" jsonschema:"model calls in one turn" min:"1" max:"1000"`
	TimeoutSeconds int      `json:"timeout_seconds,omitempty" jsonschema:"time limit of one turn" min:"1" max:"86400"`
	MaxTokens      int64    `json:"max_tokens,omitempty" jsonschema:"limit of tokens of all its model calls" min:"1" max:"1000000000"`
	Mode           string   `json:"mode,omitempty" jsonschema:"not supported; leave it out" enum:"local,container,agent"`
}

func (in createJobInput) judge() chela.Judgement {
	j := change("job: "+in.Title+"\n"+in.Description+tool.Shown(in, "title", "description"), in.Title)
	if in.Model != "" || in.Agent != "" {
		return powerful(chela.PowerModel, j)
	}
	return powerful(chela.PowerJob, j)
}

func (d jobTools) create(ctx context.Context, call tool.Call[createJobInput]) (res chela.ToolResult, err error) {
	in := call.In
	switch {
	case in.Mode == "container" || in.Mode == "agent":
		return res, chela.E(chela.Unsupported, "jobs in containers and by other agents come with the Docker sandbox").
			WithHint("leave mode out: the job runs in the sandbox of this machine")
	case blank(in.Title) || blank(in.Description):
		return res, chela.E(chela.Invalid, "a job needs a title and a description")
	case len(in.Subtasks) > maxParts:
		return res, chela.E(chela.Invalid, fmt.Sprintf("%d subtasks are too many", len(in.Subtasks))).WithHint(fmt.Sprintf("use at most %d", maxParts))
	}
	if in.Agent != "" && in.Agent != call.Agent && !slices.Contains(d.Agents(call.Agent), in.Agent) {
		return res, chela.E(chela.Denied, fmt.Sprintf("agent %.60q is not available for jobs of this agent", in.Agent)).
			WithHint("agents_list lists the available ones")
	}
	job, err := api.Call(ctx, d.jobs(call.ToolCall), api.JobsCreate, api.NewJob{
		Agent: cmp.Or(in.Agent, call.Agent), Title: in.Title, Text: in.Description, Priority: in.Priority, Parts: in.Subtasks, Session: call.Session,
		Options: chela.JobOptions{
			Model: in.Model, Thinking: chela.ThinkingLevel(in.Thinking), Steps: in.MaxSteps, Timeout: chela.Span(in.TimeoutSeconds) * chela.Span(time.Second),
			Tokens: in.MaxTokens, Plan: in.Plan,
		},
	})
	if err != nil {
		return res, err
	}
	text, err := json.Marshal(struct {
		JobID   chela.JobID      `json:"job_id"`
		Status  chela.JobState   `json:"status"`
		Session chela.SessionKey `json:"session_key"`
		Note    string           `json:"note"`
	}{job.ID, job.State, job.Session, "You are told when it has ended; do not wait for it."})
	return tool.Done(string(text)), err
}
