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
	"chela/internal/matcher"
)

// maxText is how long the text of an action is at most, in bytes.
const maxText = 50_000

// Check returns an Invalid error that says what is wrong with a routine. Whether its
// agent and its secret are there it does not know. Zone is that of the home.
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

// CheckName returns an Invalid error that says what is wrong with how a routine is
// called and described.
func CheckName(v chela.Routine) error {
	if !chela.ValidName(v.Name) {
		return invalid("%q is no name for a routine", Shown(v.Name)).
			WithHint("use up to 64 lower-case letters, digits, - and _, and begin with a letter")
	}
	if len(v.Description) > 1000 || !utf8.ValidString(v.Description) {
		return invalid("the description is too long, or not text").WithHint("write up to 1000 bytes")
	}
	return nil
}

func invalid(format string, args ...any) *chela.Error {
	return chela.E(chela.Invalid, fmt.Sprintf(format, args...))
}

func checkTrigger(t chela.Trigger, zone *time.Location) error {
	var only chela.Trigger // the fields that its kind knows
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
		only.Path, only.Scheme, only.Secret = t.Path, t.Scheme, t.Secret
	case chela.TriggerManual:
	default:
		return invalid("%q is no kind of trigger", Shown(string(t.Kind))).
			WithHint("use cron, every, at, event, system_event, webhook or manual")
	}
	if !reflect.DeepEqual(only, t) {
		return foreign(t, only)
	}
	if !slices.Contains([]chela.Missed{"", chela.MissedSkip, chela.MissedOnce, chela.MissedAll}, t.Missed) {
		return invalid("%q does not say what becomes of missed times", Shown(string(t.Missed))).WithHint("use skip, once or all")
	}
	switch t.Kind {
	case chela.TriggerEvent:
		return matcher.Check(t.Pattern)
	case chela.TriggerSystem:
		return checkSystem(t)
	case chela.TriggerWebhook:
		return checkWebhook(t)
	}
	_, err := Times(t, zone)
	return err
}

// foreign is the error of a trigger that has fields which its kind does not know, of
// which only has none.
func foreign(t, only chela.Trigger) error {
	var names []string
	given, known := reflect.ValueOf(t), reflect.ValueOf(only)
	for i := range given.NumField() {
		if !reflect.DeepEqual(given.Field(i).Interface(), known.Field(i).Interface()) {
			name, _, _ := strings.Cut(given.Type().Field(i).Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	said := strings.Join(names, ", ")
	hint := "leave it out, or choose another kind"
	if said == "zone" && t.Kind == chela.TriggerEvery {
		hint = "leave it out: spans are counted from the anchor, wherever that is"
	} else if said == "zone" && t.Kind == chela.TriggerAt {
		hint = "write the time with its zone, as 2035-05-01T09:00:00+02:00"
	}
	return invalid("a trigger of kind %s has no %s", t.Kind, said).WithHint(hint)
}

func checkWebhook(t chela.Trigger) error {
	for _, part := range strings.Split(t.Path, "/") {
		if !chela.ValidName(part) || len(t.Path) > 200 {
			return invalid("%q is no path of a webhook", Shown(t.Path)).
				WithHint("use names of lower-case letters, digits, - and _, separated by /")
		}
	}
	if !strings.HasPrefix(t.Secret, "env:") {
		return invalid("the webhook has no secret").WithHint("keep it in a variable of the environment, and name that: env:NAME")
	}
	return nil
}

func checkAction(v chela.Routine) error {
	a := v.Action
	switch a.Kind {
	case chela.ActionLight, chela.ActionTurn, chela.ActionJob, chela.ActionEvent, chela.ActionNotify:
	default:
		return invalid("%q is no kind of action", Shown(string(a.Kind))).WithHint("use turn, lightweight, job, system_event or notify")
	}
	switch {
	case strings.TrimSpace(a.Text) == "" || !utf8.ValidString(a.Text):
		return invalid("the action has no text").WithHint("say what is to be done, or what is to be told")
	case len(a.Text) > maxText:
		return invalid("the text of the action has %d bytes, and %d are allowed", len(a.Text), maxText).
			WithHint("keep it in a document, and say where that is")
	case a.Main && a.Kind != chela.ActionTurn:
		return invalid("only a turn can be in the main session")
	case len(a.Documents) > 0 && a.Kind != chela.ActionLight && a.Kind != chela.ActionTurn:
		return invalid("only a lightweight action and a turn are shown documents").WithHint("a job can read them itself")
	case a.Steps < 0 || a.Timeout < 0 || a.MaxTokens < 0 || a.PostMax < 0:
		return invalid("a bound of the action is below zero")
	case !slices.Contains([]chela.PostMode{"", chela.PostNone, chela.PostSummary, chela.PostFull}, a.Post):
		return invalid("%q does not say what is posted", Shown(string(a.Post))).WithHint("use none, summary or full")
	case !slices.Contains([]chela.WakeMode{"", chela.WakeNow, chela.WakeNextHeartbeat}, a.Wake):
		return invalid("%q does not say when the session wakes", Shown(string(a.Wake))).WithHint("use now or next-heartbeat")
	}
	for _, doc := range a.Documents {
		if doc == "" || path.Clean("/"+doc) != "/"+doc {
			return invalid("%q is no path of a document", Shown(doc)).WithHint("write it as in notes/plan.md")
		}
	}
	return nil
}

func checkGuards(v chela.Routine, zone *time.Location) error {
	g := v.Guards
	if _, err := Window(g.ActiveHours, zone); err != nil {
		return err
	}
	if g.Unless != "" && path.Clean("/"+g.Unless) != "/"+g.Unless {
		return invalid("%q is no path of a document", Shown(g.Unless)).WithHint("write it as in HEARTBEAT.md")
	}
	return nil
}

func checkNotify(v chela.Routine) error {
	n := v.Notify
	switch {
	case !slices.Contains([]chela.NotifyPolicy{"", chela.NotifyAlways, chela.NotifyConditional, chela.NotifyNever}, n.Policy):
		return invalid("%q does not say when people are told", Shown(string(n.Policy))).WithHint("use always, conditional or never")
	case !slices.Contains([]chela.NotifyTarget{
		"", chela.TargetExplicit, chela.TargetOrigin, chela.TargetLast, chela.TargetBroadcast, chela.TargetNone,
	}, n.Target):
		return invalid("%q does not say where people are told", Shown(string(n.Target))).WithHint("use explicit, origin, last, broadcast or none")
	case n.Target == chela.TargetExplicit && !chela.ValidName(n.Channel):
		return invalid("it is not said in which channel people are told").WithHint("name it, or use origin or last")
	case n.Target != chela.TargetExplicit && (n.Channel != "" || n.To != ""):
		return invalid("a channel is named, but people are told elsewhere").WithHint("use the target explicit, or leave the channel out")
	case v.Action.Kind == chela.ActionNotify && n.Target == chela.TargetNone:
		return invalid("the action tells people something, and they are told nowhere").WithHint("use another target than none")
	case n.AckMax < 0 || n.Repeat < 0:
		return invalid("a bound of the notice is below zero")
	}
	return nil
}
