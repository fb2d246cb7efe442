package gateway

import (
	"cmp"
	"net/http"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway/edge"
)

// RoutineLimits bound requests to webhooks, before authentication.
type RoutineLimits struct {
	Bytes int64       // of the body; 0 is the default of other routes
	Meter *edge.Meter // by address
}

// hookRoute is the ingress for programs without a token: each request is
// authenticated by the secret of its webhook. The existence of a webhook is
// revealed to authenticated requests only.
func (h RoutineAPI) hookRoute(l RoutineLimits) edge.Route {
	return edge.Route{
		Route: api.Route{
			Method: http.MethodPost, Path: "/hooks/{path...}", Scope: api.Public, Summary: "Let the routine of a webhook fire",
			BodyType: api.Bytes, Answer: api.Hooked{}, AnswerType: api.JSON, Status: http.StatusAccepted, Also: []int{http.StatusOK},
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

// hooked passes a request on and answers it: 202 once a run of the routine is
// stored, 200 for a repetition or if there is nothing to do.
func (h RoutineAPI) hooked(v *edge.Visit, body []byte) error {
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
