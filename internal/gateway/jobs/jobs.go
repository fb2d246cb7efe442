// Package jobs holds the routes of jobs, /api/jobs.
package jobs

import (
	"context"
	"net/http"

	"chela"
	"chela/internal/api"
	"chela/internal/gateway/edge"
)

// A Home is what is served. What does not exist is NotFound; what does not fit how
// far a job is, a Conflict. The last parameter of what changes a job is who asks.
type Home struct {
	// Create takes a job in. The origin is that with which its session is told how
	// it ends.
	Create func(ctx context.Context, q api.NewJob, origin chela.Origin, by string) (chela.Job, error)

	// Jobs returns those that pass a filter, the newest first.
	Jobs func(ctx context.Context, f api.JobFilter) ([]chela.Job, error)
	Job  func(ctx context.Context, id chela.JobID) (api.Job, error)

	// Events returns what happened after the event of a number, in order.
	Events func(ctx context.Context, id chela.JobID, after int) ([]chela.JobEvent, error)

	Cancel  func(ctx context.Context, id chela.JobID, by string) (chela.Job, error)
	Restart func(ctx context.Context, id chela.JobID, q api.JobAgain, by string) (chela.Job, error)
	Accept  func(ctx context.Context, id chela.JobID, by string) (chela.Job, error)
	Prompt  func(ctx context.Context, id chela.JobID, q api.JobText, by string) (chela.Job, error)
	Modify  func(ctx context.Context, id chela.JobID, q api.JobText, by string) (chela.Job, error)

	// Files returns those in the workspace of a job, sorted by path; File returns
	// the content of one.
	Files func(ctx context.Context, id chela.JobID) ([]api.JobFile, error)
	File  func(ctx context.Context, id chela.JobID, path string) ([]byte, error)
}

// Routes returns the routes of a home.
func Routes(h Home) []edge.Route {
	return []edge.Route{
		reading("", "List jobs, the newest first", h.list, api.Page[chela.Job]{},
			api.Parameter{Name: "state", Summary: "only in these states, separated by commas", Sample: ""},
			api.Parameter{Name: "kind", Summary: "job, subagent or part; all without it", Sample: ""},
			api.Parameter{Name: "requester", Summary: "only those that this session asked for", Sample: ""},
			after("the id of the last job of the page before"), limit()),
		{
			Route: api.Route{
				Method: http.MethodPost, Path: "/api/jobs", Scope: chela.ScopeChat, Summary: "Begin a job",
				Body: api.NewJob{}, BodyType: api.JSON, Answer: chela.Job{}, AnswerType: api.JSON, Status: http.StatusCreated,
			},
			Limit: api.MaxBody, Metered: true, Serve: h.create,
		},
		reading("/{id}", "Show a job with its plan, its parts and what it cost", h.show, api.Job{}),
		reading("/{id}/events", "List what happened to a job, in order", h.events, api.Page[chela.JobEvent]{},
			api.Parameter{Name: "after", Summary: "the number of the last event that was seen", Sample: 0}, limit()),
		reading("/{id}/files", "List the files in the workspace of a job", h.files, api.Page[api.JobFile]{},
			after("the path of the last file of the page before"), limit()),
		h.content(),
		moving("cancel", "Cancel a job with its parts and subagents", h.Cancel),
		h.again(),
		moving("accept", "Say that the result of a job is good", h.Accept),
		saying("prompt", "Say something to a job", h.Prompt),
		saying("modify", "Send a job that ended back with what to change", h.Modify),
	}
}

func after(summary string) api.Parameter {
	return api.Parameter{Name: "after", Summary: summary, Sample: ""}
}

func limit() api.Parameter {
	return api.Parameter{Name: "limit", Summary: "rows of a page; 100 without it, at most 500", Sample: 0}
}

// reading returns a route that answers with JSON.
func reading(path, summary string, serve func(*edge.Visit) error, answer any, query ...api.Parameter) edge.Route {
	return edge.Route{
		Route: api.Route{
			Method: http.MethodGet, Path: "/api/jobs" + path, Scope: chela.ScopeRead, Summary: summary, Query: query,
			Answer: answer, AnswerType: api.JSON, Status: http.StatusOK,
		},
		Limit: api.MaxBody, Serve: serve,
	}
}

// content returns the route of the content of a file.
func (h Home) content() edge.Route {
	path := api.Parameter{Name: "path", Summary: "the file, such as notes/a.txt", Sample: ""}
	r := reading("/{id}/files/content", "Read a file in the workspace of a job", h.file, nil, path)
	r.AnswerType, r.Long = api.Bytes, true
	return r
}

// moving returns the route of what needs no words.
func moving(name, summary string, move func(context.Context, chela.JobID, string) (chela.Job, error)) edge.Route {
	return edge.Route{
		Route: api.Route{
			Method: http.MethodPost, Path: "/api/jobs/{id}/" + name, Scope: chela.ScopeChat, Summary: summary,
			Answer: chela.Job{}, AnswerType: api.JSON, Status: http.StatusOK,
		},
		Limit: api.MaxBody,
		Serve: func(v *edge.Visit) error {
			j, err := move(v.Request.Context(), jobOf(v), v.Who())
			if err != nil {
				return err
			}
			return v.OK(j)
		},
	}
}

// again returns the route that begins a job anew. It needs no body.
func (h Home) again() edge.Route {
	r := moving("restart", "Begin a job that ended anew, with the limits that are given", nil)
	r.Body, r.BodyType = api.JobAgain{}, api.JSON
	r.Serve = func(v *edge.Visit) error {
		var q api.JobAgain
		if v.Request.ContentLength != 0 {
			if err := v.Decode(&q); err != nil {
				return err
			}
		}
		j, err := h.Restart(v.Request.Context(), jobOf(v), q, v.Who())
		if err != nil {
			return err
		}
		return v.OK(j)
	}
	return r
}

// saying returns the route of what somebody says to a job.
func saying(name, summary string, say func(context.Context, chela.JobID, api.JobText, string) (chela.Job, error)) edge.Route {
	return edge.Route{
		Route: api.Route{
			Method: http.MethodPost, Path: "/api/jobs/{id}/" + name, Scope: chela.ScopeChat, Summary: summary,
			Body: api.JobText{}, BodyType: api.JSON, Answer: chela.Job{}, AnswerType: api.JSON, Status: http.StatusOK,
		},
		Limit: api.MaxBody, Metered: true,
		Serve: func(v *edge.Visit) error {
			var q api.JobText
			if err := v.Decode(&q); err != nil {
				return err
			}
			q.Key = v.Key(q.Key)
			j, err := say(v.Request.Context(), jobOf(v), q, v.Who())
			if err != nil {
				return err
			}
			return v.OK(j)
		},
	}
}

func jobOf(v *edge.Visit) chela.JobID { return chela.JobID(v.Request.PathValue("id")) }
