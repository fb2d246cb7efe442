package bedrock

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"chela"
	"chela/internal/model/provider/wire"
)

// A request is the body of a step; see
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html.
type request struct {
	Tools     *toolConfig    `json:"toolConfig,omitempty"`
	System    []block        `json:"system,omitempty"`
	Inference *inference     `json:"inferenceConfig,omitempty"`
	Fields    map[string]any `json:"additionalModelRequestFields,omitempty"`
	Output    *outputConfig  `json:"outputConfig,omitempty"`
	Messages  []message      `json:"messages"`
}

type inference struct {
	MaxTokens   int      `json:"maxTokens,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"topP,omitempty"`
	Stop        []string `json:"stopSequences,omitempty"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// A block is a part of a message. Exactly one field is set.
type block struct {
	Text       string      `json:"text,omitempty"`
	Image      *image      `json:"image,omitempty"`
	ToolUse    *toolUse    `json:"toolUse,omitempty"`
	ToolResult *toolResult `json:"toolResult,omitempty"`
	Reasoning  *reasoning  `json:"reasoningContent,omitempty"`
	CachePoint *cachePoint `json:"cachePoint,omitempty"`
}

type image struct {
	Format string `json:"format"`
	Source struct {
		Bytes []byte `json:"bytes"`
	} `json:"source"`
}

type toolUse struct {
	ID    string          `json:"toolUseId"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type toolResult struct {
	ID      string  `json:"toolUseId"`
	Content []block `json:"content"`
	Status  string  `json:"status,omitempty"`
}

type reasoning struct {
	Text     *reasoningText `json:"reasoningText,omitempty"`
	Redacted string         `json:"redactedContent,omitempty"`
}

type reasoningText struct {
	Text      string `json:"text"`
	Signature string `json:"signature,omitempty"`
}

type cachePoint struct {
	Type string `json:"type"`
}

type toolConfig struct {
	Tools  []tool      `json:"tools"`
	Choice *toolChoice `json:"toolChoice,omitempty"`
}

type tool struct {
	Spec       *toolSpec   `json:"toolSpec,omitempty"`
	CachePoint *cachePoint `json:"cachePoint,omitempty"`
}

type toolSpec struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	InputSchema struct {
		JSON json.RawMessage `json:"json"`
	} `json:"inputSchema"`
}

// refShape is the accepted form of a call id.
var refShape = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// mark is a cache breakpoint.
func mark() *cachePoint { return &cachePoint{Type: "default"} }

// body builds the request of a step. For models with prompt caching,
// breakpoints follow the tools, the system prompt and the newest message, so
// that the next step reads everything before its own messages from the cache.
func (p *Provider) body(ctx context.Context, req *chela.Request) (*request, error) {
	r := &request{}
	if strings.TrimSpace(req.System) != "" {
		r.System = []block{{Text: strings.ToValidUTF8(req.System, "\uFFFD")}}
	}
	if req.MaxTokens > 0 {
		r.Inference = &inference{MaxTokens: req.MaxTokens}
	}
	var err error
	if r.Messages, err = p.messages(ctx, req); err != nil {
		return nil, err
	}
	if err := p.offer(r, req.Tools); err != nil {
		return nil, err
	}
	p.think(r, req)
	r.sample(req.Sampling)
	if !mayMark(req.Model) {
		return r, nil
	}
	if r.Tools != nil && isClaude(req.Model) {
		r.Tools.Tools = append(r.Tools.Tools, tool{CachePoint: mark()})
	}
	if len(r.System) > 0 {
		r.System = append(r.System, block{CachePoint: mark()})
	}
	if n := len(r.Messages); n > 0 {
		r.Messages[n-1].Content = append(r.Messages[n-1].Content, block{CachePoint: mark()})
	}
	return r, nil
}

// offer adds the tools. If a request offers none, the tools of past calls are
// declared: the protocol rejects calls in a conversation without tools.
func (p *Provider) offer(r *request, tools []chela.ToolSpec) error {
	if len(tools) == 0 {
		for _, name := range called(r.Messages) {
			tools = append(tools, chela.ToolSpec{Name: name, Description: "Not to be called any more.", Input: json.RawMessage(`{"type":"object"}`)})
		}
	}
	for _, t := range tools {
		schema, ok := wire.Object(t.Input)
		if !ok {
			return p.guard.Unsent(chela.Invalid, fmt.Sprintf("schema of tool %q is not a JSON object", t.Name))
		}
		spec := &toolSpec{Name: t.Name, Description: t.Description}
		if spec.InputSchema.JSON = json.RawMessage(schema); !schema.IsObject() {
			spec.InputSchema.JSON = json.RawMessage(`{"type":"object"}`)
		}
		if r.Tools == nil {
			r.Tools = &toolConfig{}
		}
		r.Tools.Tools = append(r.Tools.Tools, tool{Spec: spec})
	}
	return nil
}

// called returns the names of the tools in past calls, in order.
func called(messages []message) []string {
	var names []string
	for _, m := range messages {
		for _, b := range m.Content {
			if b.ToolUse != nil && !slices.Contains(names, b.ToolUse.Name) {
				names = append(names, b.ToolUse.Name)
			}
		}
	}
	return names
}

// messages returns the conversation with alternating roles, beginning and
// ending with the user. Messages of people and tool results both have the role
// user, so neighbors are merged, with results first.
func (p *Provider) messages(ctx context.Context, req *chela.Request) ([]message, error) {
	var c conversation
	for _, m := range wire.Whole(req.Messages, refShape.MatchString) {
		if m.Role == chela.RoleAssistant {
			if len(c) == 0 {
				c.add("user", block{Text: "(the conversation goes on)"})
			}
			c.add("assistant", said(m)...)
			continue
		}
		parts, err := p.guard.Parts(ctx, req, m)
		if err != nil {
			return nil, err
		}
		blocks := shown(parts)
		if m.Role == chela.RoleTool {
			blocks = []block{{ToolResult: result(m, blocks)}}
		}
		c.add("user", blocks...)
	}
	if n := len(c); n > 0 && c[n-1].Role == "assistant" {
		c.add("user", block{Text: "(go on)"})
	}
	return c, nil
}

// A conversation is the messages of a request.
type conversation []message

// add appends blocks to the last message, or to a new one if the role differs.
func (c *conversation) add(role string, blocks ...block) {
	if n := len(*c); n > 0 && (*c)[n-1].Role == role {
		(*c)[n-1].Content = append((*c)[n-1].Content, blocks...)
		return
	}
	*c = append(*c, message{Role: role, Content: blocks})
}

// said returns a past answer of the model. Its own thinking goes first and
// unchanged; thinking of other providers is left out.
func said(m chela.Message) []block {
	var blocks []block
	for _, t := range m.Thinking {
		switch {
		case t.Provider != kind:
		case t.Redacted != "":
			blocks = append(blocks, block{Reasoning: &reasoning{Redacted: t.Redacted}})
		case t.Signature != "":
			blocks = append(blocks, block{Reasoning: &reasoning{Text: &reasoningText{Text: t.Text, Signature: t.Signature}}})
		}
	}
	if m.Text != "" {
		blocks = append(blocks, block{Text: m.Text})
	}
	for _, c := range m.Calls {
		blocks = append(blocks, block{ToolUse: &toolUse{ID: c.Ref, Name: c.Tool, Input: c.Args}})
	}
	return blocks
}

// result returns a tool result; the protocol rejects an empty one.
func result(m chela.Message, blocks []block) *toolResult {
	if len(blocks) == 0 {
		blocks = []block{{Text: "(no text)"}}
	}
	r := &toolResult{ID: m.Ref, Content: blocks}
	if m.Failed {
		r.Status = "error"
	}
	return r
}

func shown(parts []wire.Part) []block {
	var blocks []block
	for _, part := range parts {
		if part.Image == nil {
			blocks = append(blocks, block{Text: part.Text})
			continue
		}
		i := &image{Format: strings.TrimPrefix(part.MediaType, "image/")}
		i.Source.Bytes = part.Image
		blocks = append(blocks, block{Image: i})
	}
	return blocks
}
