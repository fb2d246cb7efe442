package gateway

import (
	"fmt"

	"chela"
	"chela/internal/api"
	"chela/internal/gateway/edge"
)

func (g *Gateway) exportThread(v *edge.Visit) error {
	how, err := exportOf(v)
	if err != nil {
		return err
	}
	v.Header().Set("Content-Type", api.Lines)
	return g.cfg.Home.Transcripts.Export(v.Request.Context(), chela.ThreadID(v.Request.PathValue("id")), how, v)
}

// exportOf returns how a thread is to be written down.
func exportOf(v *edge.Visit) (how api.Export, err error) {
	switch view := v.Query.Get("view"); view {
	case "", "full":
	case "compacted":
		how.Compacted = true
	default:
		return how, chela.E(chela.Invalid, fmt.Sprintf("there is no view %.40q", view)).WithHint("use full or compacted")
	}
	if how.All, err = v.Flag("all"); err != nil {
		return how, err
	}
	how.Attachments, err = v.Flag("attachments")
	return how, err
}

func (g *Gateway) importThread(v *edge.Visit) error {
	key, err := keyOf(v)
	if err != nil {
		return err
	}
	done, err := g.cfg.Home.Transcripts.Import(v.Request.Context(), key, v.Request.Body)
	return found(v, done, err)
}
