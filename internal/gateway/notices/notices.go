// Package notices holds the routes of what people are told without having asked,
// /api/notices. They are those for whoever looks: what goes to a chat of its own is
// sent there.
package notices

import (
	"context"
	"net/http"

	"chela"
	"chela/internal/api"
	"chela/internal/gateway/edge"
)

// A Home is what is served. All fields are required.
type Home struct {
	Pending func(ctx context.Context) ([]chela.Outbound, error)
	Seen    func(ctx context.Context, ids []chela.OutboxID) error
}

// Routes returns the routes of a home.
func Routes(h Home) []edge.Route {
	return []edge.Route{
		{Route: api.Route{
			Method: http.MethodGet, Path: "/api/notices", Scope: chela.ScopeRead, Summary: "List the notices that nobody has seen, the oldest first",
			Answer: api.Page[chela.Outbound]{}, AnswerType: api.JSON, Status: http.StatusOK,
		}, Limit: api.MaxBody, Serve: h.pending},
		{Route: api.Route{
			Method: http.MethodPost, Path: "/api/notices/seen", Scope: chela.ScopeChat, Summary: "Say that notices were seen",
			Body: api.Seen{}, BodyType: api.JSON, Status: http.StatusNoContent,
		}, Limit: api.MaxBody, Serve: h.seen},
	}
}

func (h Home) pending(v *edge.Visit) error {
	pending, err := h.Pending(v.Request.Context())
	if err != nil {
		return err
	}
	return v.OK(api.Page[chela.Outbound]{Items: append([]chela.Outbound{}, pending...)}) // never null
}

func (h Home) seen(v *edge.Visit) error {
	var s api.Seen
	if err := v.Decode(&s); err != nil {
		return err
	}
	if err := h.Seen(v.Request.Context(), s.IDs); err != nil {
		return err
	}
	return v.Nothing()
}
