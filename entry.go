package chela

import (
	"encoding/json"
	"mime"
	"strings"
	"time"
)

// An Entry is one appended record of a thread. It is never updated and never
// deleted.
type Entry struct {
	ID        EntryID   `json:"id"`
	Thread    ThreadID  `json:"thread"`
	Parent    EntryID   `json:"parent,omitempty"` // empty for the root
	Turn      TurnID    `json:"turn"`
	Seq       int64     `json:"seq"` // grows by one within a thread, from 1
	Kind      EntryKind `json:"kind"`
	Body      Body      `json:"body"`
	Tokens    int       `json:"tokens"` // what the entry takes in a prompt
	CreatedAt time.Time `json:"created_at"`
}

// EntryKind says what an entry records.
type EntryKind string

// The kinds of entries. Compaction and branch summaries stand for entries that
// left the prompt; custom entries are state of an extension and never part of
// the prompt.
const (
	EntryUser          EntryKind = "user"           // what a person, routine or job said
	EntryAssistant     EntryKind = "assistant"      // what the model answered: text, thinking, calls
	EntryToolResult    EntryKind = "tool_result"    // what a tool call came to
	EntryNote          EntryKind = "note"           // the host to the model
	EntryCompaction    EntryKind = "compaction"     // a summary and the first kept entry
	EntryBranchSummary EntryKind = "branch_summary" // what happened on a branch that was left
	EntryCustom        EntryKind = "custom"
)

// A Body is the content of an entry, stored as JSON. Which fields are set
// follows from the entry's kind.
type Body struct {
	Text        string       `json:"text,omitempty"`        // every kind
	Attachments []Attachment `json:"attachments,omitempty"` // user, tool_result
	From        string       `json:"from,omitempty"`        // user: who spoke, where it is not the owner
	Inbox       InboxID      `json:"inbox,omitempty"`       // user, tool_result: the message it came from
	Command     Command      `json:"command,omitempty"`     // user: what the turn does instead of answering
	Offers      []ToolSpec   `json:"offers,omitempty"`      // user, tool_result: tools that the sender runs itself, from here on in this turn

	Thinking    []Thinking  `json:"thinking,omitempty"`    // assistant
	Calls       []CallSpec  `json:"calls,omitempty"`       // assistant
	Model       string      `json:"model,omitempty"`       // assistant: provider/model that answered
	Stop        StopReason  `json:"stop,omitempty"`        // assistant
	Usage       *TokenUsage `json:"usage,omitempty"`       // assistant
	Interrupted bool        `json:"interrupted,omitempty"` // assistant: cut off by the person; Text is what had arrived

	Call   CallID      `json:"call,omitempty"`   // tool_result: the call it answers
	Ref    string      `json:"ref,omitempty"`    // tool_result: the provider's id for that call
	Tool   string      `json:"tool,omitempty"`   // tool_result
	Status CallState   `json:"status,omitempty"` // tool_result: how the call ended
	Whole  *Attachment `json:"whole,omitempty"`  // tool_result: the whole text, where Text is only a part of it

	Hidden bool     `json:"hidden,omitempty"` // note, assistant, tool_result: not shown to people
	Note   NoteKind `json:"note,omitempty"`   // note: what it is about, where later steps depend on it; assistant, tool_result: NoteFlush

	FirstKept    EntryID   `json:"first_kept,omitempty"`    // compaction: what stays in the prompt from here on; itself for nothing
	Pinned       []EntryID `json:"pinned,omitempty"`        // compaction: older entries that stay as well, in order
	Strategy     Strategy  `json:"strategy,omitempty"`      // compaction
	TokensBefore int       `json:"tokens_before,omitempty"` // compaction: of the whole prompt
	TokensAfter  int       `json:"tokens_after,omitempty"`  // compaction

	// Ratio is how many tokens the provider counted for each that chela
	// counted, in the request that an assistant entry answers; of a compaction,
	// what was known of it when it was made.
	Ratio float64 `json:"ratio,omitempty"`
}

// NoteKind says what a note of the host is about.
type NoteKind string

// The notes that a turn remembers.
const (
	NoteLoop NoteKind = "loop" // the model goes in circles
	NoteCall NoteKind = "call" // a call was written out instead of made

	// NoteFlush asks the model for what should be in its memory before it
	// leaves the prompt. What comes of it, to the first answer without calls, has
	// the same mark, is hidden, and leaves the prompt with the next compaction.
	NoteFlush NoteKind = "flush"

	// NoteResume ends a flush: the model should go on with what it was asked.
	NoteResume NoteKind = "resume"
)

// A Strategy says how a compaction makes room.
type Strategy string

// The strategies, mildest first. What leaves the prompt is in the archive each
// time.
const (
	StrategyArchive   Strategy = "archive"   // the summary names the archive and the topics
	StrategySummarize Strategy = "summarize" // a model writes the summary
	StrategyTruncate  Strategy = "truncate"  // the summary stays as it was, and names the archive
)

// A Thinking is one block of a model's reasoning. Signature is opaque and goes
// back to the same provider with the next step; other providers never see it.
type Thinking struct {
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redacted,omitempty"` // a block the provider returns encrypted
	Provider  string `json:"provider,omitempty"` // provider kind that made it
}

// A CallSpec is a tool call as the model asked for it.
type CallSpec struct {
	ID   CallID          `json:"id"`             // our id, unique everywhere
	Ref  string          `json:"ref,omitempty"`  // the provider's id for the call, unique within the step
	Tool string          `json:"tool"`           // as the model wrote it; may name nothing
	Args json.RawMessage `json:"args,omitempty"` // valid JSON, else nil and Raw is set
	Raw  string          `json:"raw,omitempty"`  // arguments that were not JSON, as they came
}

// Written returns how many bytes of the call the model wrote.
func (c CallSpec) Written() int { return len(c.Tool) + len(c.Args) + len(c.Raw) }

// An Attachment names bytes in the blob store. The journal holds the name and
// the hash, never the bytes.
type Attachment struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	SHA256    string `json:"sha256"` // lower-case hex
	Size      int64  `json:"size"`   // bytes
}

// IsText reports whether an attachment is text, as its media type says.
func (a Attachment) IsText() bool {
	kind, _, err := mime.ParseMediaType(a.MediaType)
	if err != nil {
		return false
	}
	switch kind {
	case "application/json", "application/xml", "application/yaml", "application/toml", "application/javascript", "application/x-sh":
		return true
	}
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml")
}
