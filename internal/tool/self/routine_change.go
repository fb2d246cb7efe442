package self

import (
	"context"
	_ "embed"
	"strings"

	"chela"
	"chela/internal/tool"
)

//go:embed routine_update.md
var updateDoc string

//go:embed routine_delete.md
var deleteDoc string

//go:embed routine_fire.md
var fireDoc string

//go:embed report.md
var reportDoc string

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

func (d routineTools) update() chela.Tool {
	return tool.New(tool.Def[updateInput]{
		Name: "routine_update",
		Doc:  updateDoc,
		Judge: func(in updateInput) chela.Judgement {
			return routineWriting("change routine "+in.Name+tool.Shown(in, "name"), in.Name)
		},
		Run: func(ctx context.Context, call tool.Call[updateInput]) (chela.ToolResult, error) {
			r, err := d.find(ctx, call.ToolCall, call.In.Name)
			if err != nil {
				return tool.Outcome("", err)
			}
			in := call.In
			c := RoutineChange{
				Enabled: in.Enabled, Text: in.Prompt, Description: in.Description, Schedule: in.Schedule, Zone: in.Timezone, Pattern: in.Pattern, Model: in.Model,
			}
			if in.Notify != "" {
				policy := chela.NotifyPolicy(in.Notify)
				c.Notify = &policy
			}
			if in.Target != "" {
				target := chela.NotifyTarget(in.Target)
				c.Target = &target
			}
			if r, err = d.of().UpdateFor(ctx, call.ToolCall, r.ID, c); err != nil {
				return tool.Outcome("", err)
			}
			return tool.Done("changed " + d.told(r)), nil
		},
	})
}

type nameInput struct {
	Name string `json:"name" jsonschema:"name of the routine"`
}

func (d routineTools) delete() chela.Tool {
	return tool.New(tool.Def[nameInput]{
		Name:  "routine_delete",
		Doc:   deleteDoc,
		Judge: func(in nameInput) chela.Judgement { return routineWriting("delete routine "+in.Name, in.Name) },
		Run: func(ctx context.Context, call tool.Call[nameInput]) (chela.ToolResult, error) {
			r, err := d.find(ctx, call.ToolCall, call.In.Name)
			if err == nil {
				err = d.of().DeleteFor(ctx, call.ToolCall, r.ID)
			}
			return tool.Outcome("deleted", err)
		},
	})
}

type fireInput struct {
	Name  string `json:"name" jsonschema:"name of the routine"`
	Input string `json:"input,omitempty" jsonschema:"additional input of the run"`
}

func (d routineTools) fire() chela.Tool {
	return tool.New(tool.Def[fireInput]{
		Name: "routine_fire",
		Doc:  fireDoc,
		Judge: func(in fireInput) chela.Judgement {
			return routineWriting("run routine "+in.Name+" now"+tool.Shown(in, "name"), in.Name)
		},
		Run: func(ctx context.Context, call tool.Call[fireInput]) (chela.ToolResult, error) {
			r, err := d.find(ctx, call.ToolCall, call.In.Name)
			if err != nil {
				return tool.Outcome("", err)
			}
			run, err := d.of().FireFor(ctx, call.ToolCall, r.ID, call.In.Input)
			return tool.Outcome("fired: run "+string(run), err)
		},
	})
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

// Report returns the tool by which a run decides whether people are notified.
func Report(report ReportFunc) chela.Tool {
	return tool.New(tool.Def[reportInput]{
		Name: "report",
		Doc:  reportDoc,
		Judge: func(in reportInput) chela.Judgement {
			return chela.Judgement{Effect: chela.EffectWrite, Resume: chela.ResumeRepeat, Preview: "report: " + in.Text}
		},
		Run: func(ctx context.Context, call tool.Call[reportInput]) (chela.ToolResult, error) {
			in := call.In
			switch {
			case in.Notify && strings.TrimSpace(in.Text) == "":
				return tool.Failed("there is no text: say what people are told"), nil
			case len(in.Text) > maxReport:
				return tool.Failed("the text is too long for a notice; write it to a document and name its path"), nil
			}
			return tool.Outcome("noted", report(ctx, call.Turn, chela.Report{Notify: in.Notify, Text: in.Text}))
		},
	})
}
