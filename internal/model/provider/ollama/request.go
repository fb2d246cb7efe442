package ollama

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"chela"
	"chela/internal/model/provider/wire"
)

// A request is the body of a step.
type request struct {
	Model    string    `json:"model"`
	Messages []message `json:"messages"`
	Tools    []tool    `json:"tools,omitempty"`
	Stream   bool      `json:"stream"`
	Think    any       `json:"think,omitempty"` // a bool, or the name of a level

	// Unless both are false, a prompt that does not fit is silently cut, and an
	// answer that does not fit pushes the prompt out; see
	// https://github.com/ollama/ollama/issues/3839.
	Truncate bool `json:"truncate"`
	Shift    bool `json:"shift"`

	Format json.RawMessage `json:"format,omitempty"` // "json", or a schema

	Options options `json:"options"`
}

type options struct {
	NumCtx     int `json:"num_ctx"`
	NumPredict int `json:"num_predict,omitempty"`
	sampling
}

type message struct {
	Role       string   `json:"role"`
	Content    string   `json:"content"`
	Thinking   string   `json:"thinking,omitempty"`
	Images     [][]byte `json:"images,omitempty"`
	Calls      []call   `json:"tool_calls,omitempty"`
	ToolName   string   `json:"tool_name,omitempty"`
	ToolCallID string   `json:"tool_call_id,omitempty"`
}

type call struct {
	ID       string   `json:"id"`
	Function function `json:"function"`
}

type function struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type tool struct {
	Type     string   `json:"type"`
	Function toolSpec `json:"function"`
}

type toolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// refShape is the form of a call id. The protocol accepts any.
var refShape = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// body returns the request for a step.
func (p *Provider) body(ctx context.Context, req *chela.Request, m model) (*request, error) {
	body := &request{Model: req.Model, Stream: !req.Plain, Think: think(req.Thinking, m)}
	for _, t := range req.Tools {
		made, err := p.tool(t)
		if err != nil {
			return nil, err
		}
		body.Tools = append(body.Tools, made)
	}
	if strings.TrimSpace(req.System) != "" {
		body.Messages = append(body.Messages, message{Role: "system", Content: strings.ToValidUTF8(req.System, "\uFFFD")})
	}
	messages, err := p.messages(ctx, req, m)
	if err != nil {
		return nil, err
	}
	body.Messages = append(body.Messages, messages...)
	tokens := req.Tokens
	if tokens == 0 {
		tokens = body.tokens()
	}
	body.Options = options{NumCtx: p.roomFor(m, tokens, req.MaxTokens), NumPredict: req.MaxTokens}
	body.sample(req.Sampling)
	return body, nil
}

// tokens estimates the tokens of a request, erring on the high side.
func (r *request) tokens() int {
	const perImage, bytesOfToken = 1_500, 3
	size, images := 0, 0
	for _, m := range r.Messages {
		size += len(m.Content) + len(m.Thinking)
		images += len(m.Images)
		for _, c := range m.Calls {
			size += len(c.Function.Name) + len(c.Function.Arguments)
		}
	}
	for _, t := range r.Tools {
		size += len(t.Function.Name) + len(t.Function.Description) + len(t.Function.Parameters)
	}
	return size/bytesOfToken + images*perImage
}

func (p *Provider) tool(t chela.ToolSpec) (tool, error) {
	schema := json.RawMessage(`{"type":"object","properties":{}}`)
	if len(t.Input) > 0 && string(t.Input) != "null" {
		if v, ok := wire.Object(t.Input); !ok || !v.IsObject() {
			return tool{}, p.guard.Unsent(chela.Invalid, fmt.Sprintf("schema of tool %q is not a JSON object", t.Name))
		}
		schema = t.Input
	}
	return tool{Type: "function", Function: toolSpec{Name: t.Name, Description: t.Description, Parameters: schema}}, nil
}

// levels maps levels for models that take one, the gpt-oss family, which always
// think. See https://docs.ollama.com/capabilities/thinking.
var levels = map[chela.ThinkingLevel]string{
	chela.ThinkingOff:     "low",
	chela.ThinkingMinimal: "low",
	chela.ThinkingLow:     "low",
	chela.ThinkingMedium:  "medium",
	chela.ThinkingHigh:    "high",
	chela.ThinkingXHigh:   "high",
}

// think returns the think member: a level, true or false, or nil for the
// model's default. Models without thinking reject the member.
func think(level chela.ThinkingLevel, m model) any {
	switch {
	case level == "" || !m.can("thinking"):
		return nil
	case strings.ReplaceAll(m.family, "-", "") == "gptoss":
		return levels[level]
	default:
		return level != chela.ThinkingOff
	}
}

// messages returns the conversation. Images of results follow in a user message
// after all results of the step, because few templates support them in results.
func (p *Provider) messages(ctx context.Context, req *chela.Request, m model) ([]message, error) {
	var c conversation
	for _, said := range wire.Whole(req.Messages, refShape.MatchString) {
		if said.Role != chela.RoleTool {
			c.show()
		}
		if said.Role == chela.RoleAssistant {
			c.list = append(c.list, assistant(said))
			continue
		}
		parts, err := p.guard.Parts(ctx, req, said)
		if err != nil {
			return nil, err
		}
		parts = seen(parts, m)
		if said.Role == chela.RoleUser {
			c.user(parts)
			continue
		}
		text, images := wire.Aside(said, parts)
		c.list = append(c.list, message{Role: "tool", Content: text, ToolName: said.Tool, ToolCallID: said.Ref})
		c.images = append(c.images, images...)
	}
	c.show()
	if n := len(c.list); n > 0 && c.list[n-1].Role == "assistant" {
		c.list = append(c.list, message{Role: "user", Content: "(go on)"}) // otherwise the model continues its own message
	}
	return c.list, nil
}

// A conversation is the messages of a request.
type conversation struct {
	list   []message
	images []wire.Part // of results; each follows a line with its source
}

// user appends a user message with its images.
func (c *conversation) user(parts []wire.Part) {
	m := message{Role: "user"}
	var texts []string
	for _, part := range parts {
		if part.Image != nil {
			m.Images = append(m.Images, part.Image)
		} else {
			texts = append(texts, part.Text)
		}
	}
	m.Content = strings.Join(texts, "\n")
	c.list = append(c.list, m)
}

// show appends the deferred images of results.
func (c *conversation) show() {
	if len(c.images) > 0 {
		c.user(c.images)
		c.images = nil
	}
}

// seen returns the parts that a model can read: for a model without vision,
// images become a line of text.
func seen(parts []wire.Part, m model) []wire.Part {
	if m.abilities == nil || m.can("vision") {
		return parts
	}
	for i, part := range parts {
		if part.Image != nil {
			parts[i] = wire.Part{Text: fmt.Sprintf("<attachment type=%q/> (an image, which this model cannot see)", part.MediaType)}
		}
	}
	return parts
}

// assistant returns a past answer of the model, with its own thinking.
func assistant(said chela.Message) message {
	m := message{Role: "assistant", Content: said.Text}
	for _, t := range said.Thinking {
		if t.Provider == kind {
			m.Thinking += t.Text
		}
	}
	for _, c := range said.Calls {
		m.Calls = append(m.Calls, call{ID: c.Ref, Function: function{Name: c.Tool, Arguments: c.Args}})
	}
	return m
}
