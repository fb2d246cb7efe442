package prompt

import (
	"chela"
	"chela/internal/vocabulary"
)

// What is counted beside texts, in tokens: what providers put around a message,
// a call or a tool, and about what they count for a picture of middle size.
const (
	perMessage    = 6
	perCall       = 10
	perAttachment = 800
)

// Count returns how many tokens a text is in the vocabulary o200k_base. Other
// models have others: see [Conversation.Corrected].
func Count(s string) int { return vocabulary.Count(s) }

// Tokens returns what a body takes in a prompt.
func Tokens(b chela.Body) int {
	n := perMessage + Count(b.Text)
	for _, a := range b.Attachments {
		n += attachmentTokens(a)
	}
	for _, t := range b.Thinking {
		n += Count(t.Text)
	}
	for _, c := range b.Calls {
		n += perCall + Count(c.Tool) + Count(string(c.Args)) + Count(c.Raw)
	}
	return n
}

// CountRequest returns about how many tokens a request has.
func CountRequest(r *chela.Request) int {
	n := Count(r.System)
	for _, t := range r.Tools {
		n += perCall + Count(t.Name) + Count(t.Description) + Count(string(t.Input))
	}
	for _, m := range r.Messages {
		n += Tokens(chela.Body{Text: m.Text, Attachments: m.Attachments, Thinking: m.Thinking, Calls: m.Calls})
	}
	return n
}
