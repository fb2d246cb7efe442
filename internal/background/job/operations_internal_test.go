package job

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
	"chela/internal/tool/workspace"
)

// TestListsOfJobsPage: lists begin after the row of a cursor, and a cursor that is
// not there is NotFound.
func TestListsOfJobsPage(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	var ids []string // newest first
	for range 3 {
		b.now = b.now.Add(time.Second)
		ids = append([]string{string(b.pending(nil).ID)}, ids...)
	}
	last := chela.JobID(ids[2])
	for _, text := range []string{"a", "b"} {
		_, err := b.desk.Prompt(t.Context(), last, Message{Text: text, By: "me"})
		b.must(err)
	}
	for _, c := range []struct {
		before      string
		after       int
		limit       int
		jobs        []string
		events      []int
		jobs2, evs2 string // cursors
		kind        chela.Kind
	}{
		{"", 0, 0, ids, []int{1, 2, 3}, "", "", ""},
		{"", 0, 2, ids[:2], []int{1, 2}, ids[1], "2", ""},
		{ids[0], 1, 1, ids[1:2], []int{2}, ids[1], "2", ""},
		{ids[1], 2, 5, ids[2:], []int{3}, "", "", ""},
		{ids[2], 3, 5, nil, nil, "", "", ""},
		{"job_nothing", 4, 5, nil, nil, "", "", chela.NotFound},
	} {
		jobs, err := b.desk.list(t.Context(), api.Caller{}, api.JobFilter{Before: chela.JobID(c.before), Limit: c.limit})
		var found []string
		for _, j := range jobs.Items {
			found = append(found, string(j.ID))
		}
		if diff := cmp.Diff(c.jobs, found); diff != "" || jobs.Next != c.jobs2 || chela.KindOf(err) != c.kind {
			t.Errorf("jobs before %q: next %q, %v (-want +got):\n%s", c.before, jobs.Next, err, diff)
		}
		events, err := b.desk.events(t.Context(), api.Caller{}, api.JobEventsQuery{JobRef: api.JobRef{ID: last}, After: c.after, Limit: c.limit})
		var numbers []int
		for _, e := range events.Items {
			numbers = append(numbers, e.Seq)
		}
		if diff := cmp.Diff(c.events, numbers); diff != "" || events.Next != c.evs2 || chela.KindOf(err) != c.kind {
			t.Errorf("events after %d: next %q, %v (-want +got):\n%s", c.after, events.Next, err, diff)
		}
	}
	if _, err := b.desk.events(t.Context(), api.Caller{}, api.JobEventsQuery{JobRef: api.JobRef{ID: "job_nothing"}}); chela.KindOf(err) != chela.NotFound {
		t.Errorf("events of no job: %v", err)
	}
}

// TestRequestsForJobs: a request fills in the agent and its key, and is refused
// beyond the limits.
func TestRequestsForJobs(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	asked := ""
	b.desk.cfg.Usable = func(model string) error {
		asked = model
		return nil
	}
	c := api.Caller{By: "me", Key: "k", Origin: chela.Origin{Channel: "api"}}
	j, err := b.desk.create(t.Context(), c, api.NewJob{Text: "dig", Session: "agent:main:main", Options: chela.JobOptions{Steps: 1000, Tokens: 1_000_000_000}})
	b.must(err)
	if j.Agent != chela.MainAgent || j.Key != "k" || j.Requester != "agent:main:main" || j.Origin.Channel != "api" || asked != "" {
		t.Errorf("job %+v, model %q", j, asked)
	}
	shown, err := api.Call(t.Context(), api.Local{Operations: b.desk.Operations(), Caller: c}, api.JobsShow, api.JobRef{ID: j.ID})
	if err != nil || shown.ID != j.ID {
		t.Errorf("shown %+v, %v", shown, err)
	}
	c.Key = ""
	if _, err := b.desk.create(t.Context(), c, api.NewJob{Text: "dig", Agent: "other", Options: chela.JobOptions{Model: "m"}}); err != nil || asked != "m" {
		t.Errorf("a job with a model: %v, model %q", err, asked)
	}
	for name, q := range map[string]api.NewJob{
		"session":  {Session: "nobody"},
		"steps":    {Options: chela.JobOptions{Steps: 1001}},
		"less":     {Options: chela.JobOptions{Steps: -1}},
		"timeout":  {Options: chela.JobOptions{Timeout: chela.Span(maxTimeout + 1)}},
		"tokens":   {Options: chela.JobOptions{Tokens: 1_000_000_001}},
		"thinking": {Options: chela.JobOptions{Thinking: "much"}},
		"cleanup":  {Options: chela.JobOptions{Cleanup: "burn"}},
		"priority": {Priority: 1001},
	} {
		q.Text = "dig"
		if _, err := b.desk.create(t.Context(), c, q); chela.KindOf(err) != chela.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRestartBeyondTheLimits: a restart is refused beyond the limits of a request,
// and takes what is within them.
func TestRestartBeyondTheLimits(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	j := b.pending(nil)
	b.set(j.ID, func(j *chela.Job) { j.State, j.Repairs = chela.JobFailed, 2 })
	home := api.Local{Operations: b.desk.Operations()}
	restart := func(q api.JobRestart) (chela.Job, error) { return api.Call(t.Context(), home, api.JobsRestart, q) }
	q := api.JobRestart{JobRef: api.JobRef{ID: j.ID}}
	q.Limits.Steps = 1001
	if _, err := restart(q); chela.KindOf(err) != chela.Invalid {
		t.Errorf("too many steps: %v", err)
	}
	q.Limits.Steps = 1000
	if got, err := restart(q); err != nil || got.State != chela.JobPending || got.Options.Steps != 1000 || got.Repairs != 0 {
		t.Errorf("restarted: %+v, %v", got, err)
	}
}

// TestPartsToTell: only parts are told of that have ended and were not told of, in
// the order of their places.
func TestPartsToTell(t *testing.T) {
	t.Parallel()
	job := func(id chela.JobID, kind chela.JobKind, state chela.JobState, place int) chela.Job {
		return chela.Job{ID: id, Kind: kind, State: state, Place: place}
	}
	told := job("told", chela.JobPart, chela.JobCompleted, 0)
	told.AnnouncedAt = time.Unix(1, 0)
	s := Situation{Asked: []chela.Job{
		job("third", chela.JobPart, chela.JobFailed, 3), job("live", chela.JobPart, chela.JobInProgress, 2), told,
		job("subagent", chela.JobSubagent, chela.JobCompleted, 0), job("first", chela.JobPart, chela.JobCompleted, 1),
	}}
	var ids []chela.JobID
	for _, p := range s.parts() {
		ids = append(ids, p.ID)
	}
	if diff := cmp.Diff([]chela.JobID{"first", "third"}, ids); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFilesOfJobs: the regular files of a job's workspace are listed by path, and
// read by a path within it.
func TestFilesOfJobs(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	dir := t.TempDir()
	b.desk.cfg.Workspace = workspace.At(dir)
	j := b.underWay(nil)
	for name, text := range map[string]string{"b.txt": "two", "a/x.txt": "one"} {
		b.must(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		b.must(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	b.must(os.Symlink("b.txt", filepath.Join(dir, "c.txt")))
	found, err := b.desk.Files(t.Context(), j.ID)
	b.must(err)
	if len(found) != 2 || found[0].Path != "a/x.txt" || found[1].Path != "b.txt" || found[1].Size != 3 || found[1].ModifiedAt.IsZero() {
		t.Errorf("files %+v", found)
	}
	if text, err := b.desk.File(t.Context(), j.ID, "a/x.txt"); err != nil || string(text) != "one" {
		t.Errorf("content %q, %v", text, err)
	}
	subagent := b.underWay(func(o *CreateRequest) { o.Kind = chela.JobSubagent })
	for _, c := range []struct {
		id   chela.JobID
		path string
		want chela.Kind
	}{
		{j.ID, "d.txt", chela.NotFound},
		{j.ID, "../x", chela.Denied},
		{"job_nothing", "b.txt", chela.NotFound},
		{subagent.ID, "b.txt", chela.Unsupported},
	} {
		if _, err := b.desk.File(t.Context(), c.id, c.path); chela.KindOf(err) != c.want {
			t.Errorf("%s of %s: %v, want kind %s", c.path, c.id, err, c.want)
		}
	}
	if _, err := b.desk.Files(t.Context(), subagent.ID); chela.KindOf(err) != chela.Unsupported {
		t.Errorf("files of a subagent: %v", err)
	}
}

// TestJobsOfOthersAreNotSeen keeps jobs of the owner from groups, and those of one
// agent from another.
func TestJobsOfOthersAreNotSeen(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	const private, group, other = chela.SessionKey("agent:main:main"), chela.SessionKey("agent:main:slack:group:7"), chela.SessionKey("agent:other:main")
	made := map[string]chela.Job{}
	for name, q := range map[string]api.NewJob{
		"private": {Session: private}, "group": {Session: group}, "other": {Agent: "other", Session: other},
	} {
		q.Text = name
		j, err := b.desk.create(t.Context(), api.Caller{By: "me"}, q)
		b.must(err)
		made[name] = j
	}
	for _, tt := range []struct {
		who  api.Caller
		want string
	}{
		{api.Caller{}, "group other private"},
		{api.Caller{Session: private}, "group other private"},
		{api.Caller{Session: group}, "group"},
		{api.Caller{Session: private, Agent: "main"}, "group private"},
		{api.Caller{Session: group, Agent: "main"}, "group"},
		{api.Caller{Session: other, Agent: "other"}, "other"},
		{api.Caller{Session: "agent:main:dm:ada", Agent: "main"}, ""},
		{api.Caller{Session: made["other"].Session, Agent: "other"}, "other"},
		{api.Caller{Session: "nonsense"}, ""},
	} {
		home := api.Local{Operations: b.desk.Operations(), Caller: tt.who}
		var shown, listed []string
		for name, j := range made {
			ref := api.JobRef{ID: j.ID}
			_, err := api.Call(t.Context(), home, api.JobsShow, ref)
			if err == nil {
				shown = append(shown, name)
			}
			_, cannot := api.Call(t.Context(), home, api.JobsEvents, api.JobEventsQuery{JobRef: ref})
			_, neither := api.Call(t.Context(), home, api.JobsPrompt, api.JobMessage{JobRef: ref, Message: api.JobText{Text: "x"}})
			if chela.KindOf(err) != chela.KindOf(cannot) || chela.KindOf(err) != chela.KindOf(neither) || err != nil && chela.KindOf(err) != chela.NotFound {
				t.Errorf("%+v: %s: %v, %v, %v", tt.who, name, err, cannot, neither)
			}
		}
		page, err := api.Call(t.Context(), home, api.JobsList, api.JobFilter{})
		b.must(err)
		for _, j := range page.Items {
			listed = append(listed, j.Text)
		}
		slices.Sort(shown)
		slices.Sort(listed)
		if got := strings.Join(shown, " "); got != tt.want {
			t.Errorf("%+v is shown %q, want %q", tt.who, got, tt.want)
		}
		if got := strings.Join(listed, " "); got != tt.want && tt.who.Session != made["other"].Session {
			t.Errorf("%+v is listed %q, want %q", tt.who, got, tt.want)
		}
	}
}
