package gateway

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway/edge"
)

// UsageAPI is the interface that the routes need. All fields are required.
type UsageAPI struct {
	// Sums returns the spending since a time. An unknown grouping is an Invalid
	// error.
	Sums func(ctx context.Context, by chela.UsageBy, since time.Time) ([]chela.UsageSum, error)

	// Budgets returns the limits of a session, or only the home's if key is
	// empty.
	Budgets func(ctx context.Context, key chela.SessionKey) ([]chela.Budget, error)

	Now  func() time.Time
	Zone *time.Location // the owner's time zone
}

// lately is the default period of sums.
const lately = "30d"

// usageRoutes returns the routes of a home.
func usageRoutes(h UsageAPI) []edge.Route {
	return []edge.Route{
		usageRow(api.Route{
			Path: "/api/usage", Summary: "Sum what was spent, by day and model or by something else",
			Query: []api.Parameter{
				{Name: "since", Summary: "the first day where the owner lives, such as 2026-03-01, or a number of days ago such as 30d; the last 30 days without it", Check: "is=since"},
				{Name: "by", Summary: "day, model, session, routine or purpose; day and model without it", Check: "words=day|model|session|routine|purpose"},
				api.After("a row", "is=line min=1 max=1024"), api.Limit(),
			},
			Answer: api.Page[chela.UsageSum]{},
		}, h.sums),
		usageRow(api.Route{
			Path: "/api/usage/limits", Summary: "Show the limits and the rest of each",
			Query: []api.Parameter{
				{Name: "session", Summary: "also those of a session, by its key", Check: "is=session max=512"},
				api.After("a limit", "is=line min=1 max=1024"), api.Limit(),
			},
			Answer: api.Page[chela.Budget]{},
		}, h.budgets),
	}
}

// usageRow returns a route to read from.
func usageRow(r api.Route, serve func(*edge.Visit) error) edge.Route {
	r.Method, r.Scope, r.AnswerType, r.Status = http.MethodGet, chela.ScopeRead, api.JSON, http.StatusOK
	return edge.Route{Route: r, Limit: api.MaxBody, Serve: serve}
}

func (h UsageAPI) sums(v *edge.Visit) error {
	since, err := api.ParseSince("parameter since", cmp.Or(v.Query.Get("since"), lately), h.Now(), h.Zone)
	if err != nil {
		return err
	}
	sums, err := h.Sums(v.Request.Context(), chela.UsageBy(v.Query.Get("by")), since)
	return edge.List(v, sums, err, func(s chela.UsageSum) string {
		return strings.Join([]string{s.Day, s.Model, string(s.Session), string(s.Routine), s.Purpose}, " ")
	})
}

func (h UsageAPI) budgets(v *edge.Visit) error {
	budgets, err := h.Budgets(v.Request.Context(), chela.SessionKey(v.Query.Get("session")))
	return edge.List(v, budgets, err, func(b chela.Budget) string { return strings.TrimSuffix(string(b.Limit)+" "+b.Key, " ") })
}
