package gateway

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway/edge"
)

func (g *Gateway) postMessage(v *edge.Visit) error {
	var m api.Message
	if err := v.Decode(&m); err != nil {
		return err
	}
	if v.WantsStream() {
		return g.streamMessage(v, m)
	}
	r, err := g.accept(v, m)
	if err != nil {
		return err
	}
	return v.Answer(http.StatusAccepted, r)
}

// accept commits a message of the caller.
func (g *Gateway) accept(v *edge.Visit, m api.Message) (api.Receipt, error) {
	in, err := g.inbound(v, m)
	if err != nil {
		return api.Receipt{}, err
	}
	return g.cfg.Home.Conversation.Accept(v.Request.Context(), in)
}

// inbound returns a message with its attachments stored. A message without an id
// gets one, so it cannot be deduplicated.
func (g *Gateway) inbound(v *edge.Visit, m api.Message) (chela.Inbound, error) {
	in, err := g.addressed(v, m)
	if err != nil {
		return in, err
	}
	for _, a := range m.Attachments {
		kept, err := g.attachment(v, a)
		if err != nil {
			return in, err
		}
		in.Attachments = append(in.Attachments, kept)
	}
	return in, nil
}

// addressed returns a message without its attachments.
func (g *Gateway) addressed(v *edge.Visit, m api.Message) (chela.Inbound, error) {
	in := chela.Inbound{
		Session: m.Session, Thread: m.Thread, Agent: m.Agent, Origin: v.Origin(),
		MessageID: m.MessageID, Text: m.Text, Model: m.Model,
		Queue: chela.QueueSettings{Mode: m.Mode, DebounceMS: m.DebounceMS, Cap: m.Cap, Drop: m.Drop},
		Input: inputOf(v, m), Scope: v.By.Token.Scope, Shown: m.Shown, Overrides: chela.Overrides{Profile: m.Profile},
	}
	if m.Profile != "" && m.Profile != chela.ProfileCareful && !in.Scope.Allows(chela.ScopeAdmin) {
		return in, chela.E(chela.Denied, "a message with the profile "+string(m.Profile)+" requires the scope admin").WithHint("leave the profile out")
	}
	if err := m.Input.Check(); err != nil {
		return in, err
	}
	if in.Session == "" {
		in.Agent = cmp.Or(in.Agent, chela.MainAgent)
	}
	if m.From != nil {
		var err error
		if in, err = g.cfg.Home.Scopes.Place(in, *m.From); err != nil {
			return in, err
		}
	}
	in.Session = cmp.Or(in.Session, chela.MainKey(in.Agent))
	key, err := chela.ParseSessionKey(in.Session)
	switch {
	case err != nil:
		return in, err
	case key.Agent != "" && in.Agent != "" && key.Agent != in.Agent:
		return in, chela.E(chela.Invalid, fmt.Sprintf("the session belongs to agent %s", key.Agent)).WithHint("leave the agent out")
	}
	in.Agent = cmp.Or(in.Agent, key.Agent, chela.MainAgent)
	if !slices.Contains(g.cfg.Home.OpenAI.Agents.Names(), in.Agent) {
		return in, chela.E(chela.NotFound, fmt.Sprintf("there is no agent %.64q", in.Agent)).WithHint("name one of config.toml")
	}
	if in.MessageID == "" {
		in.MessageID = cmp.Or(v.Once(), v.ID)
	}
	return in, nil
}

// inputOf returns the input of a message. A page with a login is where its
// owner types, so it need not state it. A program that forwards text cannot
// know who typed it.
func inputOf(v *edge.Visit, m api.Message) chela.Input {
	switch {
	case m.From != nil && m.Input == chela.InputTyped:
		return chela.InputCommand
	case m.Input == "" && v.By.Cookie != "" && m.From == nil:
		return chela.InputTyped
	default:
		return m.Input
	}
}

// attachment stores a new attachment of a message, or finds an earlier one.
func (g *Gateway) attachment(v *edge.Visit, a api.Attachment) (chela.Attachment, error) {
	ctx := v.Request.Context()
	switch {
	case a.SHA256 == "" && len(a.Content) > api.MaxAttachment:
		return chela.Attachment{}, edge.TooLarge(api.MaxAttachment)
	case a.SHA256 == "":
		return g.cfg.Home.Files.Attach(ctx, a.Name, bytes.NewReader(a.Content))
	}
	kept, err := g.cfg.Home.Files.Kept(ctx, a.Name, a.MediaType, a.SHA256)
	if err == nil && a.Size != 0 && a.Size != kept.Size {
		err = chela.E(chela.Invalid, fmt.Sprintf("the attachment has %d bytes, not %d", kept.Size, a.Size))
	}
	return kept, err
}

func (g *Gateway) postAttachment(v *edge.Visit) error {
	kept, err := g.cfg.Home.Files.Attach(v.Request.Context(), v.Query.Get("name"), v.Request.Body)
	if err != nil {
		return err
	}
	return v.Answer(http.StatusCreated, kept)
}
