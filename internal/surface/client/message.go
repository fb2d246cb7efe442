package client

import (
	"cmp"

	"chela"
	"chela/internal/api"
)

// message returns the wire form of a message.
func (c *Client) message(in chela.Inbound) (api.Message, error) {
	if _, err := chela.ParseSessionKey(in.Session); err != nil {
		return api.Message{}, err
	}
	if len(in.History)+len(in.Offers)+len(in.Results) > 0 {
		return api.Message{}, chela.E(chela.Unsupported, "a command cannot send what was said elsewhere, or offer tools").
			WithHint("use the API of the daemon under /v1")
	}
	m := api.Message{
		Session: in.Session, Thread: in.Thread, Agent: in.Agent, Text: in.Text, Model: in.Model, Profile: in.Overrides.Profile,
		Mode: in.Queue.Mode, DebounceMS: in.Queue.DebounceMS, Cap: in.Queue.Cap, Drop: in.Queue.Drop,
		MessageID: cmp.Or(in.MessageID, string(c.ids.Inbox())), Input: in.Input, Shown: in.Shown,
	}
	for _, a := range in.Attachments {
		m.Attachments = append(m.Attachments, api.Attachment{Name: a.Name, MediaType: a.MediaType, SHA256: a.SHA256, Size: a.Size})
	}
	return m, nil
}
