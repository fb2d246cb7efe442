package self

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/tool"
)

//go:embed routine_list.md
var listDoc string

//go:embed routine_history.md
var historyDoc string

//go:embed schedule_run_output.md
var outputDoc string

type listInput struct {
	All bool `json:"all,omitempty" jsonschema:"include disabled routines"`
}

func (d routineTools) list() chela.Tool {
	return tool.New(tool.Def[listInput]{
		Name: "routine_list",
		Doc:  listDoc,
		Run: func(ctx context.Context, call tool.Call[listInput]) (chela.ToolResult, error) {
			all, err := api.All(ctx, d.routines(call.ToolCall), api.RoutinesList, api.RoutineQuery{Limit: api.MaxPage})
			if err != nil {
				return tool.Outcome("", err)
			}
			var b strings.Builder
			var from chela.Provenance
			for _, r := range all {
				if r.Enabled || call.In.All {
					b.WriteString(d.told(r) + "\n")
					from = from.With(r.Origin.Provenance)
				}
			}
			res := tool.Done(cmp.Or(b.String(), "[there are no such routines]"))
			res.Provenance = from
			return res, nil
		},
	})
}

// told formats a routine on one line.
func (d routineTools) told(r chela.Routine) string {
	text := fmt.Sprintf("%s: %s, %s", r.Name, trigger(r.Trigger), r.Action.Kind)
	switch {
	case !r.Enabled:
		text += ", off"
		if r.Reason != "" {
			text += " (" + oneLine(r.Reason) + ")"
		}
	case !r.NextAt.IsZero():
		text += ", due " + r.NextAt.In(d.zone).Format(time.RFC3339)
	}
	if r.Failures > 0 {
		text += fmt.Sprintf(", failed %d times in a row", r.Failures)
	}
	return text
}

// trigger describes a routine's trigger in a few words.
func trigger(t chela.Trigger) string {
	parts := []string{string(t.Kind), t.Cron, t.Zone, t.Channel, t.Pattern, t.Path, t.Source, t.Event}
	if t.Every > 0 {
		parts = append(parts, t.Every.String())
	}
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

type historyInput struct {
	Name  string `json:"name" jsonschema:"name of the routine"`
	Limit int    `json:"limit,omitempty" jsonschema:"number of runs" min:"1" max:"100"`
}

func (d routineTools) history() chela.Tool {
	return tool.New(tool.Def[historyInput]{
		Name: "routine_history",
		Doc:  historyDoc,
		Run: func(ctx context.Context, call tool.Call[historyInput]) (chela.ToolResult, error) {
			page, err := api.Call(ctx, d.routines(call.ToolCall), api.RoutinesRuns, api.RunsQuery{
				RoutineRef: api.RoutineRef{Name: call.In.Name}, Limit: cmp.Or(call.In.Limit, 10),
			})
			if err != nil {
				return tool.Outcome("", err)
			}
			var b strings.Builder
			for _, run := range page.Items {
				fmt.Fprintf(&b, "%s  due %s  %s", run.ID, run.Due.In(d.zone).Format(time.RFC3339), run.State)
				if run.Reason != "" {
					fmt.Fprintf(&b, " (%s)", oneLine(run.Reason))
				}
				if run.Notified != "" {
					b.WriteString("  people were told")
				}
				b.WriteByte('\n')
			}
			return tool.Done(cmp.Or(b.String(), "[it has not run yet]")), nil
		},
	})
}

type outputInput struct {
	RunID string `json:"run_id" jsonschema:"id of the run"`
}

func (d routineTools) output() chela.Tool {
	return tool.New(tool.Def[outputInput]{
		Name: "schedule_run_output",
		Doc:  outputDoc,
		Run: func(ctx context.Context, call tool.Call[outputInput]) (chela.ToolResult, error) {
			run, err := api.Call(ctx, d.routines(call.ToolCall), api.RunsShow, api.RunQuery{ID: chela.RunID(call.In.RunID)})
			switch {
			case chela.KindOf(err) == chela.NotFound:
				return tool.Outcome("", chela.E(chela.NotFound, fmt.Sprintf("there is no run %.60q", call.In.RunID)).WithHint("routine_history lists them"))
			case err != nil:
				return tool.Outcome("", err)
			case run.Output != "":
				return tool.Done(run.Output), nil
			case !run.State.Ended():
				return tool.Done("[it has not ended]"), nil
			default:
				return tool.Done("[it said nothing: " + cmp.Or(oneLine(run.Reason), string(run.State)) + "]"), nil
			}
		},
	})
}
