package rule

import (
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"chela"
)

// maxText bounds the text of an action, in bytes.
const maxText = 50_000

// Check returns Invalid with the fault of a routine. It does not check whether
// the agent and the secret exist. Zone is that of the home.
func Check(v chela.Routine, zone *time.Location) error {
	if err := CheckName(v); err != nil {
		return err
	}
	if err := checkTrigger(v.Trigger, zone); err != nil {
		return err
	}
	if err := checkAction(v); err != nil {
		return err
	}
	if err := checkGuards(v, zone); err != nil {
		return err
	}
	return checkNotify(v)
}

// CheckName returns Invalid if the name or the description of a routine is not
// allowed.
func CheckName(v chela.Routine) error {
	if !chela.ValidName(v.Name) {
		return invalid("%q is not a valid name for a routine", Shown(v.Name)).
			WithHint("use up to 64 lower-case letters, digits, - and _, and begin with a letter")
	}
	if len(v.Description) > 1000 || !utf8.ValidString(v.Description) {
		return invalid("the description is too long or not valid text").WithHint("write up to 1000 bytes")
	}
	return nil
}

func invalid(format string, args ...any) *chela.Error {
	return chela.E(chela.Invalid, fmt.Sprintf(format, args...))
}

func checkTrigger(t chela.Trigger, zone *time.Location) error {
	var only chela.Trigger // the fields that apply to its kind
	only.Kind = t.Kind
	switch t.Kind {
	case chela.TriggerCron:
		only.Cron, only.Zone, only.Missed = t.Cron, t.Zone, t.Missed
	case chela.TriggerEvery:
		only.Every, only.Anchor, only.Missed = t.Every, t.Anchor, t.Missed
	case chela.TriggerAt:
		only.At, only.Missed = t.At, t.Missed
	case chela.TriggerEvent:
		only.Channel, only.Pattern = t.Channel, t.Pattern
	case chela.TriggerSystem:
		only.Source, only.Event, only.Filter = t.Source, t.Event, t.Filter
	case chela.TriggerWebhook:
		only.Path, only.Scheme, only.Secret, only.Match, only.Headers = t.Path, t.Scheme, t.Secret, t.Match, t.Headers
		only.SignatureHeader, only.SignaturePrefix, only.SignatureEncoding = t.SignatureHeader, t.SignaturePrefix, t.SignatureEncoding
	case chela.TriggerManual:
	default:
		return invalid("%q is no kind of trigger", Shown(string(t.Kind))).
			WithHint("use cron, every, at, event, system_event, webhook or manual")
	}
	if !reflect.DeepEqual(only, t) {
		return foreign(t, only)
	}
	if !slices.Contains([]chela.MissedPolicy{"", chela.MissedSkip, chela.MissedOnce, chela.MissedAll}, t.Missed) {
		return invalid("%q is not a policy for missed times", Shown(string(t.Missed))).WithHint("use skip, once or all")
	}
	switch t.Kind {
	case chela.TriggerEvent:
		return CheckPattern(t.Pattern)
	case chela.TriggerSystem:
		return checkSystem(t)
	case chela.TriggerWebhook:
		return checkWebhook(t)
	}
	_, err := Times(t, zone)
	return err
}

// foreign returns Invalid for a trigger with fields that do not apply to its
// kind; only has just the fields that do.
func foreign(t, only chela.Trigger) error {
	var names []string
	given, known := reflect.ValueOf(t), reflect.ValueOf(only)
	for i := range given.NumField() {
		if given.Type().Field(i).IsExported() && !reflect.DeepEqual(given.Field(i).Interface(), known.Field(i).Interface()) {
			name, _, _ := strings.Cut(given.Type().Field(i).Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	said := strings.Join(names, ", ")
	hint := "leave it out, or choose another kind"
	if said == "zone" && t.Kind == chela.TriggerEvery {
		hint = "leave it out: intervals are counted from the anchor in any zone"
	} else if said == "zone" && t.Kind == chela.TriggerAt {
		hint = "write the time with its zone, as 2035-05-01T09:00:00+02:00"
	}
	return invalid("a trigger of kind %s has no %s", t.Kind, said).WithHint(hint)
}

func checkWebhook(t chela.Trigger) error {
	for _, part := range strings.Split(t.Path, "/") {
		if !chela.ValidName(part) || len(t.Path) > 200 {
			return invalid("%q is not a valid webhook path", Shown(t.Path)).
				WithHint("use names of lower-case letters, digits, - and _, separated by /")
		}
	}
	if !strings.HasPrefix(t.Secret, "env:") {
		return invalid("the webhook has no secret").WithHint("put it into an environment variable and refer to that: env:NAME")
	}
	return checkWebhookParts(t)
}

func checkAction(v chela.Routine) error {
	a := v.Action
	switch a.Kind {
	case chela.ActionLight, chela.ActionTurn, chela.ActionJob, chela.ActionEvent, chela.ActionNotify:
	default:
		return invalid("%q is not a kind of action", Shown(string(a.Kind))).WithHint("use turn, lightweight, job, system_event or notify")
	}
	switch {
	case strings.TrimSpace(a.Text) == "" || !utf8.ValidString(a.Text):
		return invalid("the action has no text").WithHint("set the prompt or the text of the notice")
	case len(a.Text) > maxText:
		return invalid("the text of the action has %d bytes, and %d are allowed", len(a.Text), maxText).
			WithHint("put it into a document and give its path")
	case a.Main && a.Kind != chela.ActionTurn:
		return invalid("only a turn can run in the main session")
	case len(a.Documents) > 0 && a.Kind != chela.ActionLight && a.Kind != chela.ActionTurn:
		return invalid("only lightweight actions and turns can include documents").WithHint("a job can read them itself")
	case a.Steps < 0 || a.Timeout < 0 || a.MaxTokens < 0 || a.PostMax < 0:
		return invalid("a limit of the action is negative")
	case !slices.Contains([]chela.PostMode{"", chela.PostNone, chela.PostSummary, chela.PostFull}, a.Post):
		return invalid("%q is not a kind of post", Shown(string(a.Post))).WithHint("use none, summary or full")
	case !slices.Contains([]chela.WakeMode{"", chela.WakeNow, chela.WakeNextHeartbeat}, a.Wake):
		return invalid("%q is not a time to wake the session", Shown(string(a.Wake))).WithHint("use now or next-heartbeat")
	}
	for _, doc := range a.Documents {
		if doc == "" || path.Clean("/"+doc) != "/"+doc {
			return invalid("%q is not a valid document path", Shown(doc)).WithHint("use a path such as notes/plan.md")
		}
	}
	return nil
}

func checkGuards(v chela.Routine, zone *time.Location) error {
	g := v.Guards
	if _, err := ActiveWindow(g.ActiveHours, zone); err != nil {
		return err
	}
	if g.Unless != "" && path.Clean("/"+g.Unless) != "/"+g.Unless {
		return invalid("%q is not a valid document path", Shown(g.Unless)).WithHint("use a path such as HEARTBEAT.md")
	}
	return nil
}

func checkNotify(v chela.Routine) error {
	n := v.Notify
	switch {
	case !slices.Contains([]chela.NotifyPolicy{"", chela.NotifyAlways, chela.NotifyConditional, chela.NotifyNever}, n.Policy):
		return invalid("%q is not a notification policy", Shown(string(n.Policy))).WithHint("use always, conditional or never")
	case !slices.Contains([]chela.NotifyTarget{
		"", chela.TargetExplicit, chela.TargetOrigin, chela.TargetLast, chela.TargetBroadcast, chela.TargetNone,
	}, n.Target):
		return invalid("%q is not a notification target", Shown(string(n.Target))).WithHint("use explicit, origin, last, broadcast or none")
	case n.Target == chela.TargetExplicit && !chela.ValidName(n.Channel):
		return invalid("the target explicit needs a channel").WithHint("set the channel, or use origin or last")
	case n.Target != chela.TargetExplicit && (n.Channel != "" || n.To != ""):
		return invalid("a channel is set, but the target is not explicit").WithHint("use the target explicit, or leave the channel out")
	case v.Action.Kind == chela.ActionNotify && n.Target == chela.TargetNone:
		return invalid("the action sends a notice, but its target is none").WithHint("use another target than none")
	case n.AckMax < 0 || n.Repeat < 0:
		return invalid("a limit of the notice is negative")
	}
	return nil
}
