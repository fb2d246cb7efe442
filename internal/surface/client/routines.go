package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"chela"
	"chela/internal/api"
)

// runTime is the timeout of waiting for a run in one request.
const runTime = 30 * time.Second

// Routines are the routines of a home. A routine is identified by its name or
// its id.
type Routines struct{ client *Client }

// Routines returns the routines of the home.
func (c *Client) Routines() Routines { return Routines{c} }

// All returns the routines, in the order of their names.
func (r Routines) All(ctx context.Context) ([]chela.Routine, error) {
	return list[chela.Routine](ctx, r.client, url.Values{}, "api", "routines")
}

// Named returns a routine.
func (r Routines) Named(ctx context.Context, name string) (chela.Routine, error) {
	return get[chela.Routine](ctx, r.client, "api", "routines", name)
}

// Create creates a routine in the name of this client's principal.
func (r Routines) Create(ctx context.Context, n api.NewRoutine) (chela.Routine, error) {
	q := request{method: http.MethodPost, path: []string{"api", "routines"}, body: n, limit: answerTime}
	return answered[chela.Routine](ctx, r.client, q)
}

// Change changes a routine.
func (r Routines) Change(ctx context.Context, name string, c api.RoutineChange) (chela.Routine, error) {
	q := request{method: http.MethodPatch, path: []string{"api", "routines", name}, body: c, limit: answerTime}
	return answered[chela.Routine](ctx, r.client, q)
}

// Delete deletes a routine.
func (r Routines) Delete(ctx context.Context, name string) error {
	return r.client.do(ctx, request{method: http.MethodDelete, path: []string{"api", "routines", name}, limit: answerTime}, nil)
}

// Fire fires a routine and returns the run.
func (r Routines) Fire(ctx context.Context, name string, f api.Firing) (chela.RunID, error) {
	q := request{method: http.MethodPost, path: []string{"api", "routines", name, "fire"}, body: f, limit: answerTime}
	fired, err := answered[api.Fired](ctx, r.client, q)
	return fired.Run, err
}

// Runs returns up to limit runs of a routine, the newest first, without their
// outputs.
func (r Routines) Runs(ctx context.Context, name string, limit int) ([]chela.RoutineRun, error) {
	var page api.Page[chela.RoutineRun]
	q := request{path: []string{"api", "routines", name, "runs"}, query: url.Values{"limit": {strconv.Itoa(limit)}}, limit: answerTime}
	err := r.client.do(ctx, q, &page)
	return page.Items, err
}

// Run returns a run with its output.
func (r Routines) Run(ctx context.Context, id chela.RunID) (chela.RoutineRun, error) {
	return get[chela.RoutineRun](ctx, r.client, "api", "runs", string(id))
}

// Ended waits until a run has ended; given the reason it was last seen waiting
// for, it also returns when that changes.
func (r Routines) Ended(ctx context.Context, id chela.RunID, seen *string) (run chela.RoutineRun, err error) {
	q := request{
		path: []string{"api", "runs", string(id)}, query: url.Values{"wait_ms": {strconv.FormatInt(runTime.Milliseconds(), 10)}},
		limit: runTime + answerTime,
	}
	if seen != nil {
		q.query.Set("waits", *seen)
	}
	for {
		run, err = answered[chela.RoutineRun](ctx, r.client, q)
		if err != nil || run.State.Ended() || seen != nil && run.Waits != *seen {
			return run, err
		}
	}
}

// Next returns the next times at which routines are due.
func (r Routines) Next(ctx context.Context, limit int) ([]api.Due, error) {
	var page api.Page[api.Due]
	q := request{path: []string{"api", "routines", "next"}, query: url.Values{"limit": {strconv.Itoa(limit)}}, limit: answerTime}
	err := r.client.do(ctx, q, &page)
	return page.Items, err
}
