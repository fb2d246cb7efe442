package journal

import (
	"chela"
	"chela/internal/engine/turn/machine"
)

// Earlier converts the history of a message into entries; only kind and body
// are set.
func Earlier(history []chela.Message) (entries []chela.Entry) {
	for _, said := range history {
		kind := chela.EntryUser
		if said.Role == chela.RoleAssistant {
			kind = chela.EntryAssistant
		}
		entries = append(entries, chela.Entry{Kind: kind, Body: chela.Body{Text: said.Text, Attachments: said.Attachments}})
	}
	return entries
}

// Messages converts the messages of a turn into entries; only kind, body and
// tokens are set.
func Messages(messages []chela.InboxMessage) (entries []chela.Entry) {
	for _, m := range messages {
		entries = append(entries, chela.Entry{Kind: chela.EntryUser, Body: machine.UserBody(m), Tokens: m.Tokens})
	}
	return entries
}
