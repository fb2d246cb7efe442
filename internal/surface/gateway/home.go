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

func (g *Gateway) getStatus(v *edge.Visit) error {
	status, err := g.cfg.Home.Status(v.Request.Context())
	return found(v, status, err)
}

func (g *Gateway) getConfig(v *edge.Visit) error {
	settings, err := g.cfg.Home.Settings(v.Request.Context())
	return edge.List(v, settings, err, func(s api.Setting) string { return s.Key })
}

func (g *Gateway) patchConfig(v *edge.Visit) error {
	var change api.SettingChange
	if err := v.Decode(&change); err != nil {
		return err
	}
	return done(v, g.cfg.Home.Configure(v.Request.Context(), change.Key, change.Value))
}
