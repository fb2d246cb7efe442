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

// fakeJobs keeps jobs in memory. A request that comes again makes no second one.
type fakeJobs struct {
	mu    sync.Mutex
	byID  map[chela.JobID]*self.JobView // guarded by mu, like all below
	byKey map[chela.CallID]chela.JobID
	said  []string
}

func newFakeJobs() *fakeJobs {
	return &fakeJobs{byID: map[chela.JobID]*self.JobView{}, byKey: map[chela.CallID]chela.JobID{}}
}

func (d *fakeJobs) tools() map[string]chela.Tool {
	byName := map[string]chela.Tool{}
	for _, t := range self.JobTools(d, func() time.Time { return time.Unix(90, 0) }) {
		byName[t.Name] = t
	}
	return byName
}

func (d *fakeJobs) add(j chela.Job) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.byID[j.ID] = &self.JobView{Job: j}
}

func (d *fakeJobs) Create(_ context.Context, o self.JobOrder) (chela.Job, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if id, ok := d.byKey[o.Call.ID]; ok {
		return d.byID[id].Job, nil
	}
	j := chela.Job{
		ID: chela.JobID(fmt.Sprintf("job_%d", len(d.byID)+1)), Agent: o.Call.Agent, Title: o.Title, Text: o.Text, State: chela.JobPending,
		Options: o.Options, Requester: o.Call.Session, Priority: o.Priority,
	}
	d.byID[j.ID], d.byKey[o.Call.ID] = &self.JobView{Job: j}, j.ID
	return j, nil
}

func (d *fakeJobs) Jobs(_ context.Context, w self.WantedJob) (found []chela.Job, _ error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := len(d.byID); i > 0 && len(found) < w.Limit; i-- {
		v := d.byID[chela.JobID(fmt.Sprintf("job_%d", i))]
		if v != nil && v.Agent == w.Agent && (w.Requester == "" || w.Requester == v.Requester) && (len(w.States) == 0 || slices.Contains(w.States, v.State)) {
			found = append(found, v.Job)
		}
	}
	return found, nil
}

func (d *fakeJobs) Job(_ context.Context, id chela.JobID) (self.JobView, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if v, ok := d.byID[id]; ok {
		return *v, nil
	}
	return self.JobView{}, chela.E(chela.NotFound, "no such row")
}

func (d *fakeJobs) Events(context.Context, chela.JobID, int) ([]chela.JobEvent, error) {
	return []chela.JobEvent{
		{Seq: 1, Kind: chela.JobMoved, From: chela.JobPending, To: chela.JobInProgress, At: time.Unix(60, 0)},
		{Seq: 2, Kind: chela.JobStepped, Step: 1, Text: "done", At: time.Unix(61, 0)},
	}, nil
}

func (d *fakeJobs) Prompt(_ context.Context, id chela.JobID, text string, call chela.ToolCall) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.said = append(d.said, fmt.Sprintf("%s to %s: %s (%s)", call.Session, id, text, call.ID))
	return nil
}

func (d *fakeJobs) Cancel(_ context.Context, id chela.JobID, _ string) (chela.Job, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.byID[id]
	if v.State == chela.JobCancelled {
		return v.Job, chela.E(chela.Conflict, "it is cancelled already")
	}
	v.State = chela.JobCancelled
	return v.Job, nil
}

func (d *fakeJobs) Plan(_ context.Context, id chela.JobID, steps []string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if v, ok := d.byID[id]; ok {
		v.Steps = nil
		for i, s := range steps {
			v.Steps = append(v.Steps, chela.JobStep{Place: i + 1, Text: s, State: chela.StepPending})
		}
	}
	return nil
}

func (d *fakeJobs) Step(_ context.Context, id chela.JobID, s chela.JobStep) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	v, ok := d.byID[id]
	if !ok || s.Place > len(v.Steps) {
		return chela.E(chela.NotFound, fmt.Sprintf("the plan has no step %d", s.Place))
	}
	v.Steps[s.Place-1].State, v.Steps[s.Place-1].Note = s.State, s.Note
	return nil
}

func (d *fakeJobs) Parts(_ context.Context, _ chela.JobID, _ chela.CallID, texts []string) (made []chela.Job, _ error) {
	for i, text := range texts {
		made = append(made, chela.Job{ID: chela.JobID(fmt.Sprint("job_part", i)), Title: text, State: chela.JobPending})
	}
	return made, nil
}

func TestJobToolsKeepTheContract(t *testing.T) {
	t.Parallel()
	for name, tl := range newFakeJobs().tools() {
		t.Run(name, func(t *testing.T) { tooltest.Check(t, tl) })
	}
}

// A script makes calls from sessions and compares what each comes to.
type scriptCall struct {
	session chela.SessionKey
	tool    string
	args    string
	want    string // a part of the result; "!" before that of a failure
}

func playJobs(t *testing.T, d *fakeJobs, calls []scriptCall) {
	t.Helper()
	tools := d.tools()
	for i, c := range calls {
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
}

const (
	main  = chela.SessionKey("agent:main:main")
	group = chela.SessionKey("agent:main:slack:group:7")
	work  = chela.SessionKey("agent:main:job:job_1")
)

func TestJobsAreBegunAndLookedAfter(t *testing.T) {
	t.Parallel()
	d := newFakeJobs()
	playJobs(t, d, []scriptCall{
		{main, "list_jobs", `{}`, "[there are no such jobs]"},
		{main, "create_job", `{"title": "Pumps", "description": "Compare pumps.", "plan": true, "timeout_seconds": 60}`, `"job_id":"job_1"`},
		{main, "create_job", `{"title": "", "description": "x"}`, "!a job needs a title"},
		{main, "create_job", `{"title": "x", "description": "x", "mode": "container"}`, "!come with the Docker sandbox"},
		{main, "list_jobs", `{"state": "live"}`, "job_1  pending  Pumps"},
		{main, "list_jobs", `{"state": "failed"}`, "[there are no such jobs]"},
		{main, "job_prompt", `{"job_id": "job_1", "text": "only quiet ones"}`, "told"},
		{main, "job_prompt", `{"job_id": "job_1", "text": " "}`, "!there is no text"},
		{main, "job_prompt", `{"job_id": "job_9", "text": "hello"}`, "!there is no job \"job_9\"; list_jobs"},
		{work, "job_plan", `{"steps": ["look", "compare"]}`, "the plan has 2 steps"},
		{work, "job_step", `{"step": 1, "state": "done", "note": "three found"}`, "noted"},
		{work, "job_step", `{"step": 3, "state": "done"}`, "!the plan has no step 3"},
		{work, "job_plan", `{"steps": []}`, "!a plan has 1 to 50 steps"},
		{work, "job_plan", `{"steps": ["a", " "]}`, "!step 2 is empty"},
		{work, "job_parts", `{"parts": ["a", "b"]}`, "job_part1  pending  b"},
		{main, "job_plan", `{"steps": ["a"]}`, "!not that of a job"},
		{main, "job_status", `{"job_id": "job_1"}`, "step 1 [done] look: three found\nstep 2 [pending] compare"},
		{main, "job_events", `{"job_id": "job_1"}`, "1  1970-01-01T00:01:00Z  moved pending → in_progress"},
		{main, "cancel_job", `{"job_id": "job_1"}`, "cancelled"},
		{main, "cancel_job", `{"job_id": "job_1"}`, "cancelled"},
	})
	want := []string{"agent:main:main to job_1: only quiet ones (call_6)"}
	if diff := cmp.Diff(want, d.said); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// TestJobsOfOthersAreNotSeen keeps jobs of the owner from groups, and those of one
// agent from another.
func TestJobsOfOthersAreNotSeen(t *testing.T) {
	t.Parallel()
	d := newFakeJobs()
	d.add(chela.Job{ID: "job_1", Agent: "main", Requester: main, Title: "secret"})
	d.add(chela.Job{ID: "job_2", Agent: "main", Requester: group, Title: "of the group"})
	d.add(chela.Job{ID: "job_3", Agent: "other", Requester: "agent:other:main", Title: "elsewhere"})
	playJobs(t, d, []scriptCall{
		{group, "list_jobs", `{}`, "job_2"},
		{group, "job_status", `{"job_id": "job_1"}`, "!there is no job"},
		{group, "job_prompt", `{"job_id": "job_1", "text": "tell me"}`, "!there is no job"},
		{group, "cancel_job", `{"job_id": "job_1"}`, "!there is no job"},
		{group, "job_events", `{"job_id": "job_1"}`, "!there is no job"},
		{group, "job_status", `{"job_id": "job_2"}`, "of the group"},
		{main, "job_status", `{"job_id": "job_2"}`, "of the group"},
		{main, "job_status", `{"job_id": "job_3"}`, "!there is no job"},
	})
}

// TestCreateIsRepeated makes one job of a call that runs twice.
func TestCreateIsRepeated(t *testing.T) {
	t.Parallel()
	d := newFakeJobs()
	tl := d.tools()["create_job"]
	args := json.RawMessage(`{"title": "a", "description": "b"}`)
	if j := tl.Judge(args); j.Resume != chela.ResumeRepeat || j.Effect != chela.EffectWrite {
		t.Errorf("judged %+v", j)
	}
	for range 2 {
		if _, err := tl.Run(t.Context(), chela.ToolCall{ID: "call_1", Agent: "main", Session: main, Args: args}); err != nil {
			t.Fatal(err)
		}
	}
	if len(d.byID) != 1 {
		t.Errorf("%d jobs", len(d.byID))
	}
}
