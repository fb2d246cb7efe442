package self

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"chela"
	"chela/internal/api"
	"chela/internal/tool"
)

type promptInput struct {
	JobID string `json:"job_id" jsonschema:"id of the job"`
	Text  string `json:"text" jsonschema:"the message"`
}

func (in promptInput) judge() chela.Judgement {
	return powerful(chela.PowerStanding, change("tell job "+in.JobID+": "+in.Text, in.JobID))
}

func (d jobTools) prompt(ctx context.Context, call tool.Call[promptInput]) (chela.ToolResult, error) {
	if blank(call.In.Text) {
		return tool.Failed("there is no text"), nil
	}
	_, err := api.Call(ctx, d.jobs(call.ToolCall), api.JobsPrompt, api.JobMessage{JobRef: jobRef(call.In.JobID), Message: api.JobText{Text: call.In.Text}})
	return tool.Done("told"), err
}

func (in jobInput) judgeCancel() chela.Judgement { return change("cancel job "+in.JobID, in.JobID) }

func (d jobTools) cancel(ctx context.Context, call tool.Call[jobInput]) (chela.ToolResult, error) {
	j, err := api.Call(ctx, d.jobs(call.ToolCall), api.JobsCancel, jobRef(call.In.JobID))
	return tool.Done(string(j.State)), err
}

// maxSteps is how many steps a plan may have.
const maxSteps = 50

type planInput struct {
	Steps []string `json:"steps" jsonschema:"the steps in order"`
}

func (in planInput) judge() chela.Judgement { return change("plan:\n" + strings.Join(in.Steps, "\n")) }

func (d jobTools) plan(ctx context.Context, call tool.Call[planInput]) (chela.ToolResult, error) {
	steps := call.In.Steps
	id, err := ownJob(call.ToolCall)
	switch empty := slices.IndexFunc(steps, blank); {
	case err != nil:
		return chela.ToolResult{}, err
	case len(steps) == 0 || len(steps) > maxSteps:
		return tool.Failed(fmt.Sprintf("a plan has 1 to %d steps, this one has %d", maxSteps, len(steps))), nil
	case empty >= 0:
		return tool.Failed(fmt.Sprintf("step %d is empty", empty+1)), nil
	}
	return tool.Done(fmt.Sprintf("the plan has %d steps", len(steps))), d.Progress.Plan(ctx, id, steps)
}

type stepInput struct {
	Step  int    `json:"step" jsonschema:"number of the step" min:"1" max:"50"`
	State string `json:"state" jsonschema:"state of the step" enum:"pending,in_progress,done,skipped"`
	Note  string `json:"note,omitempty" jsonschema:"outcome, or reason for skipping it"`
}

func (in stepInput) judge() chela.Judgement {
	return change(fmt.Sprintf("step %d is %s", in.Step, in.State))
}

func (d jobTools) step(ctx context.Context, call tool.Call[stepInput]) (chela.ToolResult, error) {
	id, err := ownJob(call.ToolCall)
	if err == nil {
		err = d.Progress.Step(ctx, id, chela.JobStep{Place: call.In.Step, State: chela.StepState(call.In.State), Note: call.In.Note})
	}
	return tool.Done("noted"), err
}

type partsInput struct {
	Parts []string `json:"parts" jsonschema:"task of each part"`
}

func (in partsInput) judge() chela.Judgement {
	return powerful(chela.PowerJob, change("parts:\n"+strings.Join(in.Parts, "\n")))
}

func (d jobTools) parts(ctx context.Context, call tool.Call[partsInput]) (chela.ToolResult, error) {
	parts := call.In.Parts
	id, err := ownJob(call.ToolCall)
	switch empty := slices.IndexFunc(parts, blank); {
	case err != nil:
		return chela.ToolResult{}, err
	case len(parts) == 0 || len(parts) > maxParts:
		return tool.Failed(fmt.Sprintf("give 1 to %d parts, not %d", maxParts, len(parts))), nil
	case empty >= 0:
		return tool.Failed(fmt.Sprintf("part %d is empty", empty+1)), nil
	}
	made, err := d.Progress.Parts(ctx, id, string(call.ID), parts)
	return tool.Done(jobLines(made)), err
}
