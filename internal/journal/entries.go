package journal

import (
	"chela"
	"chela/internal/turn/machine"
)

// Earlier returns what was said before, elsewhere, as entries by kind and body.
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

// Messages returns the messages of a turn as entries by kind and body, with what
// they take in a prompt.
func Messages(messages []chela.Waiting) (entries []chela.Entry) {
	for _, m := range messages {
		entries = append(entries, chela.Entry{Kind: chela.EntryUser, Body: machine.UserBody(m), Tokens: m.Tokens})
	}
	return entries
}
