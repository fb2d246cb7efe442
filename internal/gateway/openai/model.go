package openai

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"chela"
	"chela/internal/gateway/openai/wire"
)

// errAnew ends a stream that had told the beginning of an answer which broke off.
var errAnew = chela.E(chela.Unavailable, "the answer broke off and was begun anew, and a stream cannot take text back")

// agentModel is the name of the agent among the models.
const agentModel = "chela"

// target returns what a model's name stands for: an agent (empty: that of the
// session), or a bare model.
func (a *API) target(model string) (agent string, bare bool, err error) {
	provider, name, ok := strings.Cut(model, "/")
	switch {
	case model == agentModel:
		return "", false, nil
	case ok && provider == agentModel && slices.Contains(a.cfg.Agents(), name):
		return name, false, nil
	case ok && provider != agentModel && provider != "" && name != "":
		return "", true, nil
	default:
		return "", false, noModel(model)
	}
}

func noModel(model string) error {
	return wire.Refuse("model", "model_not_found", chela.E(chela.NotFound, fmt.Sprintf("there is no model %.60q", model)).
		WithHint(`use "chela", "chela/<agent>" or "provider/model"`))
}

// serveModel answers a request by one step of a bare model: there is no
// session, nothing is kept, and the tools are the client's.
func (a *API) serveModel(w http.ResponseWriter, r *http.Request, q *wire.Request) error {
	if q.Previous != "" {
		return wire.Unsupported("previous_response_id", "a bare model remembers nothing; send the conversation, or use the model chela")
	}
	provider, name, err := a.cfg.Models.Serve(q.Model)
	if err != nil {
		return err
	}
	id := suffix(string(a.cfg.IDs.Inbox()))
	out := q.Stream(w)
	for chunk, err := range provider.Stream(r.Context(), step(q, name)) {
		switch {
		case err != nil:
			return out.Fail(wire.Because(r.Context(), err))
		case chunk.Finish != nil && q.Streamed:
			out.End(finished(id, q, chunk.Finish))
			return nil
		case chunk.Finish != nil:
			q.Answer(w, finished(id, q, chunk.Finish))
			return nil
		case chunk.Anew && out.Told():
			return out.Fail(errAnew)
		case q.Streamed && chunk.Text != "":
			out.Say(id, chunk.Text)
		case q.Streamed:
			out.Begin(id)
		}
	}
	return out.Fail(chela.E(chela.Internal, "the provider ended without an answer"))
}

// finished returns what a model's step came to.
func finished(id string, q *wire.Request, f *chela.Finish) wire.Reply {
	rep := wire.Reply{ID: id, Text: f.Text, Calls: f.Calls, Stop: f.Stop, Usage: f.Usage}
	if len(f.Calls) > 0 && f.Stop != chela.StopLength {
		rep.Stop = chela.StopCalls
	}
	if len(q.Ignored) > 0 {
		rep.About = &wire.About{Ignored: q.Ignored}
	}
	return rep
}

// step returns the request for one step of a model. What the system says goes
// in front, wherever it was said.
func step(q *wire.Request, model string) *chela.Request {
	s := &chela.Request{
		Model: model, Payer: chela.Payer{Purpose: "api"}, Tools: q.Offers, Thinking: q.Effort, MaxTokens: q.MaxTokens, Session: chela.SessionKey(q.User),
		Messages: make([]chela.Message, 0, len(q.Said)),
	}
	calls := map[string]string{}
	kept := map[string][]byte{}
	for _, said := range q.Said {
		m := chela.Message{Role: chela.Role(said.Role), Text: said.Text, Calls: said.Calls}
		switch said.Role {
		case wire.RoleSystem:
			s.System = wire.Join(s.System, said.Text)
			continue
		case wire.RoleTool:
			m.Ref, m.Tool = said.Ref, calls[said.Ref]
		}
		for _, c := range said.Calls {
			calls[c.Ref] = c.Tool
		}
		for _, f := range said.Files {
			m.Attachments = append(m.Attachments, keep(f, kept))
		}
		s.Messages = append(s.Messages, m)
	}
	if len(kept) > 0 {
		s.Load = func(_ context.Context, a chela.Attachment) ([]byte, error) { return kept[a.SHA256], nil }
	}
	return s
}

// keep puts a file where its attachment finds it.
func keep(f wire.File, kept map[string][]byte) chela.Attachment {
	sum := sha256.Sum256(f.Content)
	hash := hex.EncodeToString(sum[:])
	kept[hash] = f.Content
	return chela.Attachment{Name: f.Name, MediaType: f.Kind, SHA256: hash, Size: int64(len(f.Content))}
}
