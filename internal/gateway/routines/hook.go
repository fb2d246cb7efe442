package routines

import (
	"cmp"
	"net/http"

	"chela"
	"chela/internal/api"
	"chela/internal/gateway/edge"
)

// Limits bound requests to webhooks, before anybody looks who makes them.
type Limits struct {
	Bytes int64       // of the body; 0 is as for other routes
	Meter *edge.Meter // by address
}

// hookRoute is the way in for programs that know no token: each request proves
// itself by the secret of its webhook. Whether there is a webhook at a path is told
// to nobody else.
func (h Home) hookRoute(l Limits) edge.Route {
	return edge.Route{
		Route: api.Route{
			Method: http.MethodPost, Path: "/hooks/{path...}", Scope: api.Public, Summary: "Let the routine of a webhook fire",
			BodyType: api.Bytes, Answer: api.Hooked{}, AnswerType: api.JSON, Status: http.StatusAccepted,
		},
		Limit: cmp.Or(l.Bytes, api.MaxBody),
		Serve: func(v *edge.Visit) error {
			if after, ok := l.Meter.Take(edge.Remote(v.Request)); !ok && !v.Owner {
				return edge.Refusal{Err: chela.E(chela.Exhausted, "there were too many requests from your address").WithHint("wait a moment"), After: after}
			}
			body, err := v.Body()
			if err != nil {
				return err
			}
			return h.hooked(v, body)
		},
	}
}

// hooked hands a request on and answers it: 202 once a run of the routine is stored,
// 200 if that was done before or there is nothing to do.
func (h Home) hooked(v *edge.Visit, body []byte) error {
	done, err := h.Hook(v.Request.Context(), v.Request.PathValue("path"), v.Request.Header, body)
	switch {
	case chela.KindOf(err) == chela.Denied:
		return edge.Refusal{
			Err:    chela.E(chela.Denied, "the request is not signed as the webhook wants it, or there is none").WithHint("look into the log of the daemon"),
			Status: http.StatusUnauthorized,
		}
	case err != nil:
		return err
	case done.Duplicate || done.Challenge != "":
		return v.OK(done)
	default:
		return v.Answer(http.StatusAccepted, done)
	}
}
