package self

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"chela"
	"chela/internal/api"
	"chela/internal/tool"
)

//go:embed job_prompt.md
var promptDoc string

//go:embed cancel_job.md
var cancelDoc string

//go:embed job_plan.md
var planDoc string

//go:embed job_step.md
var stepDoc string

//go:embed job_parts.md
var partsDoc string

type promptInput struct {
	JobID string `json:"job_id" jsonschema:"id of the job"`
	Text  string `json:"text" jsonschema:"the message"`
}

func (d jobTools) prompt() chela.Tool {
	return tool.New(tool.Def[promptInput]{
		Name: "job_prompt",
		Doc:  promptDoc,
		Judge: func(in promptInput) chela.Judgement {
			return powerful(chela.PowerStanding, jobChange("tell job "+in.JobID+": "+in.Text, in.JobID))
		},
		Run: func(ctx context.Context, call tool.Call[promptInput]) (chela.ToolResult, error) {
			if strings.TrimSpace(call.In.Text) == "" {
				return tool.Failed("there is no text"), nil
			}
			_, err := api.Call(ctx, d.jobs(call.ToolCall), api.JobsPrompt, api.JobMessage{JobRef: jobRef(call.In.JobID), Message: api.JobText{Text: call.In.Text}})
			return tool.Outcome("told", err)
		},
	})
}

func (d jobTools) cancel() chela.Tool {
	return tool.New(tool.Def[jobInput]{
		Name:  "cancel_job",
		Doc:   cancelDoc,
		Judge: func(in jobInput) chela.Judgement { return jobChange("cancel job "+in.JobID, in.JobID) },
		Run: func(ctx context.Context, call tool.Call[jobInput]) (chela.ToolResult, error) {
			j, err := api.Call(ctx, d.jobs(call.ToolCall), api.JobsCancel, jobRef(call.In.JobID))
			return tool.Outcome(string(j.State), err)
		},
	})
}

// maxSteps is how many steps a plan may have.
const maxSteps = 50

type planInput struct {
	Steps []string `json:"steps" jsonschema:"the steps in order"`
}

func (d jobTools) plan() chela.Tool {
	return tool.New(tool.Def[planInput]{
		Name:  "job_plan",
		Doc:   planDoc,
		Judge: func(in planInput) chela.Judgement { return jobChange("plan:\n" + strings.Join(in.Steps, "\n")) },
		Run: func(ctx context.Context, call tool.Call[planInput]) (chela.ToolResult, error) {
			id, err := ownJob(call.ToolCall)
			switch {
			case err != nil:
				return tool.Outcome("", err)
			case len(call.In.Steps) == 0 || len(call.In.Steps) > maxSteps:
				return tool.Failed(fmt.Sprintf("a plan has 1 to %d steps, this one has %d", maxSteps, len(call.In.Steps))), nil
			}
			for i, s := range call.In.Steps {
				if strings.TrimSpace(s) == "" {
					return tool.Failed(fmt.Sprintf("step %d is empty", i+1)), nil
				}
			}
			return tool.Outcome(fmt.Sprintf("the plan has %d steps", len(call.In.Steps)), d.Progress.Plan(ctx, id, call.In.Steps))
		},
	})
}

type stepInput struct {
	Step  int    `json:"step" jsonschema:"number of the step" min:"1" max:"50"`
	State string `json:"state" jsonschema:"state of the step" enum:"pending,in_progress,done,skipped"`
	Note  string `json:"note,omitempty" jsonschema:"outcome, or reason for skipping it"`
}

func (d jobTools) step() chela.Tool {
	return tool.New(tool.Def[stepInput]{
		Name: "job_step",
		Doc:  stepDoc,
		Judge: func(in stepInput) chela.Judgement {
			return jobChange(fmt.Sprintf("step %d is %s", in.Step, in.State))
		},
		Run: func(ctx context.Context, call tool.Call[stepInput]) (chela.ToolResult, error) {
			id, err := ownJob(call.ToolCall)
			if err == nil {
				err = d.Progress.Step(ctx, id, chela.JobStep{Place: call.In.Step, State: chela.StepState(call.In.State), Note: call.In.Note})
			}
			return tool.Outcome("noted", err)
		},
	})
}

type partsInput struct {
	Parts []string `json:"parts" jsonschema:"task of each part"`
}

func (d jobTools) parts() chela.Tool {
	return tool.New(tool.Def[partsInput]{
		Name: "job_parts",
		Doc:  partsDoc,
		Judge: func(in partsInput) chela.Judgement {
			return powerful(chela.PowerJob, jobChange("parts:\n"+strings.Join(in.Parts, "\n")))
		},
		Run: func(ctx context.Context, call tool.Call[partsInput]) (chela.ToolResult, error) {
			id, err := ownJob(call.ToolCall)
			switch {
			case err != nil:
				return tool.Outcome("", err)
			case len(call.In.Parts) == 0 || len(call.In.Parts) > maxParts:
				return tool.Failed(fmt.Sprintf("give 1 to %d parts, not %d", maxParts, len(call.In.Parts))), nil
			}
			for i, p := range call.In.Parts {
				if strings.TrimSpace(p) == "" {
					return tool.Failed(fmt.Sprintf("part %d is empty", i+1)), nil
				}
			}
			made, err := d.Progress.Parts(ctx, id, string(call.ID), call.In.Parts)
			return tool.Outcome(jobLines(made), err)
		},
	})
}
