// Package prompt decides what the model sees: the order of a prompt, its size,
// how entries become messages, and what leaves when it grows too large. All of
// it is pure.
//
// A prompt is the system text, the tools, and the messages of the path from
// the root to the head:
//
//	system · tools · summary · pinned · entries from the first kept one on
//
// It only grows at its end while a thread goes on, so what a provider has
// cached of it stays valid. What breaks that is a compaction, which puts a
// summary in the place of older entries: the newest one on the path counts, and
// nothing older than what it kept is looked at, or even read. And attachments
// leave: when five messages show some, or these are too large together, only the
// newest two go on showing them; name, type and size stay.
//
// # Size
//
// A [Budget] is the room that a model's window leaves for a prompt. Every entry
// is counted once, when it is made, and keeps its number. Where a provider told
// how many tokens it counted itself, everything is corrected by the ratio.
//
// # What leaves
//
// [Conversation.Plan] looks at how much of the room is used:
//
//	more than   strategy     keeps    summary
//	80 %        archive      10 turns names the archive and the topics
//	85 %        summarize     5 turns is written by a model
//	95 %        truncate      3 turns stays as it was, and names the archive
//
// Fewer turns are kept where these are large. If even the newest is too large,
// the cut goes through it, in front of one of its steps, and what the user said
// in it is pinned. A call and its result stay together. For one request to the
// model each strategy follows only milder ones, so there is no loop.
package prompt

import (
	"slices"
	"strings"

	"chela"
	"chela/internal/fail"
)

// A Conversation is the part of a prompt that comes from a thread.
type Conversation struct {
	Messages []chela.Message
	Parts    []Part         // what each message comes from
	Tokens   int            // sum of the parts
	Ratio    float64        // what the provider counted for each token counted here; 0 when not known
	Tried    chela.Strategy // of the newest compaction, if nobody said anything since
	Flushed  bool           // notes for the memory were asked for since the newest compaction
}

// A Part is what a message comes from.
type Part struct {
	Entry  chela.EntryID
	Turn   chela.TurnID
	Kind   chela.EntryKind
	Tokens int
	Pinned bool // stands in front of what a compaction kept
	Flush  bool // leaves with the next compaction, as it was only about memory

	Left []chela.Attachment // what the message does not show any more
	Shed int                // what that took; not part of Tokens
}

// Append adds an entry. As with the built-in append, the older conversation
// must not be appended to again.
func (c Conversation) Append(e chela.Entry) Conversation {
	if e.Body.Ratio > 0 {
		c.Ratio = e.Body.Ratio
	}
	if e.Kind == chela.EntryCompaction {
		return c.compact(e)
	}
	m, ok := message(e)
	if !ok {
		return c
	}
	switch {
	case isFlush(e.Body):
		c.Flushed = true
	case e.Kind == chela.EntryUser, e.Kind == chela.EntryAssistant:
		c.Tried = ""
	}
	return c.add(m, partOf(e))
}

func partOf(e chela.Entry) Part {
	return Part{Entry: e.ID, Turn: e.Turn, Kind: e.Kind, Tokens: e.Tokens, Flush: isFlush(e.Body)}
}

// isFlush reports whether an entry is about memory only.
func isFlush(b chela.Body) bool { return b.Note == chela.NoteFlush || b.Note == chela.NoteResume }

func (c Conversation) add(m chela.Message, p Part) Conversation {
	c.Messages, c.Parts = append(c.Messages, m), append(c.Parts, p)
	c.Tokens += p.Tokens
	if len(m.Attachments) > 0 {
		return c.shed()
	}
	return c
}

// compact puts the summary of a compaction in the place of what left. An older
// compaction, whose first kept entry was not read, leaves everything that was.
func (c Conversation) compact(e chela.Entry) Conversation {
	short := Conversation{Ratio: c.Ratio, Tried: e.Body.Strategy}
	short = short.add(chela.Message{Role: chela.RoleUser, Text: notePrefix + SummaryText(e.Body.Text)}, partOf(e))
	kept := len(c.Parts)
	if e.Body.FirstKept != e.ID {
		kept = max(0, slices.IndexFunc(c.Parts, func(p Part) bool { return p.Entry == e.Body.FirstKept }))
	}
	if fail.Mutant("kept-too-little") {
		kept++
	}
	for i, p := range c.Parts {
		p.Pinned = i < kept
		stays := !p.Pinned && !p.Flush || slices.Contains(e.Body.Pinned, p.Entry)
		if stays && p.Kind != chela.EntryCompaction {
			short = short.add(whole(c.Messages[i], p))
		}
	}
	return short
}

// fixed is how many messages stand in front of what the newest compaction kept:
// the summary and what it pinned.
func (c Conversation) fixed() int {
	n := 0
	for n < len(c.Parts) && (c.Parts[n].Pinned || c.Parts[n].Kind == chela.EntryCompaction) {
		n++
	}
	return n
}

// SummaryText is how the model is told a summary.
func SummaryText(summary string) string {
	return "The beginning of this conversation has left the prompt. What it came to:\n\n" + summary
}

// notePrefix is how the host's own remarks begin.
const notePrefix = "[note from the host] "

// message returns an entry as a message of the prompt, and whether it is part
// of one.
func message(e chela.Entry) (chela.Message, bool) {
	b := e.Body
	switch e.Kind {
	case chela.EntryUser:
		text := b.Text
		if b.From != "" {
			text = b.From + ": " + text
		}
		return chela.Message{Role: chela.RoleUser, Text: text, Attachments: b.Attachments}, b.Command == ""
	case chela.EntryNote:
		return chela.Message{Role: chela.RoleUser, Text: notePrefix + b.Text}, true
	case chela.EntryAssistant:
		text := b.Text
		if b.Interrupted {
			text = strings.TrimSpace(text + " [interrupted by the user]")
		}
		return chela.Message{Role: chela.RoleAssistant, Text: text, Thinking: b.Thinking, Calls: b.Calls}, true
	case chela.EntryToolResult:
		return chela.Message{
			Role: chela.RoleTool, Text: b.Text, Attachments: b.Attachments, Call: b.Call, Ref: b.Ref, Tool: b.Tool,
			Failed: b.Status != chela.CallDone,
		}, true
	default:
		return chela.Message{}, false
	}
}

// Summary returns the summary at the beginning of the conversation, or "".
func (c Conversation) Summary() string {
	if len(c.Parts) == 0 || c.Parts[0].Kind != chela.EntryCompaction {
		return ""
	}
	return strings.TrimPrefix(c.Messages[0].Text, notePrefix+SummaryText(""))
}

// Corrected returns about how many tokens the provider counts for n that are
// counted here.
func (c Conversation) Corrected(n int) int {
	if c.Ratio == 0 {
		return n
	}
	return int(float64(n)*c.Ratio + 0.5)
}

// Ratio returns how many tokens a provider counted for each of the n that were
// counted here, or 0 if that cannot be told. A ratio that no tokenizer explains
// is cut off.
func Ratio(u chela.TokenUsage, n int) float64 {
	counted := u.Input + u.CacheRead + u.CacheWrite
	if counted <= 0 || n <= 0 {
		return 0
	}
	return min(max(float64(counted)/float64(n), 0.5), 3)
}
