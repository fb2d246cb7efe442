package provider

// This part of the package decides which messages are simple enough for a cheap
// model, by one table of reasons.

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"chela"
)

// A RouteQuestion is the input of a decision, at the opening of a turn.
type RouteQuestion struct {
	Messages []chela.Inbound // messages of the turn
	Entries  int64           // in the thread before them
	Thinking chela.ThinkingLevel
}

// Limits of a simple message.
const (
	maxText    = 240 // characters of a message
	maxLines   = 3
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
	{"it contains code", func(_ RouteQuestion, m chela.Inbound) bool { return code.MatchString(m.Text) }},
	{"it names an address or a file", func(_ RouteQuestion, m chela.Inbound) bool { return place.MatchString(m.Text) }},
	{"it asks for work", func(_ RouteQuestion, m chela.Inbound) bool { return work.MatchString(m.Text) }},
}

var (
	code  = regexp.MustCompile("`|[{}<>;|=\\\\$]|\\w\\(|\\)\\.|::|->|//|#\\w")
	place = regexp.MustCompile(`(?i)\bhttps?:|\bwww\.|\S@\S|(^|\s)[~.]?/\w|\w/\w|\b[\w-]+\.(?:[a-z]{1,4}\d?)\b`)

	// work matches the beginnings of words that ask for more than an answer:
	// for an action, for remembering, or for hard thinking.
	work = regexp.MustCompile(`(?i)\b(?:files?|folder|director|workspace|document|image|photo|screenshot|attach|` +
		`run\b|running|execut|command|shell|script|terminal|install|build|compil|deploy|test|debug|fix|bug|error|crash|log\b|logs\b|` +
		`writ|edit|creat|delet|remov|mov(e|ing)\b|renam|cop(y|ies)|sav(e|ing)\b|chang|updat|replac|add\b|append|implement|refactor|code|program|function|` +
		`search|find\b|look|fetch|download|brows|web|page|read\b|open\b|list\b|check|send|post\b|mail|messag|call\b|buy|pay|order|book\b|` +
		`schedul|remind|remember|forget|not(e|es|ed)\b|memor|every\s|tomorrow|daily|weekly|` +
		`analy[sz]|compar|plan|design|research|summar|explain|translat|calculat|comput|prove|review|draft|step|why\b|how\b|` +
		`datei|ordner|suche?|such\b|lies|schreib|lösch|änder|erstell|führe|starte|prüf|merk|erinner|vergiss|schick|sende|kauf|bestell|erklär|vergleich|plane|warum|wieso|wie\b|übersetz|berechne)`)
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
