package gateway

import (
	"context"
	"net/http"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway/edge"
)

// operationRoutes returns the routes of all operations. An operation that the
// home does not bind is Unsupported when it is called.
func (g *Gateway) operationRoutes() []edge.Route {
	bound := map[string]api.Bound{}
	for _, b := range g.cfg.Home.Operations {
		bound[b.Name] = b
	}
	var routes []edge.Route
	for _, spec := range api.Operations() {
		b, ok := bound[spec.Name]
		if !ok {
			b = api.Bound{Spec: spec, Serve: func(context.Context, api.Caller, api.Arguments) (any, error) {
				return nil, chela.E(chela.Unsupported, "this home does not offer "+spec.Name)
			}}
		}
		routes = append(routes, g.routeOf(b))
	}
	return routes
}

// routeOf returns the route of an operation.
func (g *Gateway) routeOf(b api.Bound) edge.Route {
	route := b.Route()
	return edge.Route{
		Route: route, Limit: api.MaxBody, Metered: b.Metered, Long: b.Long, Repeat: b.Repeat,
		Serve: func(v *edge.Visit) error {
			answer, err := b.Serve(v.Request.Context(), callerOf(v, b.Spec), api.Arguments{Path: v.Request.PathValue, Query: v.Query, Body: v.Decode})
			if err != nil {
				return err
			}
			if b.Name == api.TokensRevoke.Name {
				g.end(chela.TokenID(v.Request.PathValue("id")))
			}
			switch content := answer.(type) {
			case api.None:
				return v.Nothing()
			case []byte:
				return v.Send(http.StatusOK, api.Bytes, content)
			}
			return v.Answer(route.Status, answer)
		},
	}
}

// end ends the requests in flight of a token.
func (g *Gateway) end(id chela.TokenID) {
	g.Revoke(func(by edge.Asker) bool { return by.Token.ID == id })
}

// callerOf returns the caller of an operation. The key of a keyed one is that of the
// header within the token, or else the id of the request.
func callerOf(v *edge.Visit, spec api.Spec) api.Caller {
	c := v.Caller()
	if !spec.Keyed {
		return c
	}
	c.Key = v.ID
	if given := v.Request.Header.Get(api.MessageIDHeader); given != "" {
		c.Key = string(v.By.Token.ID) + " " + given
	}
	return c
}
