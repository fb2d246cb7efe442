package client

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"chela"
	"chela/internal/api"
)

// Jobs are the jobs of a home.
type Jobs struct{ client *Client }

// Jobs returns the jobs of the home.
func (c *Client) Jobs() Jobs { return Jobs{c} }

// Create takes a job in; it begins by itself.
func (j Jobs) Create(ctx context.Context, q api.NewJob) (chela.Job, error) {
	q.Key = cmp.Or(q.Key, string(j.client.ids.Request())) // so that it can be sent again
	r := request{method: http.MethodPost, path: []string{"api", "jobs"}, body: q, limit: answerTime}
	return answered[chela.Job](ctx, j.client, r)
}

// List returns the jobs that pass a filter, the newest first.
func (j Jobs) List(ctx context.Context, f api.JobFilter) ([]chela.Job, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	query := url.Values{"limit": {strconv.Itoa(f.Limit)}}
	states := make([]string, len(f.States))
	for i, s := range f.States {
		states[i] = string(s)
	}
	for name, value := range map[string]string{
		"state": strings.Join(states, ","), "kind": string(f.Kind), "requester": string(f.Requester), "after": string(f.Before),
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	page, err := answered[api.Page[chela.Job]](ctx, j.client, request{path: []string{"api", "jobs"}, query: query, limit: answerTime})
	return page.Items, err
}

// Job returns a job with what belongs to it.
func (j Jobs) Job(ctx context.Context, id chela.JobID) (api.Job, error) {
	return get[api.Job](ctx, j.client, "api", "jobs", string(id))
}

// Events returns what happened to a job after the event of a number, in order.
func (j Jobs) Events(ctx context.Context, id chela.JobID, after int) ([]chela.JobEvent, error) {
	return list[chela.JobEvent](ctx, j.client, url.Values{"after": {strconv.Itoa(after)}}, "api", "jobs", string(id), "events")
}

// Cancel cancels a job with its parts and subagents.
func (j Jobs) Cancel(ctx context.Context, id chela.JobID) (chela.Job, error) {
	return j.post(ctx, id, "cancel", nil)
}

// Restart begins a job that ended anew, with the limits that are given.
func (j Jobs) Restart(ctx context.Context, id chela.JobID, q api.JobAgain) (chela.Job, error) {
	return j.post(ctx, id, "restart", q)
}

// Accept says that the result of a job is good.
func (j Jobs) Accept(ctx context.Context, id chela.JobID) (chela.Job, error) {
	return j.post(ctx, id, "accept", nil)
}

// Prompt says something to a job.
func (j Jobs) Prompt(ctx context.Context, id chela.JobID, q api.JobText) (chela.Job, error) {
	return j.post(ctx, id, "prompt", q)
}

// Modify sends a job that ended back with what to change.
func (j Jobs) Modify(ctx context.Context, id chela.JobID, q api.JobText) (chela.Job, error) {
	return j.post(ctx, id, "modify", q)
}

func (j Jobs) post(ctx context.Context, id chela.JobID, what string, body any) (chela.Job, error) {
	r := request{method: http.MethodPost, path: []string{"api", "jobs", string(id), what}, body: body, limit: answerTime}
	return answered[chela.Job](ctx, j.client, r)
}

// Files returns the files in the workspace of a job, sorted by path.
func (j Jobs) Files(ctx context.Context, id chela.JobID) ([]api.JobFile, error) {
	return list[api.JobFile](ctx, j.client, url.Values{}, "api", "jobs", string(id), "files")
}

// File returns the content of a file in the workspace of a job.
func (j Jobs) File(ctx context.Context, id chela.JobID, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	r := request{path: []string{"api", "jobs", string(id), "files", "content"}, query: url.Values{"path": {path}}}
	res, err := send(ctx, j.client.plain, r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() // it is only read
	content, err := io.ReadAll(io.LimitReader(res.Body, api.MaxJobFile+1))
	switch {
	case err != nil:
		return nil, noAnswer(err)
	case len(content) > api.MaxJobFile:
		return nil, misunderstood(fmt.Errorf("a file has more than %d bytes", api.MaxJobFile))
	}
	return content, nil
}
