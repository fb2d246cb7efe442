// Package routing says which messages are simple enough for a cheap model. It is
// one table; whoever wants to know why a message was not is told the row.
package routing

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"chela"
)

// A Question is what is known when a turn opens.
type Question struct {
	Messages []chela.Inbound // of which the turn is made
	Entries  int64           // in the thread before them
	Thinking chela.ThinkingLevel
}

// The most that is simple.
const (
	maxText    = 240 // characters of a message
	maxLines   = 3
	maxEntries = 12 // in the thread before
)

// reasons are what a model is needed for that is not the cheapest; the first that
// holds decides.
var reasons = []struct {
	text  string
	holds func(q Question, m chela.Inbound) bool
}{
	{"nothing was said", func(_ Question, m chela.Inbound) bool { return strings.TrimSpace(m.Text) == "" }},
	{"the conversation is long", func(q Question, _ chela.Inbound) bool { return q.Entries > maxEntries }},
	{"it is to be thought about", func(q Question, _ chela.Inbound) bool {
		return q.Thinking != "" && q.Thinking != chela.ThinkingOff && q.Thinking != chela.ThinkingMinimal
	}},
	{"there are files with it", func(_ Question, m chela.Inbound) bool { return len(m.Attachments) > 0 }},
	{"its sender brings tools", func(_ Question, m chela.Inbound) bool { return len(m.Offers)+len(m.Results) > 0 }},
	{"it brings a conversation along", func(_ Question, m chela.Inbound) bool { return len(m.History) > 0 }},
	{"it is a command", func(_ Question, m chela.Inbound) bool { return m.Command != "" }},
	{"it is long", func(_ Question, m chela.Inbound) bool {
		return utf8.RuneCountInString(m.Text) > maxText || strings.Count(strings.TrimSpace(m.Text), "\n") >= maxLines
	}},
	{"it has code in it", func(_ Question, m chela.Inbound) bool { return code.MatchString(m.Text) }},
	{"it names an address or a file", func(_ Question, m chela.Inbound) bool { return place.MatchString(m.Text) }},
	{"it asks for work", func(_ Question, m chela.Inbound) bool { return work.MatchString(m.Text) }},
}

var (
	code  = regexp.MustCompile("`|[{}<>;|=\\\\$]|\\w\\(|\\)\\.|::|->|//|#\\w")
	place = regexp.MustCompile(`(?i)\bhttps?:|\bwww\.|\S@\S|(^|\s)[~.]?/\w|\w/\w|\b[\w-]+\.(?:[a-z]{1,4}\d?)\b`)

	// work are the beginnings of words that ask for more than an answer: to do
	// something, mostly with a tool, to remember, or to think hard.
	work = regexp.MustCompile(`(?i)\b(?:files?|folder|director|workspace|document|image|photo|screenshot|attach|` +
		`run\b|running|execut|command|shell|script|terminal|install|build|compil|deploy|test|debug|fix|bug|error|crash|log\b|logs\b|` +
		`writ|edit|creat|delet|remov|mov(e|ing)\b|renam|cop(y|ies)|sav(e|ing)\b|chang|updat|replac|add\b|append|implement|refactor|code|program|function|` +
		`search|find\b|look|fetch|download|brows|web|page|read\b|open\b|list\b|check|send|post\b|mail|messag|call\b|buy|pay|order|book\b|` +
		`schedul|remind|remember|forget|not(e|es|ed)\b|memor|every\s|tomorrow|daily|weekly|` +
		`analy[sz]|compar|plan|design|research|summar|explain|translat|calculat|comput|prove|review|draft|step|why\b|how\b|` +
		`datei|ordner|suche?|such\b|lies|schreib|lösch|änder|erstell|führe|starte|prüf|merk|erinner|vergiss|schick|sende|kauf|bestell|erklär|vergleich|plane|warum|wieso|wie\b|übersetz|berechne)`)
)

// Simple reports whether all messages of a turn are plain and short enough for a
// cheap model, and if not, why.
func Simple(q Question) (simple bool, why string) {
	for _, m := range q.Messages {
		for _, r := range reasons {
			if r.holds(q, m) {
				return false, r.text
			}
		}
	}
	return true, ""
}
