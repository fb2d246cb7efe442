package chela

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"
)

// A Provider serves models.
type Provider interface {
	// Stream performs one step of a model and yields what arrives. The stream
	// ends with exactly one Chunk whose Finish is set, or with an error; never
	// neither, never both. Breaking out of the loop or ending ctx stops the
	// request. Errors are *ProviderError, except ctx's own and those of what stands
	// around providers, such as the ledger. It may be called
	// by several goroutines at once and leaves nothing running behind.
	Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error]
}

// A Request is everything a model sees in one step. Providers must not keep or
// change it.
type Request struct {
	Model     string // as the provider knows it, without the provider's name
	System    string
	Messages  []Message
	Tools     []ToolSpec
	Thinking  ThinkingLevel
	MaxTokens int        // of the answer, reasoning included; 0 means the provider's or model's default
	Session   SessionKey // a stable key for the provider's prompt cache
	Plain     bool       // ask without streaming; the chunks come at once
	Hasty     bool       // there is another way: rather fail than wait for one who wants time

	// Payer is who pays, and Tokens about how many tokens the prompt has; 0 if
	// nobody counted them. Providers do not look at them, what wraps them does.
	Payer  Payer `json:"-"`
	Tokens int   `json:"-"`

	// Again says that a process died which may have made the same request.
	Again bool `json:"-"`

	// Load returns the bytes of an attachment. It is set when Messages has
	// any.
	Load func(ctx context.Context, a Attachment) ([]byte, error) `json:"-"`
}

// Role says who speaks in a message of a prompt.
type Role string

// The roles. A message of RoleTool carries one result.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// A Message is one message of a prompt, in the order of the conversation.
// Every call of an assistant message is answered by a tool message before the
// next assistant message. Several user messages may follow each other.
type Message struct {
	Role        Role         `json:"role"`
	Text        string       `json:"text,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`

	Thinking []Thinking `json:"thinking,omitempty"` // assistant
	Calls    []CallSpec `json:"calls,omitempty"`    // assistant

	Call   CallID `json:"call,omitempty"`   // tool: the call it answers
	Ref    string `json:"ref,omitempty"`    // tool: the provider's id for that call
	Tool   string `json:"tool,omitempty"`   // tool: its name
	Failed bool   `json:"failed,omitempty"` // tool
}

// A ToolSpec is a tool as the model is offered it.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"` // JSON Schema, an object
}

// A ThinkingLevel says how much a model should reason. Empty leaves it to the
// provider.
type ThinkingLevel string

// The thinking levels.
const (
	ThinkingOff     ThinkingLevel = "off"
	ThinkingMinimal ThinkingLevel = "minimal"
	ThinkingLow     ThinkingLevel = "low"
	ThinkingMedium  ThinkingLevel = "medium"
	ThinkingHigh    ThinkingLevel = "high"
	ThinkingXHigh   ThinkingLevel = "xhigh"
)

// A Chunk is a piece of a streamed answer: exactly one of its fields is set.
type Chunk struct {
	Text     string  // more text
	Thinking string  // more reasoning
	Anew     bool    // the answer broke off and is begun anew; what came before is void
	Unseen   int     // bytes of the answer that came and are not shown: of calls, and of reasoning kept secret
	Finish   *Finish // the end, with the whole answer
}

// A Finish ends a stream with the whole answer. Text equals the joined text
// chunks since the last one that said Anew. Calls have Tool, Ref, and Args or Raw; the ID is given by the turn.
type Finish struct {
	Text     string
	Thinking []Thinking
	Calls    []CallSpec
	Stop     StopReason
	Model    string // the model that answered, if the provider tells
	Served   string // provider/model that was asked, where that is not the one of the request
	Since    string // why another one was asked, in words for people; empty if nothing was wrong
	Usage    TokenUsage
	Charge   Charge
	Known    bool // the answer was known: nobody was asked, and no row of the ledger tells of it
}

// StopReason says why a model stopped.
type StopReason string

// The reasons to stop. Whether there are calls decides what comes next, not
// the reason: providers disagree on it.
const (
	StopEnd     StopReason = "end"     // it had said what it wanted
	StopCalls   StopReason = "calls"   // it wants tools
	StopLength  StopReason = "length"  // the limit of output; the last call may be cut off
	StopRefusal StopReason = "refusal" // it, or a filter, declined
)

// A ProviderError is a request that a provider did not fulfil.
type ProviderError struct {
	Provider  string        // its configured name
	Kind      Kind          // Invalid, NotFound, Denied (key), Exhausted (rate, quota), Unavailable, Unsupported
	Status    int           // of HTTP; 0 when no answer came
	Retryable bool          // the same request may succeed later
	After     time.Duration // how long to wait, if the provider said so
	Overflow  bool          // the prompt was too large for the model
	Cut       bool          // the stream ended before its end
	Unpaid    bool          // nothing was done for the request: it was refused, or did not get there
	Msg       string        // what the provider said, on one line, without secrets
	Err       error         // the cause
}

// Error names the provider, the status, unless that is of success, and what it
// said.
func (e *ProviderError) Error() string {
	s := e.Provider
	if e.Status >= 300 {
		s += fmt.Sprintf(" answered %d", e.Status)
	}
	return s + ": " + e.Msg
}

// Unwrap returns the cause.
func (e *ProviderError) Unwrap() error { return e.Err }

// A Model describes one model of a provider.
type Model struct {
	Provider  string `json:"provider"`
	Name      string `json:"name"`
	Window    int    `json:"window"`          // tokens of prompt and answer; 0 when not known
	MaxOutput int    `json:"max_output"`      // tokens; 0 when not known
	Price     *Price `json:"price,omitempty"` // nil when not known

	// Abilities are what the model is known to be able to do; nil when that is
	// not known.
	Abilities []Ability `json:"abilities,omitempty"`

	// Sources say where each value is from, by its name in JSON.
	Sources map[string]string `json:"sources,omitempty"`
}

// An Ability is something that some models can do and others cannot.
type Ability string

// The abilities.
const (
	AbleTools    Ability = "tools"    // calls tools
	AbleParallel Ability = "parallel" // makes several calls in one answer
	AbleImages   Ability = "images"   // sees images
	AbleThinking Ability = "thinking" // reasons ahead of the answer, as much as is asked for
	AbleCache    Ability = "cache"    // reads a prompt that it read before from a cache
	AbleStrict   Ability = "strict"   // keeps to the schema of a tool's arguments
)
