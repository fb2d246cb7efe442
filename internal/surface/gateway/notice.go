package gateway

// This part of the package holds the routes of notices, /api/notices. They
// serve unread notices to clients; notices to chats are pushed there.

import (
	"context"
	"net/http"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway/edge"
)

// NoticeAPI is the interface that the routes need. All fields are required.
type NoticeAPI struct {
	Pending func(ctx context.Context) ([]chela.Outbound, error)
	Seen    func(ctx context.Context, ids []chela.OutboxID) error
}

// noticeRoutes returns the routes of a home.
func noticeRoutes(h NoticeAPI) []edge.Route {
	return []edge.Route{
		{Route: api.Route{
			Method: http.MethodGet, Path: "/api/notices", Scope: chela.ScopeRead, Summary: "List the unread notices, oldest first",
			Query: []api.Parameter{api.After("the id of a notice", "id=out"), api.Limit()}, Answer: api.Page[chela.Outbound]{}, AnswerType: api.JSON, Status: http.StatusOK,
		}, Limit: api.MaxBody, Serve: h.pending},
		{Route: api.Route{
			Method: http.MethodPost, Path: "/api/notices/seen", Scope: chela.ScopeChat, Summary: "Say that notices were seen",
			Body: api.Seen{}, BodyType: api.JSON, Status: http.StatusNoContent,
		}, Limit: api.MaxBody, Serve: h.seen},
	}
}

func (h NoticeAPI) pending(v *edge.Visit) error {
	pending, err := h.Pending(v.Request.Context())
	return edge.List(v, pending, err, func(o chela.Outbound) string { return string(o.ID) })
}

func (h NoticeAPI) seen(v *edge.Visit) error {
	var s api.Seen
	if err := v.Decode(&s); err != nil {
		return err
	}
	if err := h.Seen(v.Request.Context(), s.IDs); err != nil {
		return err
	}
	return v.Nothing()
}
