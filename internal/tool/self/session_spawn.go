package self

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"chela"
	"chela/internal/tool"
)

type spawnInput struct {
	Task              string `json:"task" jsonschema:"the whole task"`
	Label             string `json:"label,omitempty" jsonschema:"a few words that name it to people"`
	AgentID           string `json:"agent_id,omitempty" jsonschema:"agent that works on it"`
	Model             string `json:"model,omitempty" jsonschema:"provider/model"`
	Thinking          string `json:"thinking,omitempty" jsonschema:"how much its model reasons" enum:"off,minimal,low,medium,high,xhigh"`
	RunTimeoutSeconds int    `json:"run_timeout_seconds,omitempty" jsonschema:"time limit in seconds" min:"0" max:"86400"`
	Cleanup           string `json:"cleanup,omitempty" jsonschema:"whether its session stays in the lists" enum:"keep,delete"`
}

// spawnAnswer is the result for the model; it uses the field names common among
// agent systems.
type spawnAnswer struct {
	Status  string           `json:"status"`
	Child   chela.SessionKey `json:"child_session_key,omitempty"`
	Run     chela.JobID      `json:"run_id,omitempty"`
	Applied *bool            `json:"model_applied,omitempty"`
	Warning string           `json:"warning,omitempty"`
	Error   string           `json:"error,omitempty"`
}

func (a spawnAnswer) text() string {
	raw, _ := json.Marshal(a) // it contains only strings and a boolean
	return string(raw)
}

func (in spawnInput) judge() chela.Judgement {
	preview := "subagent"
	if in.AgentID != "" {
		preview += " of " + in.AgentID
	}
	power := chela.PowerJob
	if in.Model != "" || in.AgentID != "" {
		power = chela.PowerModel
	}
	return powerful(power, change(preview+": "+in.Task, in.AgentID))
}

func (d sessionTools) spawn(ctx context.Context, call tool.Call[spawnInput]) (chela.ToolResult, error) {
	in := call.In
	if blank(in.Task) {
		return tool.Failed(spawnAnswer{Status: "error", Error: "there is no task"}.text()), nil
	}
	made, err := d.Spawn(ctx, Spawn{
		Call: call.ToolCall, Agent: in.AgentID, Text: in.Task, Label: in.Label,
		Options: chela.JobOptions{
			Model: in.Model, Thinking: chela.ThinkingLevel(in.Thinking), Timeout: chela.Span(in.RunTimeoutSeconds) * chela.Span(time.Second),
			Cleanup: chela.Cleanup(in.Cleanup),
		},
	})
	if err != nil {
		refused, fault := tool.Outcome("", err)
		if fault != nil {
			return refused, fault
		}
		status := "error"
		if chela.KindOf(err) == chela.Denied {
			status = "forbidden"
		}
		refused.Text = spawnAnswer{Status: status, Error: refused.Text}.text()
		return refused, nil
	}
	a := spawnAnswer{Status: "accepted", Child: made.Job.Session, Run: made.Job.ID, Warning: made.Warning}
	if in.Model != "" {
		a.Applied = &made.Applied
	}
	return tool.Done(a.text()), nil
}

func (d sessionTools) agents(_ context.Context, call tool.Call[struct{}]) (chela.ToolResult, error) {
	names := strings.Join(d.Agents(call.Agent), "\n")
	return tool.Done(cmp.Or(names, "[no subagents may be spawned from here]")), nil
}
