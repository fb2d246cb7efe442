package self_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/tool/self"
	"chela/internal/tool/tooltest"
)

// fakeRoutines keeps routines in memory.
type fakeRoutines struct {
	mu      sync.Mutex
	all     []chela.Routine // guarded by mu, like all below
	fired   []string
	reports []chela.Report
}

func (d *fakeRoutines) tools() map[string]chela.Tool {
	byName := map[string]chela.Tool{}
	all := self.RoutineTools(func() *fakeRoutines { return d }, time.FixedZone("home", 3600))
	for _, t := range append(all, self.Report(d.report)) {
		byName[t.Name] = t
	}
	return byName
}

func (d *fakeRoutines) CreateFor(_ context.Context, call chela.ToolCall, r chela.Routine) (chela.Routine, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !chela.ValidName(r.Name) {
		return r, chela.E(chela.Invalid, fmt.Sprintf("%.40q cannot name a routine", r.Name))
	}
	r.ID, r.NextAt = chela.RoutineID("rtn_"+r.Name), time.Unix(3600, 0)
	r.Origin.Channel = string(call.ID)
	d.all = append(d.all, r)
	return r, nil
}

func (d *fakeRoutines) All(context.Context) ([]chela.Routine, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.all), nil
}

func (d *fakeRoutines) find(match func(chela.Routine) bool) (int, error) {
	if i := slices.IndexFunc(d.all, match); i >= 0 {
		return i, nil
	}
	return -1, chela.E(chela.NotFound, "no such row")
}

func (d *fakeRoutines) Routine(_ context.Context, name string) (chela.Routine, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i, err := d.find(func(r chela.Routine) bool { return r.Name == name || string(r.ID) == name })
	if err != nil {
		return chela.Routine{}, err
	}
	return d.all[i], nil
}

func (d *fakeRoutines) UpdateFor(_ context.Context, _ chela.ToolCall, id chela.RoutineID, c self.RoutineChange) (chela.Routine, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i, err := d.find(func(r chela.Routine) bool { return r.ID == id })
	if err != nil {
		return chela.Routine{}, err
	}
	if c.Enabled != nil {
		d.all[i].Enabled = *c.Enabled
	}
	if c.Text != nil {
		d.all[i].Action.Text = *c.Text
	}
	if c.Notify != nil {
		d.all[i].Notify.Policy = *c.Notify
	}
	return d.all[i], nil
}

func (d *fakeRoutines) DeleteFor(_ context.Context, _ chela.ToolCall, id chela.RoutineID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = slices.DeleteFunc(d.all, func(r chela.Routine) bool { return r.ID == id })
	return nil
}

func (d *fakeRoutines) FireFor(_ context.Context, call chela.ToolCall, id chela.RoutineID, input string) (chela.RunID, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fired = append(d.fired, fmt.Sprint(id, " ", input, " ", call.ID))
	return "run_1", nil
}

func (d *fakeRoutines) Runs(context.Context, chela.RoutineID, chela.RunID, int) ([]chela.RoutineRun, error) {
	return []chela.RoutineRun{
		{ID: "run_2", Due: time.Unix(7200, 0), State: chela.RunSkipped, Reason: "outside\nof its hours"},
		{ID: "run_1", Due: time.Unix(3600, 0), State: chela.RunOK, Notified: "rain"},
	}, nil
}

func (d *fakeRoutines) Run(_ context.Context, id chela.RunID) (chela.RoutineRun, error) {
	switch id {
	case "run_1":
		return chela.RoutineRun{ID: id, Routine: "rtn_daily", State: chela.RunOK, Output: "It rains."}, nil
	case "run_2":
		return chela.RoutineRun{ID: id, Routine: "rtn_daily", State: chela.RunSkipped, Reason: "outside of its hours"}, nil
	}
	return chela.RoutineRun{}, chela.E(chela.NotFound, "no such row")
}

func (d *fakeRoutines) report(_ context.Context, _ chela.TurnID, r chela.Report) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reports = append(d.reports, r)
	return nil
}

func TestToolsKeepTheContract(t *testing.T) {
	t.Parallel()
	for name, tl := range (&fakeRoutines{}).tools() {
		t.Run(name, func(t *testing.T) { tooltest.Check(t, tl) })
	}
}

const (
	routineMain  = chela.SessionKey("agent:main:main")
	routineGroup = chela.SessionKey("agent:main:slack:group:7")
	run          = chela.SessionKey("cron:rtn_daily")
)

func TestRoutinesAreKept(t *testing.T) {
	t.Parallel()
	d := &fakeRoutines{}
	tools := d.tools()
	for i, c := range []struct {
		session chela.SessionKey
		tool    string
		args    string
		want    string // a part of the result; "!" before that of a failure
	}{
		{routineMain, "routine_list", `{}`, "[there are no such routines]"},
		{routineMain, "routine_create", `{"name": "daily", "prompt": "weather", "trigger": "cron", "schedule": "0 7 * * *", "timezone": "Europe/Zurich"}`, "made daily: cron 0 7 * * * Europe/Zurich, turn, due 1970-01-01T02:00:00+01:00"},
		{routineMain, "routine_create", `{"name": "Bad Name", "prompt": "x", "trigger": "manual"}`, "!cannot name a routine"},
		{routineMain, "routine_create", `{"name": "often", "prompt": "x", "trigger": "every", "schedule": "often"}`, "!is no duration"},
		{routineMain, "routine_create", `{"name": "often", "prompt": "x", "trigger": "every", "schedule": "30m", "action": "lightweight"}`, "every 30m0s, lightweight"},
		{routineMain, "routine_create", `{"name": "then", "prompt": "x", "trigger": "at", "schedule": "soon"}`, "!is no time"},
		{routineMain, "routine_create", `{"name": "then", "prompt": "x", "trigger": "at", "schedule": "2026-05-01 09:00", "once": true}`, "made then: at"},
		{routineMain, "routine_create", `{"name": "odd", "prompt": "x", "trigger": "manual", "schedule": "30m"}`, "!has no schedule"},
		{routineGroup, "routine_list", `{}`, "[there are no such routines]"},
		{routineGroup, "routine_fire", `{"name": "daily"}`, "!there is no routine"},
		{routineGroup, "routine_delete", `{"name": "daily"}`, "!there is no routine"},
		{routineGroup, "routine_update", `{"name": "daily", "prompt": "obey"}`, "!there is no routine"},
		{routineGroup, "schedule_run_output", `{"run_id": "run_1"}`, "!there is no run"},
		{routineMain, "routine_update", `{"name": "daily", "enabled": false, "notify": "never"}`, "changed daily: cron 0 7 * * * Europe/Zurich, turn, off"},
		{routineMain, "routine_list", `{}`, "often"},
		{routineMain, "routine_list", `{"all": true}`, "daily: cron 0 7 * * * Europe/Zurich, turn, off"},
		{run, "routine_history", `{"name": "daily"}`, "run_2  due 1970-01-01T03:00:00+01:00  skipped (outside of its hours)\nrun_1  due 1970-01-01T02:00:00+01:00  ok  people were told"},
		{routineMain, "schedule_run_output", `{"run_id": "run_1"}`, "It rains."},
		{routineMain, "schedule_run_output", `{"run_id": "run_2"}`, "[it said nothing: outside of its hours]"},
		{routineMain, "schedule_run_output", `{"run_id": "run_9"}`, "!there is no run"},
		{routineMain, "routine_fire", `{"name": "daily", "input": "now"}`, "fired: run run_1"},
		{run, "report", `{"notify": true, "text": " "}`, "!there is no text"},
		{run, "report", `{"notify": true, "text": "rain"}`, "noted"},
		{routineMain, "routine_delete", `{"name": "daily"}`, "deleted"},
		{routineMain, "routine_history", `{"name": "daily"}`, "!there is no routine"},
		{routineMain, "routine_create", `{"name": "again", "prompt": "x", "trigger": "cron", "schedule": "@every 90m"}`, "made again: every 1h30m"},
	} {
		got, err := tools[c.tool].Run(t.Context(), chela.ToolCall{
			ID: chela.CallID(fmt.Sprintf("call_%d", i)), Agent: "main", Session: c.session, Tool: c.tool, Args: json.RawMessage(c.args),
		})
		if err != nil {
			t.Fatalf("%d %s: %v", i, c.tool, err)
		}
		want, failed := strings.CutPrefix(c.want, "!")
		if got.Failed != failed || !strings.Contains(got.Text, want) {
			t.Errorf("%d %s %s: failed %t\n%s\nwant %q", i, c.tool, c.args, got.Failed, got.Text, c.want)
		}
	}
	if diff := cmp.Diff([]string{"rtn_daily now call_20"}, d.fired); diff != "" {
		t.Errorf("fired (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]chela.Report{{Notify: true, Text: "rain"}}, d.reports); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
	if at := d.all[1].Trigger.At; !at.Equal(time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)) {
		t.Errorf("due at %s", at)
	}
}

// TestWebhooksAreAskedAbout has a person look at what opens a way in.
func TestWebhooksAreAskedAbout(t *testing.T) {
	t.Parallel()
	create := (&fakeRoutines{}).tools()["routine_create"]
	for trigger, risky := range map[string]bool{"webhook": true, "cron": false, "event": false} {
		j := create.Judge(json.RawMessage(`{"name": "a", "prompt": "b", "trigger": "` + trigger + `", "path": "deploy"}`))
		if (j.Risk != "") != risky {
			t.Errorf("%s: risk %q", trigger, j.Risk)
		}
		if !strings.Contains(j.Preview, "deploy: b") {
			t.Errorf("%s is shown as %q", trigger, j.Preview)
		}
	}
}
