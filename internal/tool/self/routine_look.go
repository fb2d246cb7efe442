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

type listInput struct {
	All bool `json:"all,omitempty" jsonschema:"include disabled routines"`
}

func (d routineTools) list(ctx context.Context, call tool.Call[listInput]) (res chela.ToolResult, err error) {
	all, err := api.All(ctx, d.routines(call.ToolCall), api.RoutinesList, api.RoutineQuery{Limit: api.MaxPage})
	for _, r := range all {
		if r.Enabled || call.In.All {
			res.Text += d.told(r) + "\n"
			res.Provenance = res.Provenance.With(r.Origin.Provenance)
		}
	}
	res.Text = cmp.Or(res.Text, "[there are no such routines]")
	return res, err
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
	return oneLine(strings.Join(parts, " "))
}

type historyInput struct {
	Name  string `json:"name" jsonschema:"name of the routine"`
	Limit int    `json:"limit,omitempty" jsonschema:"number of runs" min:"1" max:"100"`
}

func (d routineTools) history(ctx context.Context, call tool.Call[historyInput]) (chela.ToolResult, error) {
	page, err := api.Call(ctx, d.routines(call.ToolCall), api.RoutinesRuns, api.RunsQuery{
		RoutineRef: api.RoutineRef{Name: call.In.Name}, Limit: cmp.Or(call.In.Limit, 10),
	})
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
	return tool.Done(cmp.Or(b.String(), "[it has not run yet]")), err
}

type outputInput struct {
	RunID string `json:"run_id" jsonschema:"id of the run"`
}

func (d routineTools) output(ctx context.Context, call tool.Call[outputInput]) (chela.ToolResult, error) {
	run, err := api.Call(ctx, d.routines(call.ToolCall), api.RunsShow, api.RunQuery{ID: chela.RunID(call.In.RunID)})
	switch {
	case chela.KindOf(err) == chela.NotFound:
		return chela.ToolResult{}, chela.E(chela.NotFound, fmt.Sprintf("there is no run %.60q", call.In.RunID)).WithHint("routine_history lists them")
	case err != nil:
		return chela.ToolResult{}, err
	case run.Output != "":
		return tool.Done(run.Output), nil
	case !run.State.Ended():
		return tool.Done("[it has not ended]"), nil
	default:
		return tool.Done("[it said nothing: " + cmp.Or(oneLine(run.Reason), string(run.State)) + "]"), nil
	}
}
