package openai

import (
	"context"
	"strings"

	"chela"
	"chela/internal/surface/gateway/edge"
	"chela/internal/surface/gateway/openai/wire"
)

// A modelRow is a model as it is listed.
type modelRow struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

type modelList struct {
	Object string     `json:"object"`
	Data   []modelRow `json:"data"`
}

// Models serves GET /v1/models: the agents, and the bare models. Providers that
// fail to list their models are left out.
func (a *API) Models(w *edge.Visit) error {
	rows := []modelRow{a.row(agentModel, agentModel)}
	for _, agent := range a.cfg.Agents.Names() {
		rows = append(rows, a.row(agentModel+"/"+agent, agentModel))
	}
	bare, err := a.cfg.Models.Models(w.Request.Context())
	if err != nil {
		return err
	}
	for _, m := range bare.Items {
		rows = append(rows, a.row(m.Provider+"/"+m.Name, m.Provider))
	}
	wire.WriteJSON(w, modelList{Object: "list", Data: rows})
	return nil
}

// Model serves GET /v1/models/{model...}, where a name may hold slashes.
func (a *API) Model(w *edge.Visit) error {
	id := w.Request.PathValue("model")
	row := a.row(id, agentModel)
	_, bare, err := a.target(id)
	if bare {
		row, err = a.bareModel(w.Request.Context(), id)
	}
	if err != nil {
		return err
	}
	wire.WriteJSON(w, row)
	return nil
}

// bareModel returns a bare model. Models of an unavailable provider cannot be
// verified.
func (a *API) bareModel(ctx context.Context, id string) (modelRow, error) {
	models, err := a.cfg.Models.Models(ctx)
	if err != nil {
		return modelRow{}, err
	}
	for _, m := range models.Items {
		if m.Provider+"/"+m.Name == id {
			return a.row(id, m.Provider), nil
		}
	}
	provider, _, _ := strings.Cut(id, "/")
	for _, away := range models.Away {
		if away.Provider == provider {
			return modelRow{}, chela.E(chela.Unavailable, away.Message)
		}
	}
	return modelRow{}, noModel(id)
}

func (a *API) row(id, owner string) modelRow {
	return modelRow{ID: id, Object: "model", Created: a.began.Unix(), OwnedBy: owner}
}
