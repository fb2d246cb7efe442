package gateway

import (
	"cmp"
	"net/http"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway/edge"
)

// hookRoute is the ingress for programs without a token: each request is
// authenticated by the secret of its webhook. The existence of a webhook is
// revealed to authenticated requests only.
func (g *Gateway) hookRoute() edge.Route {
	return edge.Route{
		Route: api.Route{
			Method: http.MethodPost, Path: "/hooks/{path...}", Scope: api.Public, Summary: "Fire the routine of a webhook",
			BodyType: api.Bytes, Answer: api.HookReceipt{}, AnswerType: api.JSON, Status: http.StatusAccepted, Also: []int{http.StatusOK},
		},
		Limit: cmp.Or(g.cfg.HookBytes, api.MaxBody), Serve: g.postHook,
	}
}

// postHook passes a request on and answers it: 202 once a run of the routine is
// stored, 200 for a repetition or if there is nothing to do. An address that sends
// too many requests is refused before its signature is checked.
func (g *Gateway) postHook(v *edge.Visit) error {
	if err := v.CountIn(g.hooks, edge.Remote(v.Request), "there were too many requests from your address"); err != nil {
		return err
	}
	body, err := v.Body()
	if err != nil {
		return err
	}
	done, err := g.cfg.Home.Hook(v.Request.Context(), api.HookRequest{
		Path: v.Request.PathValue("path"), Query: v.Request.URL.Query(), Header: v.Request.Header, Body: body,
	})
	switch {
	case chela.KindOf(err) == chela.Denied:
		return edge.Unauthorized("the request is not signed as the webhook wants it, or there is none", "look into the log of the daemon")
	case err != nil:
		return err
	case done.Duplicate || done.Challenge != "" || done.Ignored != "":
		return v.OK(done)
	default:
		return v.Answer(http.StatusAccepted, done)
	}
}
