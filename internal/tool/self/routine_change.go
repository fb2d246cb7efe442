package self

import (
	"cmp"
	"context"

	"chela"
	"chela/internal/api"
	"chela/internal/tool"
)

type updateInput struct {
	Name        string  `json:"name" jsonschema:"name of the routine"`
	Enabled     *bool   `json:"enabled,omitempty" jsonschema:"whether it fires"`
	Prompt      *string `json:"prompt,omitempty" jsonschema:"the task of each run"`
	Schedule    *string `json:"schedule,omitempty" jsonschema:"schedule, in the form of its trigger"`
	Timezone    *string `json:"timezone,omitempty" jsonschema:"zone of a cron expression"`
	Pattern     *string `json:"pattern,omitempty" jsonschema:"a regular expression that a message matches"`
	Notify      string  `json:"notify,omitempty" jsonschema:"when people are notified" enum:"always,conditional,never"`
	Target      string  `json:"target,omitempty" jsonschema:"where people are notified" enum:"origin,last,broadcast,none"`
	Model       *string `json:"model,omitempty" jsonschema:"provider/model"`
	Description *string `json:"description,omitempty" jsonschema:"description for people"`
}

func (in updateInput) judge() chela.Judgement {
	return standing("change routine "+in.Name+tool.Shown(in, "name"), in.Name)
}

func (d routineTools) update(ctx context.Context, call tool.Call[updateInput]) (res chela.ToolResult, err error) {
	ref := api.RoutineRef{Name: call.In.Name}
	r, err := api.Call(ctx, d.routines(call.ToolCall), api.RoutinesShow, ref)
	if err != nil {
		return res, err
	}
	change, err := d.change(r, call.In)
	if err != nil {
		return res, err
	}
	r, err = api.Call(ctx, d.routines(call.ToolCall), api.RoutinesChange, api.RoutineEdit{RoutineRef: ref, Change: change})
	return tool.Done("changed " + d.told(r)), err
}

// change returns the change of a routine that a call asks for.
func (d routineTools) change(r chela.Routine, in updateInput) (api.RoutineChange, error) {
	c := api.RoutineChange{Enabled: in.Enabled, Description: in.Description}
	if in.Schedule != nil {
		if err := d.schedule(&r.Trigger, *in.Schedule); err != nil {
			return c, err
		}
	}
	set(&r.Trigger.Zone, in.Timezone)
	set(&r.Trigger.Pattern, in.Pattern)
	if in.Schedule != nil || in.Timezone != nil || in.Pattern != nil {
		c.Trigger = &r.Trigger
	}
	set(&r.Action.Text, in.Prompt)
	set(&r.Action.Model, in.Model)
	if in.Prompt != nil || in.Model != nil {
		c.Action = &r.Action
	}
	r.Notify.Policy = cmp.Or(chela.NotifyPolicy(in.Notify), r.Notify.Policy)
	r.Notify.Target = cmp.Or(chela.NotifyTarget(in.Target), r.Notify.Target)
	if in.Notify != "" || in.Target != "" {
		c.Notify = &r.Notify
	}
	return c, nil
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

type nameInput struct {
	Name string `json:"name" jsonschema:"name of the routine"`
}

func (in nameInput) judge() chela.Judgement { return standing("delete routine "+in.Name, in.Name) }

func (d routineTools) delete(ctx context.Context, call tool.Call[nameInput]) (chela.ToolResult, error) {
	_, err := api.Call(ctx, d.routines(call.ToolCall), api.RoutinesDelete, api.RoutineRef{Name: call.In.Name})
	return tool.Done("deleted"), err
}

type fireInput struct {
	Name  string `json:"name" jsonschema:"name of the routine"`
	Input string `json:"input,omitempty" jsonschema:"additional input of the run"`
}

func (in fireInput) judge() chela.Judgement {
	return standing("run routine "+in.Name+" now"+tool.Shown(in, "name"), in.Name)
}

func (d routineTools) fire(ctx context.Context, call tool.Call[fireInput]) (chela.ToolResult, error) {
	fired, err := api.Call(ctx, d.routines(call.ToolCall), api.RoutinesFire, api.RoutineFiring{
		RoutineRef: api.RoutineRef{Name: call.In.Name}, Firing: api.Firing{Input: call.In.Input},
	})
	return tool.Done("fired: run " + string(fired.Run)), err
}

type reportInput struct {
	Notify bool   `json:"notify" jsonschema:"whether people are notified"`
	Text   string `json:"text,omitempty" jsonschema:"text of the notice"`
}

// maxReport limits the notice of a run, in bytes.
const maxReport = 20_000

// A ReportFunc stores the report of the run that a turn makes. It is Denied if the turn
// is not a run.
type ReportFunc func(ctx context.Context, turn chela.TurnID, r chela.Report) error

func (in reportInput) judge() chela.Judgement { return change("report: " + in.Text) }

// Report returns the tool by which a run decides whether people are notified.
func Report(report ReportFunc) chela.Tool {
	return define("report", func(ctx context.Context, call tool.Call[reportInput]) (chela.ToolResult, error) {
		in := call.In
		switch {
		case in.Notify && blank(in.Text):
			return tool.Failed("there is no text: say what people are told"), nil
		case len(in.Text) > maxReport:
			return tool.Failed("the text is too long for a notice; write it to a document and name its path"), nil
		}
		return tool.Done("noted"), report(ctx, call.Turn, chela.Report{Notify: in.Notify, Text: in.Text})
	}, reportInput.judge)
}
