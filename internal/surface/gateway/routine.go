package gateway

// This part of the package holds the routes of routines, of their runs, and of
// the webhooks that make them fire.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway/edge"
)

// RoutineAPI is the interface that the routes need; see [routine.Desk]. A routine is
// identified by its name or its id.
type RoutineAPI struct {
	Routines func(ctx context.Context) ([]chela.Routine, error) // ordered by name
	Routine  func(ctx context.Context, name string) (chela.Routine, error)
	Create   func(ctx context.Context, v chela.Routine, by string) (chela.Routine, error)
	Change   func(ctx context.Context, name string, c api.RoutineChange, by string) (chela.Routine, error)
	Delete   func(ctx context.Context, name, by string) error
	Fire     func(ctx context.Context, name string, f api.Firing, by string) (chela.RunID, error)

	// Runs returns up to limit runs created before a given run, newest first.
	Runs func(ctx context.Context, name string, before chela.RunID, limit int) ([]chela.RoutineRun, error)
	Run  func(ctx context.Context, id chela.RunID) (chela.RoutineRun, error)

	// Ended waits until a run has ended, or ctx has; given the reason it was
	// last seen waiting for, it also returns when that changes.
	Ended func(ctx context.Context, id chela.RunID, seen *string) (chela.RoutineRun, error)

	Next func(ctx context.Context, limit int) ([]api.Due, error)

	// Hook fires the routine of a webhook. A failed authentication is Denied,
	// and so is an unknown webhook, with the same error.
	Hook func(ctx context.Context, path string, header http.Header, body []byte) (api.Hooked, error)
}

// maxNext limits the number of upcoming due times.
const maxNext = 500

// routineRoutes returns the routes of a home. Requests to webhooks have limits of their own.
func routineRoutes(h RoutineAPI, l RoutineLimits) []edge.Route {
	id := "/api/routines/{id}"
	return []edge.Route{
		routineRow(api.Route{
			Method: http.MethodGet, Path: "/api/routines", Scope: chela.ScopeRead, Summary: "List routines in the order of their names",
			Query: []api.Parameter{api.After("the name of a routine", "is=name"), api.Limit()}, Answer: api.Page[chela.Routine]{},
		}, h.list),
		routineRow(api.Route{
			Method: http.MethodPost, Path: "/api/routines", Scope: chela.ScopeChat, Summary: "Make a routine",
			Body: api.NewRoutine{}, Answer: chela.Routine{}, Status: http.StatusCreated,
		}, h.create),
		routineRow(api.Route{
			Method: http.MethodGet, Path: "/api/routines/next", Scope: chela.ScopeRead, Summary: "List the next times at which routines are due",
			Query:  []api.Parameter{api.After("a time and the id of its routine", "is=ascii max=100"), api.Limit()},
			Answer: api.Page[api.Due]{},
		}, h.next),
		routineRow(api.Route{
			Method: http.MethodGet, Path: id, Scope: chela.ScopeRead, Summary: "Show the routine of a name or id", Answer: chela.Routine{},
		}, h.show),
		routineRow(api.Route{
			Method: http.MethodPatch, Path: id, Scope: chela.ScopeChat, Summary: "Change a routine", Body: api.RoutineChange{}, Answer: chela.Routine{},
		}, h.change),
		routineRow(api.Route{
			Method: http.MethodDelete, Path: id, Scope: chela.ScopeChat, Summary: "Delete a routine; its runs stay", Status: http.StatusNoContent,
		}, h.remove),
		h.fireRoute(id + "/fire"),
		routineRow(api.Route{
			Method: http.MethodGet, Path: id + "/runs", Scope: chela.ScopeRead, Summary: "List the runs of a routine without their outputs, the newest first",
			Query: []api.Parameter{
				api.After("the id of a run", "id=run"), api.Limit(),
			},
			Answer: api.Page[chela.RoutineRun]{},
		}, h.runs),
		h.oneRun(),
		h.hookRoute(l),
	}
}

// routineRow returns a route with a JSON response and, if it has input, a JSON body.
func routineRow(r api.Route, serve func(*edge.Visit) error) edge.Route {
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

// fireRoute is the route that fires a routine, once for each key.
func (h RoutineAPI) fireRoute(path string) edge.Route {
	r := routineRow(api.Route{
		Method: http.MethodPost, Path: path, Scope: chela.ScopeChat, Summary: "Let a routine fire now", Body: api.Firing{},
		Answer: api.Fired{}, Status: http.StatusAccepted,
	}, h.fire)
	r.Repeat = api.Joined
	return r
}

// oneRun is the route of a run. A waiting client gets its current state at the
// timeout.
func (h RoutineAPI) oneRun() edge.Route {
	r := routineRow(api.Route{
		Method: http.MethodGet, Path: "/api/runs/{id}", Scope: chela.ScopeRead, Summary: "Show a run of a routine with all that it said",
		Query: []api.Parameter{
			api.Wait("wait so long until it ended"),
			{Name: "waits", Summary: "what it was seen to wait for, which may be nothing: wait no longer than until that is something else"},
		},
		Answer: chela.RoutineRun{},
	}, h.run)
	r.Long = true
	return r
}

func routineName(v *edge.Visit) string { return v.Request.PathValue("id") }

func (h RoutineAPI) list(v *edge.Visit) error {
	all, err := h.Routines(v.Request.Context())
	return edge.List(v, all, err, func(r chela.Routine) string { return r.Name })
}

func (h RoutineAPI) create(v *edge.Visit) error {
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

func (h RoutineAPI) next(v *edge.Visit) error {
	due, err := h.Next(v.Request.Context(), maxNext)
	return edge.List(v, due, err, func(d api.Due) string { return d.At.UTC().Format(time.RFC3339Nano) + "/" + string(d.Routine) })
}

func (h RoutineAPI) show(v *edge.Visit) error {
	r, err := h.Routine(v.Request.Context(), routineName(v))
	if err != nil {
		return err
	}
	return v.OK(r)
}

func (h RoutineAPI) change(v *edge.Visit) error {
	var c api.RoutineChange
	if err := v.Decode(&c); err != nil {
		return err
	}
	r, err := h.Change(v.Request.Context(), routineName(v), c, v.Who())
	if err != nil {
		return err
	}
	return v.OK(r)
}

func (h RoutineAPI) remove(v *edge.Visit) error {
	if err := h.Delete(v.Request.Context(), routineName(v), v.Who()); err != nil {
		return err
	}
	return v.Nothing()
}

// fire fires a routine. Equal keys of two tokens are different requests; a key
// from the socket is the owner's, with or without a daemon.
func (h RoutineAPI) fire(v *edge.Visit) error {
	var f api.Firing
	if err := v.Decode(&f); err != nil {
		return err
	}
	f.Key = v.Key(f.Key)
	run, err := h.Fire(v.Request.Context(), routineName(v), f, v.Who())
	if err != nil {
		return err
	}
	return v.Answer(http.StatusAccepted, api.Fired{Run: run})
}

func (h RoutineAPI) runs(v *edge.Visit) error {
	rows, after, ctx := v.Rows(), chela.RunID(v.Query.Get("after")), v.Request.Context()
	if after != "" {
		if _, err := h.Run(ctx, after); err != nil {
			return api.Unknown(string(after), err)
		}
	}
	runs, err := h.Runs(ctx, routineName(v), after, rows+1)
	if err != nil {
		return err
	}
	page := api.Paged(runs, rows, func(r chela.RoutineRun) string { return string(r.ID) })
	for i := range page.Items {
		page.Items[i].Output = ""
	}
	return v.OK(page)
}

// seenVersion is the reason for waiting that the client has seen, if it sent one.
func seenVersion(v *edge.Visit) *string {
	if !v.Query.Has("waits") {
		return nil
	}
	text := v.Query.Get("waits")
	return &text
}

func (h RoutineAPI) run(v *edge.Visit) error {
	ms := v.Number("wait_ms", 0)
	ctx, id := v.Request.Context(), chela.RunID(routineName(v))
	if ms > 0 {
		patient, cancel := context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond)
		_, err := h.Ended(patient, id, seenVersion(v))
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
