package openai

import (
	"errors"
	"net/http"

	"chela"
	"chela/internal/api"
	"chela/internal/model/provider"
	"chela/internal/surface/gateway/openai/wire"
)

// Embeddings serves POST /v1/embeddings.
func (a *API) Embeddings(w http.ResponseWriter, r *http.Request) {
	q, err := wire.Embedding(r)
	if err == nil {
		err = a.embed(w, r, q)
	}
	if err != nil {
		a.refuse(w, r, err)
	}
}

// embed serves a request for embeddings by the bare model that it names. An
// error means that no response was written.
func (a *API) embed(w http.ResponseWriter, r *http.Request, q *wire.EmbeddingRequest) error {
	_, bare, err := a.target(q.Model)
	switch {
	case err != nil:
		return err
	case !bare:
		return wire.Refuse("model", "", chela.E(chela.Unsupported, "agents make no embeddings").
			WithHint("use provider/model of a provider of kind openai, ollama or gemini"))
	case r.Header.Get(api.SessionHeader) != "":
		return wire.Unsupported(api.SessionHeader, "embeddings belong to no session")
	}
	visit := a.cfg.Client(r).Visit
	if answered, err := visit.Alone(); answered || err != nil {
		return err
	}
	answer, err := a.cfg.Models.Embed(r.Context(), q.Model, q.Request)
	switch {
	case errors.Is(err, provider.ErrTextsOnly):
		return wire.Refuse("input", "unsupported_parameter", err)
	case err != nil:
		return err
	}
	q.Answer(w, answer)
	visit.Keep()
	return nil
}
