package openai

import (
	"context"
	"net/http"

	"chela/internal/gateway/openai/wire"
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

// Models serves GET /v1/models: the agents, and the models that can be asked
// past them. While a provider cannot tell its models, the agents are there.
func (a *API) Models(w http.ResponseWriter, r *http.Request) {
	rows := []modelRow{a.row(agentModel, agentModel)}
	for _, agent := range a.cfg.Agents() {
		rows = append(rows, a.row(agentModel+"/"+agent, agentModel))
	}
	bare, err := a.bareModels(r.Context())
	if err != nil {
		a.cfg.Log.Warn("models of the providers cannot be listed", "error", err)
	}
	wire.WriteJSON(w, modelList{Object: "list", Data: append(rows, bare...)})
}

// Model serves GET /v1/models/{model...}, where a name may hold slashes.
func (a *API) Model(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("model")
	_, bare, err := a.target(id)
	switch {
	case err != nil:
		a.refuse(w, r, err)
		return
	case !bare:
		wire.WriteJSON(w, a.row(id, agentModel))
		return
	}
	rows, err := a.bareModels(r.Context())
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	for _, row := range rows {
		if row.ID == id {
			wire.WriteJSON(w, row)
			return
		}
	}
	a.refuse(w, r, noModel(id))
}

func (a *API) bareModels(ctx context.Context) ([]modelRow, error) {
	models, err := a.cfg.Models.Models(ctx)
	if err != nil {
		return nil, err
	}
	rows := make([]modelRow, 0, len(models))
	for _, m := range models {
		rows = append(rows, a.row(m.Provider+"/"+m.Name, m.Provider))
	}
	return rows, nil
}

func (a *API) row(id, owner string) modelRow {
	return modelRow{ID: id, Object: "model", Created: a.began.Unix(), OwnedBy: owner}
}
