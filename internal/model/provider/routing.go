package provider

// This part of the package decides which messages are simple enough for a cheap
// model, by one table of reasons. They look at the form of a message and of its
// thread, in any language: short plain text early in a conversation.

import (
	"strings"
	"unicode/utf8"

	"chela"
	"chela/internal/platform/lazyregexp"
)

// A RouteQuestion is the input of a decision, at the opening of a turn.
type RouteQuestion struct {
	Messages []chela.Inbound // messages of the turn
	Entries  int64           // in the thread before them
	Thinking chela.ThinkingLevel
}

// Limits of a simple message.
const (
	maxText    = 60 // characters of a message
	maxLines   = 2
	maxEntries = 12 // in the thread before the message
)

// reasons lists the conditions that require a better model than the cheapest;
// the first one that holds decides.
var reasons = []struct {
	text  string
	holds func(q RouteQuestion, m chela.Inbound) bool
}{
	{"the message is empty", func(_ RouteQuestion, m chela.Inbound) bool { return strings.TrimSpace(m.Text) == "" }},
	{"the conversation is long", func(q RouteQuestion, _ chela.Inbound) bool { return q.Entries > maxEntries }},
	{"thinking is requested", func(q RouteQuestion, _ chela.Inbound) bool {
		return q.Thinking != "" && q.Thinking != chela.ThinkingOff && q.Thinking != chela.ThinkingMinimal
	}},
	{"it has attachments", func(_ RouteQuestion, m chela.Inbound) bool { return len(m.Attachments) > 0 }},
	{"it offers client tools", func(_ RouteQuestion, m chela.Inbound) bool { return len(m.Offers)+len(m.Results) > 0 }},
	{"it sets sampling parameters", func(_ RouteQuestion, m chela.Inbound) bool { return m.Overrides.Sampling != nil }},
	{"it includes a conversation", func(_ RouteQuestion, m chela.Inbound) bool { return len(m.History) > 0 }},
	{"it is a command", func(_ RouteQuestion, m chela.Inbound) bool { return m.Command != "" }},
	{"it is long", func(_ RouteQuestion, m chela.Inbound) bool {
		return utf8.RuneCountInString(m.Text) > maxText || strings.Count(strings.TrimSpace(m.Text), "\n") >= maxLines
	}},
	{"it contains code", func(_ RouteQuestion, m chela.Inbound) bool { return code().MatchString(m.Text) }},
	{"it names an address or a file", func(_ RouteQuestion, m chela.Inbound) bool { return place().MatchString(m.Text) }},
}

var (
	code  = lazyregexp.New("`|[{}<>;|=\\\\$]|\\w\\(|\\)\\.|::|->|//|#\\w")
	place = lazyregexp.New(`(?i)\bhttps?:|\bwww\.|\S@\S|(^|\s)[~.]?/\w|\w/\w|\b[\w-]+\.(?:[a-z]{1,4}\d?)\b`)
)

// IsSimple reports whether all messages of a turn are plain and short enough for
// a cheap model, and if not, the reason.
func IsSimple(q RouteQuestion) (simple bool, why string) {
	for _, m := range q.Messages {
		for _, r := range reasons {
			if r.holds(q, m) {
				return false, r.text
			}
		}
	}
	return true, ""
}
