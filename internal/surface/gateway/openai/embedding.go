package openai

import (
	"errors"

	"chela"
	"chela/internal/api"
	"chela/internal/model/provider"
	"chela/internal/surface/gateway/edge"
	"chela/internal/surface/gateway/openai/wire"
)

// Embeddings serves POST /v1/embeddings, by the bare model that a request names.
func (a *API) Embeddings(w *edge.Visit) error {
	q, err := wire.Embedding(w.Request)
	if err != nil {
		return err
	}
	_, bare, err := a.target(q.Model)
	switch {
	case err != nil:
		return err
	case !bare:
		return wire.Refuse("model", "", chela.E(chela.Unsupported, "agents make no embeddings").
			WithHint("use provider/model of a provider of kind openai, ollama or gemini"))
	case w.Request.Header.Get(api.SessionHeader) != "":
		return wire.Unsupported(api.SessionHeader, "embeddings belong to no session")
	}
	if answered, err := w.Alone(); answered || err != nil {
		return err
	}
	answer, err := a.cfg.Models.Embed(w.Request.Context(), q.Model, q.Request)
	switch {
	case errors.Is(err, provider.ErrTextsOnly):
		return wire.Refuse("input", "unsupported_parameter", err)
	case err != nil:
		return err
	}
	q.Answer(w, answer)
	w.Keep()
	return nil
}
