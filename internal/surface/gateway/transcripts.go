package gateway

import (
	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway/edge"
)

func (g *Gateway) exportThread(v *edge.Visit) error {
	how := api.Export{Compacted: v.Query.Get("view") == "compacted", All: v.Flag("all"), Attachments: v.Flag("attachments")}
	v.Header().Set("Content-Type", api.Lines)
	return g.cfg.Home.Transcripts.Export(v.Request.Context(), chela.ThreadID(v.Request.PathValue("id")), how, v)
}

func (g *Gateway) importThread(v *edge.Visit) error {
	done, err := g.cfg.Home.Transcripts.Import(v.Request.Context(), chela.SessionKey(v.Request.PathValue("key")), v.Request.Body)
	if err != nil {
		return err
	}
	return v.OK(done)
}
