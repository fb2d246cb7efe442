package gateway

import (
	"cmp"
	_ "embed"
	"encoding/json"
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

func (g *Gateway) getTools(v *edge.Visit) error {
	tools, err := g.cfg.Home.Tools.Tools(v.Request.Context(), cmp.Or(v.Query.Get("agent"), chela.MainAgent))
	if err != nil {
		return err
	}
	items := make([]api.Tool, len(tools))
	for i, t := range tools {
		items[i] = api.Tool{Name: t.Name, Description: t.Description, Domain: t.Domain, Input: t.Input}
	}
	return edge.List(v, items, nil, func(t api.Tool) string { return t.Name })
}

func (g *Gateway) runTool(v *edge.Visit) error {
	var run api.ToolRun
	if err := v.Decode(&run); err != nil {
		return err
	}
	if len(run.Args) == 0 {
		run.Args = json.RawMessage("{}")
	}
	result, err := g.cfg.Home.Tools.Call(v.Request.Context(), cmp.Or(run.Agent, chela.MainAgent), v.Request.PathValue("name"), run.Args)
	return found(v, api.ToolOutcome{Text: result.Text, Failed: result.Failed, Attachments: result.Attachments}, err)
}

func (g *Gateway) getModels(v *edge.Visit) error {
	models, err := g.cfg.Home.Models.Models(v.Request.Context())
	if err != nil {
		return err
	}
	page, err := api.Cut(models.Items, v.Query.Get("after"), v.Rows(), func(m chela.Model) string { return m.Provider + "/" + m.Name })
	models.Items, models.Next = page.Items, page.Next
	return found(v, models, err)
}

func (g *Gateway) testModel(v *edge.Visit) error {
	var test api.ModelTest
	if err := v.Decode(&test); err != nil {
		return err
	}
	trials, err := g.cfg.Home.Models.Try(v.Request.Context(), test.Model)
	return found(v, api.Page[api.Trial]{Items: append([]api.Trial{}, trials...)}, err)
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
