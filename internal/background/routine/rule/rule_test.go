package rule_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/background/routine/rule"
	"chela/internal/background/schedule"
)

func at(t testing.TB, text string) time.Time {
	t.Helper()
	when, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return when
}

func hourly(t testing.TB) schedule.Schedule {
	t.Helper()
	s, err := rule.Times(chela.Trigger{Kind: chela.TriggerCron, Cron: "0 * * * *", Zone: "UTC"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDue(t *testing.T) {
	t.Parallel()
	from := at(t, "2026-11-22T10:00:00Z")
	hour := func(n int) time.Time { return from.Add(time.Duration(n) * time.Hour) }
	skip := "no process was running at that time"
	all := func(first, n int) (fires []rule.Firing) {
		for i := range n {
			fires = append(fires, rule.Firing{Due: hour(first + i)})
		}
		return fires
	}
	backlog := all(101, 100)
	backlog[0].Missed = 101
	for name, c := range map[string]struct {
		policy chela.MissedPolicy
		now    time.Time
		fires  []rule.Firing
		next   time.Time
	}{
		"in time":            {chela.MissedSkip, hour(0), []rule.Firing{{Due: hour(0)}}, hour(1)},
		"a moment late":      {chela.MissedSkip, hour(0).Add(time.Minute), []rule.Firing{{Due: hour(0)}}, hour(1)},
		"late, skip":         {chela.MissedSkip, hour(0).Add(time.Minute + 1), []rule.Firing{{Due: hour(0), Skip: skip}}, hour(1)},
		"late, once":         {chela.MissedOnce, hour(0).Add(30 * time.Minute), []rule.Firing{{Due: hour(0)}}, hour(1)},
		"three late, skip":   {chela.MissedSkip, hour(2).Add(time.Hour - 1), []rule.Firing{{Due: hour(2), Missed: 2, Skip: skip}}, hour(3)},
		"three, one in time": {chela.MissedSkip, hour(2), []rule.Firing{{Due: hour(2), Missed: 2}}, hour(3)},
		"three late, once":   {chela.MissedOnce, hour(2), []rule.Firing{{Due: hour(2), Missed: 2}}, hour(3)},
		"three late, all":    {chela.MissedAll, hour(2), all(0, 3), hour(3)},
		"100 late, all":      {chela.MissedAll, hour(99), all(0, 100), hour(100)},
		"101 late, all":      {chela.MissedAll, hour(100), append([]rule.Firing{{Due: hour(1), Missed: 1}}, all(2, 99)...), hour(101)},
		"201 late, all":      {chela.MissedAll, hour(200), backlog, hour(201)},
		"201 late, once":     {chela.MissedOnce, hour(200), []rule.Firing{{Due: hour(200), Missed: 200}}, hour(201)},
	} {
		fires, next := rule.Due(hourly(t), from, c.now, c.policy)
		if diff := cmp.Diff(c.fires, fires); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		if !next.Equal(c.next) {
			t.Errorf("%s: next at %v, want %v", name, next, c.next)
		}
	}
	once, err := rule.Times(chela.Trigger{Kind: chela.TriggerAt, At: from}, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	fires, next := rule.Due(once, from, hour(5), chela.MissedOnce)
	if diff := cmp.Diff([]rule.Firing{{Due: from}}, fires); diff != "" || !next.IsZero() {
		t.Errorf("at: next at %v (-want +got)\n%s", next, diff)
	}
}

func TestRefuse(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-22T10:00:00Z")
	ago := func(all ...time.Duration) (runs []time.Time) {
		for _, d := range all {
			runs = append(runs, now.Add(-d))
		}
		return runs
	}
	heartbeat := func(failures int) chela.Routine {
		return chela.Routine{Builtin: true, Failures: failures, Trigger: chela.Trigger{Kind: chela.TriggerEvery, Every: chela.Span(time.Hour)}}
	}
	guarded := chela.Routine{Guards: chela.RoutineGuards{Cooldown: chela.Span(time.Hour), PerHour: 2, PerDay: 3, Unless: "HEARTBEAT.md"}}
	event, cron := chela.TriggerEvent, chela.TriggerCron
	missedAll := guarded
	missedAll.Trigger.Missed = chela.MissedAll
	for name, c := range map[string]struct {
		v    chela.Routine
		f    rule.Facts
		want string
	}{
		"nothing against it":   {guarded, rule.Facts{Cause: cron}, ""},
		"closed":               {guarded, rule.Facts{Cause: cron, Closed: true}, "outside of its active hours"},
		"closed, by hand":      {guarded, rule.Facts{Cause: chela.TriggerManual, Closed: true, Waiting: 1000}, ""},
		"busy":                 {guarded, rule.Facts{Cause: cron, Busy: true}, "a turn of the main session is in flight"},
		"blank":                {guarded, rule.Facts{Cause: cron, Blank: true}, "HEARTBEAT.md has nothing in it"},
		"cooldown":             {guarded, rule.Facts{Cause: event, Runs: ago(time.Hour - 1)}, "it ran less than 1h0m0s ago"},
		"cooldown over":        {guarded, rule.Facts{Cause: event, Runs: ago(time.Hour)}, ""},
		"cooldown, by a clock": {guarded, rule.Facts{Cause: cron, Runs: ago(time.Second)}, ""},
		"hour full":            {guarded, rule.Facts{Cause: cron, Runs: ago(time.Minute, 59*time.Minute)}, "it ran 2 times within an hour"},
		"hour not full":        {guarded, rule.Facts{Cause: cron, Runs: ago(time.Minute, time.Hour)}, ""},
		"day full":             {guarded, rule.Facts{Cause: cron, Runs: ago(time.Minute, 5*time.Hour, 23*time.Hour)}, "it ran 3 times within 24 hours"},
		"day not full":         {guarded, rule.Facts{Cause: cron, Runs: ago(time.Minute, 5*time.Hour, 24*time.Hour)}, ""},
		"an earlier one waits": {guarded, rule.Facts{Cause: cron, Waiting: 1}, "an earlier run of it is still waiting for a slot"},
		"all are wanted":       {missedAll, rule.Facts{Cause: cron, Waiting: 99}, ""},
		"too many wait":        {missedAll, rule.Facts{Cause: cron, Waiting: 100}, "100 of its runs are already waiting"},
		"events wait":          {guarded, rule.Facts{Cause: event, Waiting: 99}, ""},
		"never failed":         {heartbeat(0), rule.Facts{Cause: chela.TriggerEvery, Runs: ago(time.Hour)}, ""},
		"failed once":          {heartbeat(1), rule.Facts{Cause: chela.TriggerEvery, Runs: ago(time.Hour)}, "it failed once, and is tried less often"},
		"failed once, long":    {heartbeat(1), rule.Facts{Cause: chela.TriggerEvery, Runs: ago(2*time.Hour - time.Second)}, ""},
		"failed three times":   {heartbeat(3), rule.Facts{Cause: chela.TriggerEvery, Runs: ago(7 * time.Hour)}, "it failed 3 times, and is tried less often"},
		"failed often":         {heartbeat(50), rule.Facts{Cause: chela.TriggerEvery, Runs: ago(8 * time.Hour)}, ""},
	} {
		c.f.Now = now
		if got := rule.Refuse(c.v, c.f); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-22T10:00:00Z")
	ok := func(output string) rule.Ending { return rule.Ending{State: chela.RunOK, Output: output, At: now} }
	broke := rule.Ending{State: chela.RunFailed, Reason: "no answer", At: now}
	report := func(notify bool, text string) *chela.Report { return &chela.Report{Notify: notify, Text: text} }
	for name, c := range map[string]struct {
		policy   chela.NotifyPolicy
		failures int // before
		post     chela.PostMode
		report   *chela.Report
		end      rule.Ending
		tell     string
		posted   string
		after    int // failures
		off      bool
	}{
		"says something":        {end: ok("Rain.\nBring it in."), tell: "Rain.\nBring it in.", posted: "Rain."},
		"posts all":             {post: chela.PostFull, end: ok("Rain.\nBring it in."), tell: "Rain.\nBring it in.", posted: "Rain.\nBring it in."},
		"posts nothing":         {post: chela.PostNone, end: ok("Rain."), tell: "Rain."},
		"nothing to say":        {end: ok("ROUTINE_OK")},
		"silent":                {policy: chela.NotifyAlways, end: ok("NO_REPLY")},
		"never":                 {policy: chela.NotifyNever, end: ok("[NOTIFY] Rain."), posted: "Rain."},
		"always":                {policy: chela.NotifyAlways, end: ok("HEARTBEAT_OK all is well, as it was"), tell: "all is well, as it was", posted: "all is well, as it was"},
		"report says no":        {report: report(false, ""), end: ok("I looked."), posted: "I looked."},
		"report says no, loud":  {report: report(false, ""), end: ok("[NOTIFY] I looked."), posted: "I looked."},
		"report says yes":       {report: report(true, "It burns."), end: ok("ROUTINE_OK"), tell: "It burns."},
		"report, without text":  {report: report(true, ""), end: ok("It burns."), tell: "It burns.", posted: "It burns."},
		"good after failures":   {failures: 2, end: ok("ROUTINE_OK")},
		"first failure":         {end: broke, after: 1},
		"first failure, always": {policy: chela.NotifyAlways, end: broke, after: 1, tell: "it failed: no answer", posted: "failed: no answer"},
		"third failure, never":  {policy: chela.NotifyNever, failures: 2, end: broke, after: 3, tell: "it failed 3 times in a row: no answer", posted: "failed: no answer"},
		"fourth failure":        {failures: 3, end: broke, after: 4},
		"tenth failure": {
			failures: 9, end: broke, after: 10, off: true,
			tell: "it is disabled: it failed 10 times in a row: no answer", posted: "failed: no answer",
		},
		"skipped": {failures: 2, end: rule.Ending{State: chela.RunSkipped}, after: 2},
	} {
		v := rule.Defaults{NotifyAfter: 3, DisableAfter: 10}.Filled(chela.Routine{
			Name: "r", Enabled: true, Failures: c.failures, NextAt: now.Add(time.Hour), Notify: chela.RoutineNotify{Policy: c.policy},
			Action: chela.RoutineAction{Kind: chela.ActionTurn, Post: c.post},
		})
		got := rule.Judge(v, chela.RoutineRun{Report: c.report}, c.end, chela.RoutineRun{})
		if got.Tell != c.tell || got.Post != c.posted || got.Routine.Failures != c.after || got.Routine.Enabled == c.off {
			t.Errorf("%s: told %q, posted %q, %d failures, enabled %v", name, got.Tell, got.Post, got.Routine.Failures, got.Routine.Enabled)
		}
		if c.off != got.Routine.NextAt.IsZero() {
			t.Errorf("%s: next at %v", name, got.Routine.NextAt)
		}
	}
}

func TestHears(t *testing.T) {
	t.Parallel()
	v := chela.Routine{ID: "rtn_a", Trigger: chela.Trigger{
		Kind: chela.TriggerSystem, Source: "job", Event: "failed", Filter: map[string]string{"session": "agent:main:job:x"},
	}}
	failed := chela.Event{Kind: chela.EventJobChanged, Text: "failed", Session: "agent:main:job:x"}
	for name, c := range map[string]struct {
		change func(v *chela.Routine, e *chela.Event)
		want   bool
	}{
		"as it wants":       {func(*chela.Routine, *chela.Event) {}, true},
		"any of its source": {func(v *chela.Routine, _ *chela.Event) { v.Trigger.Event = "" }, true},
		"by its kind":       {func(v *chela.Routine, _ *chela.Event) { v.Trigger.Event = "changed" }, true},
		"another event":     {func(_ *chela.Routine, e *chela.Event) { e.Text = "completed" }, false},
		"another source":    {func(_ *chela.Routine, e *chela.Event) { e.Kind = chela.EventTurnFinished }, false},
		"another session":   {func(_ *chela.Routine, e *chela.Event) { e.Session = "agent:main:main" }, false},
		"its own":           {func(_ *chela.Routine, e *chela.Event) { e.Routine = "rtn_a" }, false},
		"of its session":    {func(v *chela.Routine, e *chela.Event) { e.Session, v.Trigger.Filter = "cron:rtn_a", nil }, false},
	} {
		v, e := v, failed
		c.change(&v, &e)
		if got := rule.Hears(v, e); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	good := func() chela.Routine {
		return chela.Routine{
			Name: "daily", Agent: "main", Trigger: chela.Trigger{Kind: chela.TriggerCron, Cron: "0 9 * * *", Zone: "Europe/Zurich"},
			Action: chela.RoutineAction{Kind: chela.ActionTurn, Text: "look"},
		}
	}
	if err := rule.Check(good(), time.UTC); err != nil {
		t.Fatalf("%v, %s", err, chela.HintOf(err))
	}
	bad := map[string]func(v *chela.Routine){
		"no name":            func(v *chela.Routine) { v.Name = "" },
		"a name with spaces": func(v *chela.Routine) { v.Name = "my routine" },
		"no trigger":         func(v *chela.Routine) { v.Trigger = chela.Trigger{} },
		"no such trigger":    func(v *chela.Routine) { v.Trigger.Kind = "moon" },
		"no such zone":       func(v *chela.Routine) { v.Trigger.Zone = "Mars/Olympus" },
		"the zone Local":     func(v *chela.Routine) { v.Trigger.Zone = "Local" },
		"no expression":      func(v *chela.Routine) { v.Trigger.Cron = "" },
		"of another kind":    func(v *chela.Routine) { v.Trigger.Pattern = "x" },
		"no time":            func(v *chela.Routine) { v.Trigger = chela.Trigger{Kind: chela.TriggerAt} },
		"too often": func(v *chela.Routine) {
			v.Trigger = chela.Trigger{Kind: chela.TriggerEvery, Every: chela.Span(time.Second)}
		},
		"no pattern":          func(v *chela.Routine) { v.Trigger = chela.Trigger{Kind: chela.TriggerEvent} },
		"no expression in it": func(v *chela.Routine) { v.Trigger = chela.Trigger{Kind: chela.TriggerEvent, Pattern: "("} },
		"no source":           func(v *chela.Routine) { v.Trigger = chela.Trigger{Kind: chela.TriggerSystem} },
		"no such field": func(v *chela.Routine) {
			v.Trigger = chela.Trigger{Kind: chela.TriggerSystem, Source: "job", Filter: map[string]string{"x": "y"}}
		},
		"no path": func(v *chela.Routine) {
			v.Trigger = chela.Trigger{Kind: chela.TriggerWebhook, Scheme: "hmac", Secret: "env:X"}
		},
		"a path that leaves": func(v *chela.Routine) {
			v.Trigger = chela.Trigger{Kind: chela.TriggerWebhook, Path: "a/../b", Scheme: "hmac", Secret: "env:X"}
		},
		"a secret itself": func(v *chela.Routine) {
			v.Trigger = chela.Trigger{Kind: chela.TriggerWebhook, Path: "a", Scheme: "hmac", Secret: "swordfish"}
		},
		"no such policy": func(v *chela.Routine) { v.Trigger.Missed = "twice" },
		"no action":      func(v *chela.Routine) { v.Action.Kind = "" },
		"no text":        func(v *chela.Routine) { v.Action.Text = " \n" },
		"documents for a job": func(v *chela.Routine) {
			v.Action.Kind, v.Action.Documents = chela.ActionJob, []string{"a.md"}
		},
		"a document outside": func(v *chela.Routine) {
			v.Action.Kind, v.Action.Documents = chela.ActionLight, []string{"../a.md"}
		},
		"a job in the main session": func(v *chela.Routine) { v.Action.Kind, v.Action.Main = chela.ActionJob, true },
		"half an hour of day":       func(v *chela.Routine) { v.Guards.ActiveHours.Start = "08:00" },
		"no channel":                func(v *chela.Routine) { v.Notify.Target = chela.TargetExplicit },
		"a channel for nothing":     func(v *chela.Routine) { v.Notify.Channel = "telegram" },
		"a notice to nobody": func(v *chela.Routine) {
			v.Action.Kind, v.Notify.Target = chela.ActionNotify, chela.TargetNone
		},
	}
	for name, change := range bad {
		v := good()
		change(&v)
		if err := rule.Check(v, time.UTC); chela.KindOf(err) != chela.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
