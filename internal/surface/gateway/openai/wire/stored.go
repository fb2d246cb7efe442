package wire

import (
	"net/http"

	"chela"
)

// Stored is a response that is read again.
type Stored struct {
	Reply
	Failed error // the turn failed
	Open   bool  // it has not ended
}

// WriteStored writes a response of a turn, with the stored part of its request.
func WriteStored(w http.ResponseWriter, model string, t chela.Turn, s Stored) {
	asked := &responsesRequest{Model: model}
	if n := t.Overrides.Answer; n > 0 {
		asked.MaxOutput = &n
	}
	if sampling := t.Overrides.Sampling; sampling != nil && sampling.Format != nil {
		asked.Text.Format = answerFormat{"json_object", *sampling.Format}
		if len(sampling.Format.Schema) > 0 {
			asked.Text.Format.Type = "json_schema"
		}
	}
	f := responsesFormat{asked: asked, created: t.CreatedAt.Unix()}
	switch {
	case s.Open:
		WriteJSON(w, f.empty(s.ID))
	case s.Failed != nil:
		r := f.empty(s.ID)
		r.fail(s.Failed)
		WriteJSON(w, r)
	default:
		WriteJSON(w, f.whole(s.Reply))
	}
}

// WriteDeleted confirms the deletion of a response.
func WriteDeleted(w http.ResponseWriter, id string) {
	WriteJSON(w, struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Deleted bool   `json:"deleted"`
	}{id, "response", true})
}
