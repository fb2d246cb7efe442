package gateway

import (
	_ "embed"
	"net/http"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway/edge"
)

//go:embed page.html
var page []byte

func (g *Gateway) page(v *edge.Visit) error {
	return v.Send(http.StatusOK, api.HTML, page)
}

func (g *Gateway) getOpenAPI(v *edge.Visit) error {
	document, err := g.document()
	if err != nil {
		return err
	}
	return v.Send(http.StatusOK, api.JSON, document)
}

func (g *Gateway) health(v *edge.Visit) error { return v.OK(api.Health{Status: "ok"}) }

func (g *Gateway) ready(v *edge.Visit) error {
	if err := g.cfg.Home.Ready(v.Request.Context()); err != nil {
		v.Header().Set("Retry-After", "1")
		return v.Answer(http.StatusServiceUnavailable, api.Health{Status: chela.MessageOf(err)})
	}
	return g.health(v)
}
