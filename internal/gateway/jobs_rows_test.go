package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/gateway/jobs"
)

// A board has three jobs, the newest of which is job_3. What is asked of one shows
// in its reason.
type board struct{}

func (b board) home() jobs.Home {
	move := func(name string) func(context.Context, chela.JobID, string) (chela.Job, error) {
		return func(ctx context.Context, id chela.JobID, by string) (chela.Job, error) {
			j, err := b.job(ctx, id)
			j.Reason = name + " by " + by
			return j.Job, err
		}
	}
	say := func(name string) func(context.Context, chela.JobID, api.JobText, string) (chela.Job, error) {
		return func(ctx context.Context, id chela.JobID, q api.JobText, by string) (chela.Job, error) {
			return move(name+" "+q.Text+" "+q.Key)(ctx, id, by)
		}
	}
	return jobs.Home{
		Create: b.create, Jobs: b.jobs, Job: b.job, Events: b.events, Cancel: move("cancel"), Restart: func(ctx context.Context, id chela.JobID, q api.JobAgain, by string) (chela.Job, error) {
			return move(fmt.Sprintf("restart with %d steps", q.Steps))(ctx, id, by)
		},
		Accept: move("accept"),
		Prompt: say("prompt"), Modify: say("modify"), Files: b.files, File: b.file,
	}
}

func (board) create(_ context.Context, q api.NewJob, origin chela.Origin, by string) (chela.Job, error) {
	j := chela.Job{ID: "job_4", Kind: chela.JobPlain, State: chela.JobPending, Key: q.Key, Text: q.Text, Options: q.Options, Agent: q.Agent, Requester: q.Session, Origin: origin, Reason: by}
	return j, nil
}

func (b board) jobs(ctx context.Context, f api.JobFilter) (found []chela.Job, _ error) {
	for _, id := range []chela.JobID{"job_3", "job_2", "job_1"} {
		if (f.Before == "" || id < f.Before) && len(found) < f.Limit {
			j, _ := b.job(ctx, id)
			j.Requester = f.Requester
			if f.Kind != "" {
				j.Kind = f.Kind
			}
			if len(f.States) > 0 {
				j.State = f.States[len(f.States)-1]
			}
			found = append(found, j.Job)
		}
	}
	return found, nil
}

func (board) job(_ context.Context, id chela.JobID) (api.Job, error) {
	if !strings.HasPrefix(string(id), "job_") {
		return api.Job{}, chela.E(chela.NotFound, "there is no job "+string(id))
	}
	return api.Job{
		Job:   chela.Job{ID: id, Kind: chela.JobPlain, State: chela.JobInProgress, StartedAt: time.Unix(1, 0)},
		Steps: []chela.JobStep{{Place: 1, Text: "look", State: chela.StepDone, Note: "seen"}}, Parts: []chela.Job{{ID: "job_9", Kind: chela.JobPart, State: chela.JobPending}},
		Usage: chela.TokenUsage{Input: 1}, Cost: 2,
	}, nil
}

func (b board) events(ctx context.Context, id chela.JobID, after int) (found []chela.JobEvent, err error) {
	for seq := after + 1; seq <= 3; seq++ {
		found = append(found, chela.JobEvent{Job: id, Seq: seq, Kind: chela.JobMoved, To: chela.JobPending, By: "test", At: time.Unix(1, 0)})
	}
	_, err = b.job(ctx, id)
	return found, err
}

func (b board) files(ctx context.Context, id chela.JobID) ([]api.JobFile, error) {
	_, err := b.job(ctx, id)
	return []api.JobFile{{Path: "a.txt", Size: 2, ModifiedAt: time.Unix(1, 0)}, {Path: "b/c.txt"}, {Path: "d.txt"}}, err
}

func (b board) file(ctx context.Context, id chela.JobID, path string) ([]byte, error) {
	if path != "a.txt" {
		return nil, chela.E(chela.NotFound, "there is no file "+path)
	}
	_, err := b.job(ctx, id)
	return []byte("<b>hi</b>"), err
}

// TestJobsComeInPages goes through the lists of jobs, events and files.
func TestJobsComeInPages(t *testing.T) {
	t.Parallel()
	d := run(t)
	for _, tt := range []struct{ path, query, want string }{
		{"", "", "job_3 job_2 job_1"},
		{"", "?limit=2", "job_3 job_2 next job_2"},
		{"", "?limit=2&after=job_2", "job_1"},
		{"/job_1/events", "?limit=2", "1 2 next 2"},
		{"/job_1/events", "?limit=2&after=2", "3"},
		{"/job_1/events", "?after=3", ""},
		{"/job_1/files", "?limit=1", "a.txt next a.txt"},
		{"/job_1/files", "?after=a.txt", "b/c.txt d.txt"},
		{"/job_1/files", "?after=b", "b/c.txt d.txt"},
	} {
		a := d.do(t, call{path: "/api/jobs" + tt.path + tt.query, secret: readSecret})
		page := decoded[struct {
			Items []map[string]any
			Next  string
		}](t, a, http.StatusOK)
		var got []string
		for _, item := range page.Items {
			for _, name := range []string{"id", "path", "seq"} {
				if v, ok := item[name]; ok {
					raw, _ := json.Marshal(v)
					got = append(got, strings.Trim(string(raw), `"`))
				}
			}
		}
		if page.Next != "" {
			got = append(got, "next", page.Next)
		}
		if said := strings.Join(got, " "); said != tt.want || page.Items == nil {
			t.Errorf("%s%s: %q, want %q", tt.path, tt.query, said, tt.want)
		}
	}
}

// TestJobsAreFiltered has what was asked for come back in the jobs, and refuses what
// no job could be.
func TestJobsAreFiltered(t *testing.T) {
	t.Parallel()
	d := run(t)
	a := d.do(t, call{path: "/api/jobs?state=failed,completed&kind=subagent&requester=agent:main:main&limit=1", secret: readSecret})
	j := decoded[api.Page[chela.Job]](t, a, http.StatusOK).Items[0]
	if j.State != chela.JobCompleted || j.Kind != chela.JobSubagent || j.Requester != "agent:main:main" {
		t.Errorf("%+v", j)
	}
	for _, query := range []string{"state=done", "kind=task", "requester=me", "limit=0", "limit=501", "state=failed,"} {
		d.do(t, call{path: "/api/jobs?" + query, secret: readSecret}).refused(t, http.StatusBadRequest, chela.Invalid)
	}
	d.do(t, call{path: "/api/jobs/job_1/files/content", secret: readSecret}).refused(t, http.StatusBadRequest, chela.Invalid)
}

// TestJobsAreChangedInTheNameOfWhoeverAsks: what a token asks for has its name, and
// a key that no other token can take.
func TestJobsAreChangedInTheNameOfWhoeverAsks(t *testing.T) {
	t.Parallel()
	d := run(t)
	for _, tt := range []struct{ path, body, want string }{
		{"/job_1/cancel", "", "cancel by token chat (tok_chat)"},
		{"/job_1/restart", "", "restart with 0 steps by token chat (tok_chat)"},
		{"/job_1/restart", `{"steps":9}`, "restart with 9 steps by token chat (tok_chat)"},
		{"/job_1/prompt", `{"text":"hi","key":"k"}`, "prompt hi tok_chat k by token chat (tok_chat)"},
		{"/job_1/modify", `{"text":"more"}`, "modify more  by token chat (tok_chat)"},
	} {
		a := d.do(t, call{method: http.MethodPost, path: "/api/jobs" + tt.path, secret: chatSecret, body: tt.body})
		if j := decoded[chela.Job](t, a, http.StatusOK); j.Reason != tt.want {
			t.Errorf("%s: %q, want %q", tt.path, j.Reason, tt.want)
		}
	}
	a := d.do(t, call{path: "/api/jobs", secret: chatSecret, body: `{"text":"bake","key":"k","session":"agent:main:main"}`})
	j := decoded[chela.Job](t, a, http.StatusCreated)
	if j.Key != "tok_chat k" || j.Agent != "main" || j.Reason != "token chat (tok_chat)" || j.Origin.Channel != api.Channel || !j.Origin.Owner {
		t.Errorf("%+v", j)
	}
	a = d.do(t, call{path: "/api/jobs", socket: true, body: `{"text":"bake","key":"k"}`})
	if j := decoded[chela.Job](t, a, http.StatusCreated); j.Key != "k" || j.Reason != api.SocketAgent || j.Origin.Channel != api.SocketChannel {
		t.Errorf("through the socket: %+v", j)
	}
}

// TestFileOfAJobIsBytes: what a job wrote is never taken for a page.
func TestFileOfAJobIsBytes(t *testing.T) {
	t.Parallel()
	a := run(t).do(t, call{path: "/api/jobs/job_1/files/content?path=a.txt", secret: readSecret})
	if a.body != "<b>hi</b>" || a.header.Get("Content-Type") != api.Bytes || a.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s %v", a.body, a.header)
	}
}
