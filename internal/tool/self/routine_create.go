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

type createInput struct {
	Name        string   `json:"name" jsonschema:"a short name"`
	Prompt      string   `json:"prompt" jsonschema:"the task of each run"`
	Trigger     string   `json:"trigger" jsonschema:"kind of trigger" enum:"cron,every,at,event,webhook,system_event,manual"`
	Schedule    string   `json:"schedule,omitempty" jsonschema:"with cron, every and at: the schedule"`
	Timezone    string   `json:"timezone,omitempty" jsonschema:"zone of a cron expression"`
	Pattern     string   `json:"pattern,omitempty" jsonschema:"with event: a regular expression that a message matches"`
	Channel     string   `json:"channel,omitempty" jsonschema:"with event: only messages of this channel"`
	Path        string   `json:"path,omitempty" jsonschema:"with webhook: the path after /hooks/"`
	Scheme      string   `json:"scheme,omitempty" jsonschema:"with webhook: how requests are signed" enum:"secret,hmac,github,stripe,slack"`
	Secret      string   `json:"secret,omitempty" jsonschema:"with webhook: where the secret is stored, as env:NAME"`
	Source      string   `json:"source,omitempty" jsonschema:"with system_event: the kind of subject"`
	Event       string   `json:"event,omitempty" jsonschema:"with system_event: the event"`
	Action      string   `json:"action,omitempty" jsonschema:"kind of action" enum:"turn,lightweight,job,system_event,notify"`
	Documents   []string `json:"documents,omitempty" jsonschema:"with lightweight: documents to include"`
	Session     string   `json:"session,omitempty" jsonschema:"session of its runs" enum:"isolated,main"`
	Notify      string   `json:"notify,omitempty" jsonschema:"when people are notified" enum:"always,conditional,never"`
	Target      string   `json:"target,omitempty" jsonschema:"where people are notified" enum:"origin,last,broadcast,none"`
	Model       string   `json:"model,omitempty" jsonschema:"provider/model"`
	Once        bool     `json:"once,omitempty" jsonschema:"delete the routine after its first run"`
	Description string   `json:"description,omitempty" jsonschema:"description for people"`
}

func (in createInput) judge() chela.Judgement {
	when := in.Trigger
	for _, more := range []string{in.Schedule, in.Timezone, in.Pattern, in.Path, in.Source, in.Event} {
		if more != "" {
			when += " " + more
		}
	}
	j := standing(fmt.Sprintf("routine %s, %s: %s", in.Name, when, in.Prompt)+tool.Shown(in, "name", "prompt"), in.Name)
	if in.Trigger == string(chela.TriggerWebhook) {
		j.Risk = "it lets requests from outside begin turns"
	}
	return j
}

func (d routineTools) create(ctx context.Context, call tool.Call[createInput]) (res chela.ToolResult, err error) {
	q, err := d.routine(call)
	if err != nil {
		return res, err
	}
	r, err := api.Call(ctx, d.routines(call.ToolCall), api.RoutinesCreate, q)
	return tool.Done("made " + d.told(r)), err
}

// routine returns the routine that a call asks for.
func (d routineTools) routine(call tool.Call[createInput]) (api.NewRoutine, error) {
	in := call.In
	r := api.NewRoutine{
		Name: in.Name, Description: in.Description, Agent: call.Agent, DeleteAfterRun: in.Once,
		Trigger: chela.Trigger{
			Kind: chela.TriggerKind(in.Trigger), Zone: in.Timezone, Pattern: in.Pattern, Channel: in.Channel, Path: in.Path, Scheme: in.Scheme,
			Secret: in.Secret, Source: in.Source, Event: in.Event,
		},
		Action: chela.RoutineAction{
			Kind: chela.ActionKind(cmp.Or(in.Action, string(chela.ActionTurn))), Text: in.Prompt, Documents: in.Documents,
			Main: in.Session == "main", Model: in.Model,
		},
		Notify: chela.RoutineNotify{Policy: chela.NotifyPolicy(in.Notify), Target: chela.NotifyTarget(in.Target)},
	}
	return r, d.schedule(&r.Trigger, in.Schedule)
}

// schedule sets the time of a trigger, by its kind.
func (d routineTools) schedule(t *chela.Trigger, text string) (err error) {
	if span, ok := strings.CutPrefix(text, "@every "); ok && t.Kind == chela.TriggerCron {
		t.Kind, text = chela.TriggerEvery, strings.TrimSpace(span)
	}
	switch t.Kind {
	case chela.TriggerCron:
		t.Cron = text
	case chela.TriggerEvery:
		every, err := time.ParseDuration(text)
		if t.Every = chela.Span(every); err != nil {
			return chela.E(chela.Invalid, fmt.Sprintf("schedule %.60q is no duration", text)).WithHint("write one such as 30m or 24h")
		}
	case chela.TriggerAt:
		t.At, err = d.instant(text)
	default:
		if text != "" {
			return chela.E(chela.Invalid, fmt.Sprintf("a trigger of kind %s has no schedule", t.Kind))
		}
	}
	return err
}

// instant parses a time; one without a zone is in the owner's time zone.
func (d routineTools) instant(text string) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04"} {
		if at, err := time.ParseInLocation(layout, text, d.zone); err == nil {
			return at, nil
		}
	}
	return time.Time{}, chela.E(chela.Invalid, fmt.Sprintf("schedule %.60q is no time", text)).
		WithHint("write one such as 2035-05-01T09:00:00+02:00, or 2035-05-01 09:00 in the owner's zone")
}
