package app_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/cli"
)

// jobAtRest waits until a job has ended, or waits for a person.
func jobAtRest(t *testing.T, b *cli.Backend, id chela.JobID) api.Job {
	t.Helper()
	for {
		j, err := api.Call(t.Context(), b, api.JobsShow, api.JobRef{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		if !j.State.Live() && !j.AnnouncedAt.IsZero() || j.State == chela.JobAwaiting {
			return j
		}
		if err := settled(t.Context(), b, j); err != nil {
			t.Fatal(err)
		}
	}
}

// settled waits for what a job does now, as far as it can be followed.
func settled(ctx context.Context, b *cli.Backend, j api.Job) error {
	if j.Turn == "" {
		return ctx.Err()
	}
	_, err := b.Follow(ctx, j.Turn, func(chela.Event) {})
	return err
}

// anyJob is the id of a job.
var anyJob = regexp.MustCompile(`job_[0-9a-z]{20}`)

// jobLife has a job made, told, sent back, begun again and accepted, and returns
// what became of it on the way.
func jobLife(t *testing.T, b *cli.Backend, name string) (came []string) {
	t.Helper()
	ctx := t.Context()
	id := "JOB" // until it is known
	note := func(j chela.Job, err error) {
		said := fmt.Sprintf("%s %q %d", j.State, j.Result, j.Attempt)
		if err != nil {
			said = chela.MessageOf(err)
		}
		came = append(came, anyJob.ReplaceAllString(strings.ReplaceAll(said, id, "JOB"), "PART"))
	}
	q := api.NewJob{Text: "bake", Title: "bread", Key: name, Parts: []string{"flour", "water"}, Options: chela.JobOptions{Plan: true}}
	j, err := api.Call(ctx, b, api.JobsCreate, q)
	if err != nil {
		t.Fatal(err)
	}
	id = string(j.ID)
	again, err := api.Call(ctx, b, api.JobsCreate, q)
	if err != nil || again.ID != j.ID {
		t.Errorf("the same request made %s and %s: %v", j.ID, again.ID, err)
	}
	v := jobAtRest(t, b, j.ID)
	note(v.Job, nil)
	for _, p := range v.Parts {
		note(p, nil)
	}
	note(api.Call(ctx, b, api.JobsPrompt, api.JobMessage{JobRef: api.JobRef{ID: j.ID}, Message: api.JobText{Text: "too late"}}))
	for range 2 { // the second time it is known
		if _, err := api.Call(ctx, b, api.JobsModify, api.JobMessage{JobRef: api.JobRef{ID: j.ID}, Message: api.JobText{Text: "more salt", Key: "m"}}); err != nil {
			t.Error(err)
		}
		note(jobAtRest(t, b, j.ID).Job, nil)
	}
	if _, err := api.Call(ctx, b, api.JobsRestart, api.JobRestart{JobRef: api.JobRef{ID: j.ID}, Limits: api.RestartLimits{}}); err != nil {
		t.Error(err)
	}
	note(jobAtRest(t, b, j.ID).Job, nil)
	for _, move := range []api.Operation[api.JobRef, chela.Job]{api.JobsAccept, api.JobsAccept, api.JobsCancel} {
		note(api.Call(ctx, b, move, api.JobRef{ID: j.ID}))
	}
	note(api.Call(ctx, b, api.JobsRestart, api.JobRestart{JobRef: api.JobRef{ID: j.ID}, Limits: api.RestartLimits{Steps: 9}}))
	events, err := api.All(ctx, b, api.JobsEvents, api.JobEventsQuery{JobRef: api.JobRef{ID: j.ID}, After: 1})
	for _, e := range events {
		came = append(came, strings.Join([]string{string(e.Kind), string(e.From), string(e.To), e.By}, " "))
	}
	note(chela.Job{}, err)
	return came
}

// TestJobsThroughTheDaemonAreTheSame has a job live in a home that is open here, and
// another one behind a daemon.
func TestJobsThroughTheDaemonAreTheSame(t *testing.T) {
	t.Parallel()
	direct, through := bothWays(t)
	want, got := jobLife(t, direct, "one"), jobLife(t, through, "two")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the job (-direct +through)\n%s", diff)
	}
	if !strings.HasPrefix(want[0], `submitted "You said bake`) || !strings.Contains(want[0], "Part 2: water") {
		t.Errorf("the job became %s", want[0])
	}
}

// TestLooksAtJobsAreTheSame compares what both ways tell of a job that is there, and
// of what is not.
func TestLooksAtJobsAreTheSame(t *testing.T) {
	t.Parallel()
	cfg := newHome(t, twoWays)
	direct := openBackend(t, cfg)
	ctx := t.Context()
	j, err := api.Call(ctx, direct, api.JobsCreate, api.NewJob{Text: "bake"})
	if err != nil {
		t.Fatal(err)
	}
	jobAtRest(t, direct, j.ID)
	dir := cfg.Home.JobWorkspace("main", string(j.ID))
	if err := os.MkdirAll(filepath.Join(dir, "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"b.txt": "bread", "a/c.txt": "crumbs"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	serveHome(t, cfg)
	through := openBackend(t, cfg)
	looks := jobLooks(t, j.ID)
	for _, l := range looks {
		want, wantErr := l.at(direct)
		got, gotErr := l.at(through)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" && wantErr == nil {
			t.Errorf("%s (-direct +through)\n%s", l.name, diff)
		}
		same := chela.KindOf(wantErr) == chela.Invalid || wantErr == nil || chela.MessageOf(wantErr) == chela.MessageOf(gotErr)
		if chela.KindOf(wantErr) != chela.KindOf(gotErr) || !same { // the gateway has words of its own for invalid requests
			t.Errorf("%s: direct %v, through %v", l.name, wantErr, gotErr)
		}
		if fails := strings.HasPrefix(l.name, "no "); fails != (wantErr != nil) {
			t.Errorf("%s: %v, %v", l.name, want, wantErr)
		}
	}
}

// jobLooks are the reads of a job whose workspace has files and a link that leads
// out.
func jobLooks(t *testing.T, id chela.JobID) []look {
	ctx := t.Context()
	list := func(f api.JobFilter) func(*cli.Backend) (any, error) {
		return func(b *cli.Backend) (any, error) { return api.Call(ctx, b, api.JobsList, f) }
	}
	file := func(path string) func(*cli.Backend) (any, error) {
		return func(b *cli.Backend) (any, error) {
			content, err := api.Call(ctx, b, api.JobsFile, api.JobFileRef{JobRef: api.JobRef{ID: id}, Path: path})
			return string(content), err
		}
	}
	return []look{
		{"jobs", list(api.JobFilter{Limit: 5})},
		{"jobs that failed", list(api.JobFilter{Limit: 5, States: []chela.JobState{chela.JobFailed}})},
		{"subagents", list(api.JobFilter{Limit: 5, Kind: chela.JobSubagent})},
		{"no such state", list(api.JobFilter{Limit: 5, States: []chela.JobState{"done"}})},
		{"job", func(b *cli.Backend) (any, error) { return api.Call(ctx, b, api.JobsShow, api.JobRef{ID: id}) }},
		{"no job", func(b *cli.Backend) (any, error) {
			return api.Call(ctx, b, api.JobsShow, api.JobRef{ID: "job_x"})
		}},
		{"events", func(b *cli.Backend) (any, error) {
			return api.All(ctx, b, api.JobsEvents, api.JobEventsQuery{JobRef: api.JobRef{ID: id}, After: 1})
		}},
		{"no events", func(b *cli.Backend) (any, error) {
			return api.All(ctx, b, api.JobsEvents, api.JobEventsQuery{JobRef: api.JobRef{ID: "job_x"}, After: 0})
		}},
		{"files", func(b *cli.Backend) (any, error) {
			return api.All(ctx, b, api.JobsFiles, api.JobFilesQuery{JobRef: api.JobRef{ID: id}})
		}},
		{"no files", func(b *cli.Backend) (any, error) {
			return api.All(ctx, b, api.JobsFiles, api.JobFilesQuery{JobRef: api.JobRef{ID: "job_x"}})
		}},
		{"file", file("a/c.txt")},
		{"no file", file("x.txt")},
		{"no folder", file("a")},
		{"no way up", file("../../../chela.db")},
		{"no way through a link", file("out")},
		{"no job cancelled", func(b *cli.Backend) (any, error) {
			return api.Call(ctx, b, api.JobsCancel, api.JobRef{ID: "job_x"})
		}},
		{"no job without a text", func(b *cli.Backend) (any, error) {
			return api.Call(ctx, b, api.JobsCreate, api.NewJob{Text: " "})
		}},
		{"no job of nobody", func(b *cli.Backend) (any, error) {
			return api.Call(ctx, b, api.JobsCreate, api.NewJob{Text: "x", Agent: "nobody"})
		}},
		{"no job with a model that is not there", func(b *cli.Backend) (any, error) {
			return api.Call(ctx, b, api.JobsCreate, api.NewJob{Text: "x", Options: chela.JobOptions{Model: "nobody/x"}})
		}},
		{"no job for a session that is none", func(b *cli.Backend) (any, error) {
			return api.Call(ctx, b, api.JobsCreate, api.NewJob{Text: "x", Session: "me"})
		}},
		{"no job that takes ever so long", func(b *cli.Backend) (any, error) {
			return api.Call(ctx, b, api.JobsCreate, api.NewJob{Text: "x", Options: chela.JobOptions{Steps: 5000}})
		}},
		{"no job that thinks loudly", func(b *cli.Backend) (any, error) {
			return api.Call(ctx, b, api.JobsCreate, api.NewJob{Text: "x", Options: chela.JobOptions{Thinking: "loud"}})
		}},
	}
}
