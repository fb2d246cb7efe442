// Package routines holds the routes of routines, of their runs, and of the webhooks
// that make them fire.
package routines

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/gateway/edge"
)

// A Home is what is served; see [routine.Desk]. A routine is named by its name or
// its id.
type Home struct {
	Routines func(ctx context.Context) ([]chela.Routine, error) // in the order of their names
	Routine  func(ctx context.Context, name string) (chela.Routine, error)
	Create   func(ctx context.Context, v chela.Routine, by string) (chela.Routine, error)
	Change   func(ctx context.Context, name string, c api.RoutineChange, by string) (chela.Routine, error)
	Delete   func(ctx context.Context, name, by string) error
	Fire     func(ctx context.Context, name string, f api.Firing, by string) (chela.RunID, error)

	// Runs returns up to limit runs that were made before one of them, the newest
	// first.
	Runs func(ctx context.Context, name string, before chela.RunID, limit int) ([]chela.RoutineRun, error)
	Run  func(ctx context.Context, id chela.RunID) (chela.RoutineRun, error)

	// Ended waits until a run has ended, or ctx has; with what it was seen to wait for,
	// also no longer than until that is something else.
	Ended func(ctx context.Context, id chela.RunID, seen *string) (chela.RoutineRun, error)

	Next func(ctx context.Context, limit int) ([]api.Due, error)

	// Hook lets the routine of a webhook fire. Whoever must not let it is Denied,
	// also where there is none, and learns no more than that.
	Hook func(ctx context.Context, path string, header http.Header, body []byte) (api.Hooked, error)
}

const (
	maxWait = 120_000 // milliseconds
	maxNext = 500
)

// Routes returns the routes of a home. Requests to webhooks have limits of their own.
func Routes(h Home, l Limits) []edge.Route {
	id := "/api/routines/{id}"
	return []edge.Route{
		row(api.Route{
			Method: http.MethodGet, Path: "/api/routines", Scope: chela.ScopeRead, Summary: "List routines in the order of their names",
			Answer: api.Page[chela.Routine]{},
		}, h.list),
		row(api.Route{
			Method: http.MethodPost, Path: "/api/routines", Scope: chela.ScopeChat, Summary: "Make a routine",
			Body: api.NewRoutine{}, Answer: chela.Routine{}, Status: http.StatusCreated,
		}, h.create),
		row(api.Route{
			Method: http.MethodGet, Path: "/api/routines/next", Scope: chela.ScopeRead, Summary: "List the next times at which routines are due",
			Query: []api.Parameter{{Name: "limit", Summary: "how many; 20 without it, at most 500", Sample: 0}}, Answer: api.Page[api.Due]{},
		}, h.next),
		row(api.Route{
			Method: http.MethodGet, Path: id, Scope: chela.ScopeRead, Summary: "Show the routine of a name or id", Answer: chela.Routine{},
		}, h.show),
		row(api.Route{
			Method: http.MethodPatch, Path: id, Scope: chela.ScopeChat, Summary: "Change a routine", Body: api.RoutineChange{}, Answer: chela.Routine{},
		}, h.change),
		row(api.Route{
			Method: http.MethodDelete, Path: id, Scope: chela.ScopeChat, Summary: "Delete a routine; its runs stay", Status: http.StatusNoContent,
		}, h.remove),
		row(api.Route{
			Method: http.MethodPost, Path: id + "/fire", Scope: chela.ScopeChat, Summary: "Let a routine fire now", Body: api.Firing{},
			Answer: api.Fired{}, Status: http.StatusAccepted,
		}, h.fire),
		row(api.Route{
			Method: http.MethodGet, Path: id + "/runs", Scope: chela.ScopeRead, Summary: "List the runs of a routine without their outputs, the newest first",
			Query: []api.Parameter{
				{Name: "after", Summary: "the id of the last run of the page before", Sample: ""},
				{Name: "limit", Summary: "rows of a page; 100 without it, at most 500", Sample: 0},
			},
			Answer: api.Page[chela.RoutineRun]{},
		}, h.runs),
		h.oneRun(),
		h.hookRoute(l),
	}
}

// row returns a route that answers with JSON, and if it takes anything takes JSON.
func row(r api.Route, serve func(*edge.Visit) error) edge.Route {
	if r.Answer != nil {
		r.AnswerType = api.JSON
	}
	if r.Body != nil {
		r.BodyType = api.JSON
	}
	if r.Status == 0 {
		r.Status = http.StatusOK
	}
	return edge.Route{Route: r, Limit: api.MaxBody, Serve: serve}
}

// oneRun is the route of a run. Whoever waits gets it as it is when the time is up.
func (h Home) oneRun() edge.Route {
	r := row(api.Route{
		Method: http.MethodGet, Path: "/api/runs/{id}", Scope: chela.ScopeRead, Summary: "Show a run of a routine with all that it said",
		Query: []api.Parameter{
			{Name: "wait_ms", Summary: "wait so long until it ended; at most 120000", Sample: 0},
			{Name: "waits", Summary: "what it was seen to wait for, which may be nothing: wait no longer than until that is something else", Sample: ""},
		},
		Answer: chela.RoutineRun{},
	}, h.run)
	r.Long = true
	return r
}

func nameOf(v *edge.Visit) string { return v.Request.PathValue("id") }

func (h Home) list(v *edge.Visit) error {
	all, err := h.Routines(v.Request.Context())
	if err != nil {
		return err
	}
	return v.OK(api.Page[chela.Routine]{Items: append([]chela.Routine{}, all...)})
}

func (h Home) create(v *edge.Visit) error {
	var n api.NewRoutine
	if err := v.Decode(&n); err != nil {
		return err
	}
	made, err := h.Create(v.Request.Context(), n.Routine(v.Origin()), v.Who())
	if err != nil {
		return err
	}
	return v.Answer(http.StatusCreated, made)
}

func (h Home) next(v *edge.Visit) error {
	limit, err := v.Number("limit", 20, maxNext)
	if err != nil {
		return err
	}
	due, err := h.Next(v.Request.Context(), int(limit))
	if err != nil {
		return err
	}
	return v.OK(api.Page[api.Due]{Items: append([]api.Due{}, due...)})
}

func (h Home) show(v *edge.Visit) error {
	r, err := h.Routine(v.Request.Context(), nameOf(v))
	if err != nil {
		return err
	}
	return v.OK(r)
}

func (h Home) change(v *edge.Visit) error {
	var c api.RoutineChange
	if err := v.Decode(&c); err != nil {
		return err
	}
	r, err := h.Change(v.Request.Context(), nameOf(v), c, v.Who())
	if err != nil {
		return err
	}
	return v.OK(r)
}

func (h Home) remove(v *edge.Visit) error {
	if err := h.Delete(v.Request.Context(), nameOf(v), v.Who()); err != nil {
		return err
	}
	return v.Nothing()
}

// fire lets a routine fire. The same key of two tokens names two wishes; one that
// comes through the socket is that of the owner, with or without a daemon.
func (h Home) fire(v *edge.Visit) error {
	var f api.Firing
	if err := v.Decode(&f); err != nil {
		return err
	}
	if f.Key != "" && !v.Owner {
		f.Key = string(v.By.Token.ID) + " " + f.Key
	}
	run, err := h.Fire(v.Request.Context(), nameOf(v), f, v.Who())
	if err != nil {
		return err
	}
	return v.Answer(http.StatusAccepted, api.Fired{Run: run})
}

func (h Home) runs(v *edge.Visit) error {
	limit, err := v.Number("limit", 100, api.MaxPage)
	if err == nil && limit == 0 {
		err = chela.E(chela.Invalid, "parameter limit is 0, not a number from 1 to "+strconv.Itoa(api.MaxPage))
	}
	if err != nil {
		return err
	}
	runs, err := h.Runs(v.Request.Context(), nameOf(v), chela.RunID(v.Query.Get("after")), int(limit)+1)
	if err != nil {
		return err
	}
	page := api.Page[chela.RoutineRun]{Items: append([]chela.RoutineRun{}, runs...)}
	if len(runs) > int(limit) {
		page.Items = page.Items[:limit]
		page.Next = string(page.Items[limit-1].ID)
	}
	for i := range page.Items {
		page.Items[i].Output = ""
	}
	return v.OK(page)
}

// seen is what a run was seen to wait for, if that is told.
func seen(v *edge.Visit) *string {
	if !v.Query.Has("waits") {
		return nil
	}
	text := v.Query.Get("waits")
	return &text
}

func (h Home) run(v *edge.Visit) error {
	ms, err := v.Number("wait_ms", 0, maxWait)
	if err != nil {
		return err
	}
	ctx, id := v.Request.Context(), chela.RunID(nameOf(v))
	if ms > 0 {
		patient, cancel := context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond)
		_, err := h.Ended(patient, id, seen(v))
		cancel()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && !errors.Is(err, context.DeadlineExceeded):
			return err
		}
	}
	r, err := h.Run(ctx, id)
	if chela.KindOf(err) == chela.NotFound {
		err = chela.E(chela.NotFound, fmt.Sprintf("there is no run %.80q", id)).WithHint("GET /api/routines/{id}/runs lists those that are kept")
	}
	if err != nil {
		return err
	}
	return v.OK(r)
}
