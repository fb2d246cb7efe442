package rule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/background/routine/rule"
)

// valid is a routine that passes Check.
func valid() chela.Routine {
	return chela.Routine{
		Name: "daily", Agent: "main", Trigger: chela.Trigger{Kind: chela.TriggerCron, Cron: "0 9 * * *", Zone: "Europe/Zurich"},
		Action: chela.RoutineAction{Kind: chela.ActionTurn, Text: "look"},
	}
}

// TestCheckAccepts passes every kind of trigger with all its fields, and values
// at their bounds.
func TestCheckAccepts(t *testing.T) {
	t.Parallel()
	trigger := func(tr chela.Trigger) func(*chela.Routine) { return func(v *chela.Routine) { v.Trigger = tr } }
	for name, change := range map[string]func(*chela.Routine){
		"cron":          trigger(chela.Trigger{Kind: chela.TriggerCron, Cron: "0 9 * * *", Zone: "UTC", Missed: chela.MissedAll}),
		"every":         trigger(chela.Trigger{Kind: chela.TriggerEvery, Every: chela.Span(time.Hour), Anchor: time.Unix(0, 0).UTC(), Missed: chela.MissedOnce}),
		"at":            trigger(chela.Trigger{Kind: chela.TriggerAt, At: time.Unix(2e9, 0).UTC(), Missed: chela.MissedSkip}),
		"event":         trigger(chela.Trigger{Kind: chela.TriggerEvent, Channel: "telegram", Pattern: "deploy"}),
		"system event":  trigger(chela.Trigger{Kind: chela.TriggerSystem, Source: "job", Event: "failed", Filter: map[string]string{"agent": "main"}}),
		"system events": trigger(chela.Trigger{Kind: chela.TriggerSystem, Source: "turn"}),
		"webhook":       trigger(chela.Trigger{Kind: chela.TriggerWebhook, Path: "ci/build", Scheme: "hmac", Secret: "env:X"}),
		"manual":        trigger(chela.Trigger{Kind: chela.TriggerManual}),
		"a long path": trigger(chela.Trigger{
			Kind: chela.TriggerWebhook, Path: strings.Repeat("a", 64) + "/" + strings.Repeat("b", 64) + "/" + strings.Repeat("c", 64) + "/" + strings.Repeat("d", 5),
			Scheme: "hmac", Secret: "env:X",
		}),
		"a long description":         func(v *chela.Routine) { v.Description = strings.Repeat("x", 1000) },
		"a long text":                func(v *chela.Routine) { v.Action.Text = strings.Repeat("x", 50_000) },
		"a turn in the main session": func(v *chela.Routine) { v.Action.Main = true },
		"a job":                      func(v *chela.Routine) { v.Action.Kind = chela.ActionJob },
		"a system event":             func(v *chela.Routine) { v.Action.Kind = chela.ActionEvent },
		"documents of a turn":        func(v *chela.Routine) { v.Action.Documents = []string{"notes/plan.md", "b.md"} },
		"documents, lightweight":     func(v *chela.Routine) { v.Action.Kind, v.Action.Documents = chela.ActionLight, []string{"a.md"} },
		"a document as a guard":      func(v *chela.Routine) { v.Guards.Unless = "HEARTBEAT.md" },
		"hours of a zone": func(v *chela.Routine) {
			v.Guards.ActiveHours = chela.ActiveHours{Start: "08:00", End: "22:00", Zone: "UTC"}
		},
		"an explicit channel": func(v *chela.Routine) {
			v.Notify = chela.RoutineNotify{Target: chela.TargetExplicit, Channel: "slack", To: "C1"}
		},
		"a notice":                     func(v *chela.Routine) { v.Action.Kind = chela.ActionNotify },
		"a turn that tells nobody":     func(v *chela.Routine) { v.Notify.Target = chela.TargetNone },
		"limits of zero, repeats of 1": func(v *chela.Routine) { v.Notify.Repeat, v.Notify.AckMax = 1, 1 },
	} {
		v := valid()
		change(&v)
		if err := rule.Check(v, time.UTC); err != nil {
			t.Errorf("%s: %v (%s)", name, err, chela.HintOf(err))
		}
	}
}

// TestCheckRefuses says what is wrong and how to mend it.
func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	kinds := map[chela.TriggerKind]chela.Trigger{
		chela.TriggerEvery:   {Kind: chela.TriggerEvery, Every: chela.Span(time.Hour)},
		chela.TriggerAt:      {Kind: chela.TriggerAt, At: time.Unix(2e9, 0).UTC()},
		chela.TriggerWebhook: {Kind: chela.TriggerWebhook, Path: "ci", Scheme: "hmac", Secret: "env:X"},
	}
	of := func(kind chela.TriggerKind, change func(*chela.Trigger)) func(*chela.Routine) {
		return func(v *chela.Routine) {
			v.Trigger = kinds[kind]
			change(&v.Trigger)
		}
	}
	long := strings.Repeat("a", 100)
	for _, c := range []struct {
		name   string
		change func(*chela.Routine)
		want   string
		hint   string
	}{
		{"a long description", func(v *chela.Routine) { v.Description = strings.Repeat("x", 1001) }, "the description is too long or not valid text", "write up to 1000 bytes"},
		{"a description that is not text", func(v *chela.Routine) { v.Description = "\xff" }, "the description is too long or not valid text", "write up to 1000 bytes"},
		{"a long name", func(v *chela.Routine) { v.Name = long }, `"` + long[:79] + `…" is not a valid name for a routine`, "use up to 64"},
		{"a zone of a span", of(chela.TriggerEvery, func(t *chela.Trigger) { t.Zone = "UTC" }), "a trigger of kind every has no zone", "intervals are counted from the anchor"},
		{"a zone of a time", of(chela.TriggerAt, func(t *chela.Trigger) { t.Zone = "UTC" }), "a trigger of kind at has no zone", "write the time with its zone"},
		{"a zone of a webhook", of(chela.TriggerWebhook, func(t *chela.Trigger) { t.Zone = "UTC" }), "a trigger of kind webhook has no zone", "leave it out, or choose"},
		{"a pattern of a span", of(chela.TriggerEvery, func(t *chela.Trigger) { t.Pattern = "x" }), "a trigger of kind every has no pattern", "leave it out, or choose"},
		{"a pattern of a time", of(chela.TriggerAt, func(t *chela.Trigger) { t.Pattern = "x" }), "a trigger of kind at has no pattern", "leave it out, or choose"},
		{"two foreign fields", of(chela.TriggerAt, func(t *chela.Trigger) { t.Cron, t.Zone = "* * * * *", "UTC" }), "a trigger of kind at has no cron, zone", "leave it out, or choose"},
		{"a long path", of(chela.TriggerWebhook, func(t *chela.Trigger) { t.Path = strings.Repeat("abc/", 50) + "a" }), "is not a valid webhook path", "use names of lower-case"},
		{"a long text", func(v *chela.Routine) { v.Action.Text = strings.Repeat("x", 50_001) }, "has 50001 bytes, and 50000 are allowed", "put it into a document"},
		{"text that is not text", func(v *chela.Routine) { v.Action.Text = "\xff" }, "the action has no text", "set the prompt"},
		{"a lightweight main", func(v *chela.Routine) { v.Action.Kind, v.Action.Main = chela.ActionLight, true }, "only a turn can run in the main session", ""},
		{"documents of a notice", func(v *chela.Routine) { v.Action.Kind, v.Action.Documents = chela.ActionNotify, []string{"a.md"} }, "only lightweight actions and turns can include documents", "a job can read"},
		{"steps", func(v *chela.Routine) { v.Action.Steps = -1 }, "a limit of the action is negative", ""},
		{"timeout", func(v *chela.Routine) { v.Action.Timeout = -1 }, "a limit of the action is negative", ""},
		{"tokens", func(v *chela.Routine) { v.Action.MaxTokens = -1 }, "a limit of the action is negative", ""},
		{"post", func(v *chela.Routine) { v.Action.PostMax = -1 }, "a limit of the action is negative", ""},
		{"no such post", func(v *chela.Routine) { v.Action.Post = "some" }, `"some" is not a kind of post`, "use none, summary or full"},
		{"no such wake", func(v *chela.Routine) { v.Action.Wake = "later" }, `"later" is not a time to wake the session`, "use now"},
		{"an empty document", func(v *chela.Routine) { v.Action.Documents = []string{"a.md", ""} }, `"" is not a valid document path`, "notes/plan.md"},
		{"a guard outside", func(v *chela.Routine) { v.Guards.Unless = "../a.md" }, `"../a.md" is not a valid document path`, "HEARTBEAT.md"},
		{"hours of no zone", func(v *chela.Routine) {
			v.Guards.ActiveHours = chela.ActiveHours{Start: "08:00", End: "22:00", Zone: "Mars"}
		}, "there is no time zone Mars", "Europe/Zurich"},
		{"hours of the zone Local", func(v *chela.Routine) {
			v.Guards.ActiveHours = chela.ActiveHours{Start: "08:00", End: "22:00", Zone: "Local"}
		}, "there is no time zone Local", "Europe/Zurich"},
		{"no such policy", func(v *chela.Routine) { v.Notify.Policy = "often" }, `"often" is not a notification policy`, "use always"},
		{"no such target", func(v *chela.Routine) { v.Notify.Target = "moon" }, `"moon" is not a notification target`, "use explicit"},
		{"a receiver elsewhere", func(v *chela.Routine) { v.Notify.To = "C1" }, "a channel is set, but the target is not explicit", "use the target explicit"},
		{"a repeat below zero", func(v *chela.Routine) { v.Notify.Repeat = -1 }, "a limit of the notice is negative", ""},
		{"an acknowledgement below zero", func(v *chela.Routine) { v.Notify.AckMax = -1 }, "a limit of the notice is negative", ""},
		{"an event of the source", func(v *chela.Routine) {
			v.Trigger = chela.Trigger{Kind: chela.TriggerSystem, Source: "job", Event: "exploded"}
		}, `"exploded" is not an event of job`, "use one of changed"},
		{"a source of chela", func(v *chela.Routine) { v.Trigger = chela.Trigger{Kind: chela.TriggerSystem, Source: "weather"} }, `"weather" is not a source of events`, "use one of job"},
	} {
		v := valid()
		c.change(&v)
		err := rule.Check(v, time.UTC)
		if chela.KindOf(err) != chela.Invalid || !strings.Contains(err.Error(), c.want) || !strings.Contains(chela.HintOf(err), c.hint) {
			t.Errorf("%s: %v (%s), want %q (%s)", c.name, err, chela.HintOf(err), c.want, c.hint)
		}
	}
}

// TestFilled fills in what a routine leaves open, and nothing else.
func TestFilled(t *testing.T) {
	t.Parallel()
	d := rule.Defaults{Missed: chela.MissedOnce, Cooldown: 5 * time.Minute, Timeout: time.Hour, NotifyAfter: 3, DisableAfter: 10}
	want := chela.Routine{
		Trigger: chela.Trigger{Missed: chela.MissedOnce},
		Guards:  chela.RoutineGuards{Cooldown: chela.Span(5 * time.Minute), Concurrent: 1},
		Notify:  chela.RoutineNotify{Policy: chela.NotifyConditional, Target: chela.TargetOrigin, AfterFailures: 3, Disable: 10},
		Action:  chela.RoutineAction{Timeout: chela.Span(time.Hour), Post: chela.PostSummary, PostMax: 8000, Wake: chela.WakeNextHeartbeat},
	}
	if diff := cmp.Diff(want, d.Filled(chela.Routine{})); diff != "" {
		t.Errorf("filled (-want +got):\n%s", diff)
	}
	own := chela.Routine{
		Trigger: chela.Trigger{Missed: chela.MissedAll},
		Guards:  chela.RoutineGuards{Cooldown: chela.Span(time.Second), Concurrent: -1},
		Notify:  chela.RoutineNotify{Policy: chela.NotifyNever, Target: chela.TargetNone, AfterFailures: -1, Disable: -1},
		Action:  chela.RoutineAction{Timeout: chela.Span(time.Second), Post: chela.PostFull, PostMax: 1, Wake: chela.WakeNow},
	}
	if diff := cmp.Diff(own, d.Filled(own)); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
}

func TestSessionOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind chela.ActionKind
		main bool
		want chela.SessionKey
	}{
		{chela.ActionTurn, false, "cron:rtn_1"},
		{chela.ActionTurn, true, "agent:main:main"},
		{chela.ActionJob, false, "cron:rtn_1"},
		{chela.ActionNotify, false, "agent:main:main"},
		{chela.ActionEvent, false, "agent:main:main"},
	} {
		v := chela.Routine{ID: "rtn_1", Agent: "main", Action: chela.RoutineAction{Kind: c.kind, Main: c.main}}
		if got := rule.SessionOf(v); got != c.want {
			t.Errorf("%s, main %t: %s, want %s", c.kind, c.main, got, c.want)
		}
	}
}

// TestFieldsOfEvents lets a filter ask for the agent of a session.
func TestFieldsOfEvents(t *testing.T) {
	t.Parallel()
	v := chela.Routine{ID: "rtn_a", Trigger: chela.Trigger{Kind: chela.TriggerSystem, Source: "turn", Filter: map[string]string{"agent": "research"}}}
	for session, want := range map[chela.SessionKey]bool{"agent:research:main": true, "agent:main:main": false, "not a key": false} {
		if got := rule.Hears(v, chela.Event{Kind: chela.EventTurnFinished, Session: session}); got != want {
			t.Errorf("%s: %t, want %t", session, got, want)
		}
	}
}

// TestJudgeOfActions decides about endings of actions other than isolated turns.
func TestJudgeOfActions(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-22T10:00:00Z")
	rain := rule.Ending{State: chela.RunOK, Output: "Rain.", At: now}
	for _, c := range []struct {
		name   string
		change func(*chela.Routine)
		end    rule.Ending
		last   chela.RoutineRun
		tell   string
		post   string
		gone   bool
	}{
		{"a main turn", func(v *chela.Routine) { v.Action.Main = true }, rain, chela.RoutineRun{}, "Rain.", "", false},
		{"a system event", func(v *chela.Routine) { v.Action.Kind = chela.ActionEvent }, rain, chela.RoutineRun{}, "", "", false},
		{"a notice", func(v *chela.Routine) { v.Action.Kind = chela.ActionNotify }, rule.Ending{State: chela.RunOK, Tell: "Water!", At: now}, chela.RoutineRun{}, "Water!", "", false},
		{"a notice with an output", func(v *chela.Routine) { v.Action.Kind = chela.ActionNotify }, rain, chela.RoutineRun{}, "Rain.", "", false},
		{"told just now", func(v *chela.Routine) { v.Notify.Repeat = chela.Span(time.Hour) }, rain, chela.RoutineRun{Notified: "Rain.", FinishedAt: now.Add(-time.Minute)}, "", "Rain.", false},
		{"told long ago", func(v *chela.Routine) { v.Notify.Repeat = chela.Span(time.Hour) }, rain, chela.RoutineRun{Notified: "Rain.", FinishedAt: now.Add(-2 * time.Hour)}, "Rain.", "Rain.", false},
		{"repeats are wanted", func(v *chela.Routine) { v.Notify.Repeat = 0 }, rain, chela.RoutineRun{Notified: "Rain.", FinishedAt: now}, "Rain.", "Rain.", false},
		{"once", func(v *chela.Routine) { v.DeleteAfterRun = true }, rain, chela.RoutineRun{}, "Rain.", "Rain.", true},
		{"the heartbeat stays", func(v *chela.Routine) { v.DeleteAfterRun, v.Builtin = true, true }, rain, chela.RoutineRun{}, "Rain.", "Rain.", false},
		{"failures are not reported", func(v *chela.Routine) { v.Notify.AfterFailures, v.Notify.Disable = -1, -1 }, rule.Ending{State: chela.RunFailed, Reason: "no", At: now}, chela.RoutineRun{}, "", "", false},
		{"the first failure is told", func(v *chela.Routine) { v.Notify.AfterFailures = 1 }, rule.Ending{State: chela.RunFailed, Reason: "no", At: now}, chela.RoutineRun{}, "it failed once in a row: no", "failed: no", false},
		{"no failure disables it", func(v *chela.Routine) { v.Notify.AfterFailures, v.Notify.Disable = -1, 0 }, rule.Ending{State: chela.RunFailed, Reason: "no", At: now}, chela.RoutineRun{}, "", "", false},
		{"a short acknowledgement", func(v *chela.Routine) { v.Notify.AckMax = 300 }, rule.Ending{State: chela.RunOK, Output: "ROUTINE_OK all is well", At: now}, chela.RoutineRun{}, "", "", false},
		{"silence with a report", func(v *chela.Routine) { v.Notify.Policy = chela.NotifyAlways }, rule.Ending{State: chela.RunOK, Output: "NO_REPLY but more", At: now}, chela.RoutineRun{}, "NO_REPLY but more", "NO_REPLY but more", false},
	} {
		v := chela.Routine{Enabled: true, NextAt: now.Add(time.Hour), Action: chela.RoutineAction{Kind: chela.ActionTurn}}
		v = rule.Defaults{NotifyAfter: 1, DisableAfter: 10}.Filled(v)
		c.change(&v)
		got := rule.Judge(v, chela.RoutineRun{}, c.end, c.last)
		if got.Tell != c.tell || got.Post != c.post {
			t.Errorf("%s: told %q, posted %q, want %q and %q", c.name, got.Tell, got.Post, c.tell, c.post)
		}
		if gone := !got.Routine.Enabled && got.Routine.NextAt.IsZero() && got.Routine.DeletedAt.Equal(now); gone != c.gone || c.gone == got.Routine.Enabled {
			t.Errorf("%s: enabled %t, deleted at %v", c.name, got.Routine.Enabled, got.Routine.DeletedAt)
		}
	}
}

// TestOneFailureDisables disables a routine that allows none.
func TestOneFailureDisables(t *testing.T) {
	t.Parallel()
	v := chela.Routine{Enabled: true, Notify: chela.RoutineNotify{Disable: 1}}
	got := rule.Judge(v, chela.RoutineRun{}, rule.Ending{State: chela.RunFailed, Reason: "no"}, chela.RoutineRun{})
	if got.Routine.Enabled || got.Tell != "it is disabled: it failed once in a row: no" {
		t.Errorf("enabled %t, told %q", got.Routine.Enabled, got.Tell)
	}
}

// TestBackoffIsForTheHeartbeat tries only routines that chela keeps less often
// after failures.
func TestBackoffIsForTheHeartbeat(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-22T10:00:00Z")
	failing := chela.Routine{Builtin: true, Failures: 1, Trigger: chela.Trigger{Kind: chela.TriggerEvery, Every: chela.Span(time.Hour)}}
	for _, c := range []struct {
		name   string
		change func(*chela.Routine)
		runs   []time.Time
		want   string
	}{
		{"failed", func(*chela.Routine) {}, []time.Time{now.Add(-time.Hour)}, "it failed once, and is tried less often"},
		{"of a person", func(v *chela.Routine) { v.Builtin = false }, []time.Time{now.Add(-time.Hour)}, ""},
		{"by cron", func(v *chela.Routine) { v.Trigger.Kind = chela.TriggerCron }, []time.Time{now.Add(-time.Hour)}, ""},
		{"never ran", func(*chela.Routine) {}, nil, ""},
		{"just long enough", func(*chela.Routine) {}, []time.Time{now.Add(-2*time.Hour + time.Minute)}, ""},
		{"a moment too early", func(*chela.Routine) {}, []time.Time{now.Add(-2*time.Hour + time.Minute + 1)}, "it failed once, and is tried less often"},
	} {
		v := failing
		c.change(&v)
		if got := rule.Refuse(v, rule.Facts{Now: now, Cause: chela.TriggerEvery, Runs: c.runs}); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	once := chela.Routine{Guards: chela.RoutineGuards{PerHour: 1, PerDay: 1, Cooldown: -1}}
	if got := rule.Refuse(once, rule.Facts{Now: now, Cause: chela.TriggerEvent, Runs: []time.Time{now}}); got != "it ran once within an hour" {
		t.Errorf("one an hour: %q", got)
	}
	once.Guards.PerHour = 0
	if got := rule.Refuse(once, rule.Facts{Now: now, Cause: chela.TriggerEvent, Runs: []time.Time{now}}); got != "it ran once within 24 hours" {
		t.Errorf("one a day: %q", got)
	}
	once.Guards.PerDay = 0
	if got := rule.Refuse(once, rule.Facts{Now: now, Cause: chela.TriggerEvent, Runs: []time.Time{now}}); got != "" {
		t.Errorf("without guards: %q", got)
	}
}
