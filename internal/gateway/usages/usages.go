// Package usages holds the routes of what was spent, /api/usage.
package usages

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/gateway/edge"
)

// A Home is what is served. All fields are required.
type Home struct {
	// Sums returns what was spent since a time. What there are no sums by is an
	// Invalid error.
	Sums func(ctx context.Context, by chela.UsageBy, since time.Time) ([]chela.UsageSum, error)

	// Budgets returns the limits that apply to a session, or to the home alone
	// if key is empty.
	Budgets func(ctx context.Context, key chela.SessionKey) ([]chela.Budget, error)

	Now  func() time.Time
	Zone *time.Location // where the owner lives
}

// lately is how far back sums reach where nobody says.
const lately = "30d"

// Routes returns the routes of a home.
func Routes(h Home) []edge.Route {
	return []edge.Route{
		row(api.Route{
			Path: "/api/usage", Summary: "Sum what was spent, by day and model or by something else",
			Query: []api.Parameter{
				{Name: "since", Summary: "the first day where the owner lives, such as 2026-03-01, or a number of days ago such as 30d; the last 30 days without it", Sample: ""},
				{Name: "by", Summary: "day, model, session, routine or purpose; day and model without it", Sample: ""},
			},
			Answer: api.Page[chela.UsageSum]{},
		}, h.sums),
		row(api.Route{
			Path: "/api/usage/limits", Summary: "Show the limits and what is left of each",
			Query:  []api.Parameter{{Name: "session", Summary: "also those of a session, by its key", Sample: ""}},
			Answer: api.Page[chela.Budget]{},
		}, h.budgets),
	}
}

// row returns a route to read from.
func row(r api.Route, serve func(*edge.Visit) error) edge.Route {
	r.Method, r.Scope, r.AnswerType, r.Status = http.MethodGet, chela.ScopeRead, api.JSON, http.StatusOK
	return edge.Route{Route: r, Limit: api.MaxBody, Serve: serve}
}

func (h Home) sums(v *edge.Visit) error {
	since, err := api.ParseSince("parameter since", cmp.Or(v.Query.Get("since"), lately), h.Now(), h.Zone)
	if err != nil {
		return err
	}
	sums, err := h.Sums(v.Request.Context(), chela.UsageBy(v.Query.Get("by")), since)
	if err != nil {
		return err
	}
	return v.OK(api.Page[chela.UsageSum]{Items: append([]chela.UsageSum{}, sums...)}) // never null
}

func (h Home) budgets(v *edge.Visit) error {
	budgets, err := h.Budgets(v.Request.Context(), chela.SessionKey(v.Query.Get("session")))
	if err != nil {
		return err
	}
	return v.OK(api.Page[chela.Budget]{Items: append([]chela.Budget{}, budgets...)})
}
