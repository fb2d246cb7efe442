package lane

import (
	"chela"
	"chela/internal/engine/turn/machine"
)

// earlierEntries converts the history of a message into entries; only bodies are
// set.
func earlierEntries(history []chela.Message) (entries []chela.Entry) {
	for _, said := range history {
		e := chela.Entry{Body: chela.UserBody{Text: said.Text, Attachments: said.Attachments}}
		if said.Role == chela.RoleAssistant {
			e.Body = chela.AnswerBody{Text: said.Text, Attachments: said.Attachments}
		}
		entries = append(entries, e)
	}
	return entries
}

// messageEntries converts the messages of a turn into entries; only body and
// tokens are set.
func messageEntries(messages []chela.InboxMessage) (entries []chela.Entry) {
	for _, m := range messages {
		entries = append(entries, chela.Entry{Body: machine.UserBody(m), Tokens: m.Tokens})
	}
	return entries
}
