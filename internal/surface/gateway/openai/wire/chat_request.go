package wire

import (
	"cmp"
	"encoding/json"
	"fmt"

	"chela"
)

// A chatRequest is the body of a request for a chat completion; see
// https://platform.openai.com/docs/api-reference/chat/create.
type chatRequest struct {
	parameters
	Model         string          `json:"model"`
	Messages      []chatMessage   `json:"messages"`
	CacheKey      string          `json:"prompt_cache_key"`
	Stream        bool            `json:"stream"`
	StreamOptions streamOptions   `json:"stream_options"`
	Tools         []chatTool      `json:"tools"`
	ToolChoice    json.RawMessage `json:"tool_choice"`
	MaxTokens     *int            `json:"max_tokens"`
	MaxCompletion *int            `json:"max_completion_tokens"`
	Effort        string          `json:"reasoning_effort"`
	Format        struct {
		Type   string       `json:"type"`
		Schema chela.Format `json:"json_schema"`
	} `json:"response_format"`

	N           *int `json:"n"`
	Logprobs    bool `json:"logprobs"`
	TopLogprobs int  `json:"top_logprobs"`

	// Unsupported fields.
	Modalities     []string `json:"modalities"`
	Audio          given    `json:"audio"`
	WebSearch      given    `json:"web_search_options"`
	Functions      given    `json:"functions"`
	FunctionCall   given    `json:"function_call"`
	PreviousAnswer given    `json:"previous_response_id"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatMessage struct {
	Role         string          `json:"role"`
	Content      json.RawMessage `json:"content"`
	ToolCalls    []chatCall      `json:"tool_calls"`
	ToolCallID   string          `json:"tool_call_id"`
	FunctionCall given           `json:"function_call"`
	Refusal      string          `json:"refusal"`
}

type chatTool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

// A chatCall is a call of a tool, in requests and in answers.
type chatCall struct {
	Index    *int             `json:"index,omitempty"` // in a stream
	ID       string           `json:"id"`
	Type     string           `json:"type"`
	Function chatCallFunction `json:"function"`
}

type chatCallFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// maxChoices bounds the choices of an answer, and maxTopLogprobs the tokens whose log
// probabilities are told at each place.
const (
	maxChoices     = 16
	maxTopLogprobs = 20
)

func (c *chatRequest) request(created int64) (*Request, error) {
	q := &Request{
		Model: c.Model, CacheKey: c.CacheKey, Streamed: c.Stream,
		format: chatFormat{model: c.Model, created: created, usage: c.StreamOptions.IncludeUsage},
	}
	limit, most := "max_completion_tokens", c.MaxCompletion
	if most == nil {
		limit, most = "max_tokens", c.MaxTokens
	}
	err := cmp.Or(
		c.check(), c.set(q), q.setEffort("reasoning_effort", c.Effort), q.setLimit(limit, most),
		q.setFormat("response_format", c.Format.Type, c.Format.Schema), c.offer(q),
	)
	if err != nil {
		return nil, err
	}
	if c.N != nil && *c.N > 1 {
		q.Sampling.Choices = *c.N
	}
	if c.Logprobs {
		q.Sampling.TopLogprobs = &c.TopLogprobs
	}
	q.Said = make([]Item, 0, len(c.Messages))
	for i := range c.Messages {
		s, err := c.Messages[i].said(fmt.Sprintf("messages[%d]", i))
		if err != nil {
			return nil, err
		}
		q.Said = append(q.Said, s)
	}
	return q, nil
}

// check refuses unsupported fields that would change the meaning of the answer.
func (c *chatRequest) check() error {
	switch {
	case c.Model == "":
		return Wrong("model", "is missing")
	case len(c.Messages) == 0:
		return Wrong("messages", "is empty")
	case c.N != nil && (*c.N < 1 || *c.N > maxChoices):
		return Wrong("n", fmt.Sprintf("must be between 1 and %d", maxChoices))
	case c.TopLogprobs < 0 || c.TopLogprobs > maxTopLogprobs:
		return Wrong("top_logprobs", fmt.Sprintf("must be between 0 and %d", maxTopLogprobs))
	case c.TopLogprobs > 0 && !c.Logprobs:
		return Wrong("top_logprobs", "needs logprobs to be true")
	case bool(c.Audio), len(c.Modalities) > 1, len(c.Modalities) == 1 && c.Modalities[0] != "text":
		return Unsupported("modalities", "answers are text only")
	case bool(c.WebSearch):
		return Unsupported("web_search_options", "this is not OpenAI's search; an agent searches with its own tools")
	case bool(c.Functions) || bool(c.FunctionCall):
		return Unsupported("functions", "use tools")
	case bool(c.PreviousAnswer):
		return Unsupported("previous_response_id", "belongs to /v1/responses")
	}
	return nil
}

// offer adds the tools that the client runs.
func (c *chatRequest) offer(q *Request) error {
	for i, t := range c.Tools {
		if err := q.offer(i, t.Type, t.Function, ".function"); err != nil {
			return err
		}
	}
	return q.choose(c.ToolChoice)
}

// said returns a message in the form that both have in common.
func (m *chatMessage) said(param string) (Item, error) {
	s := Item{Param: param}
	switch m.Role {
	case "system", "developer":
		s.Role = RoleSystem
	case "user":
		s.Role = chela.RoleUser
	case "assistant":
		s.Role = chela.RoleAssistant
	case "tool":
		s.Role, s.Ref = chela.RoleTool, m.ToolCallID
		if s.Ref == "" {
			return s, Wrong(param+".tool_call_id", "is missing")
		}
	case "":
		return s, Wrong(param+".role", "is missing")
	default:
		return s, Wrong(param+".role", fmt.Sprintf("%.40q is no role", m.Role))
	}
	if bool(m.FunctionCall) {
		return s, Unsupported(param+".function_call", "use tool_calls")
	}
	for i, c := range m.ToolCalls {
		if s.Role != chela.RoleAssistant || c.ID == "" || c.Type != "" && c.Type != "function" || c.Function.Name == "" {
			return s, Wrong(fmt.Sprintf("%s.tool_calls[%d]", param, i), "must be a call of a function by the assistant, with its id")
		}
		s.Calls = append(s.Calls, called(c.ID, c.Function.Name, c.Function.Arguments))
	}
	if err := s.addContent(m.Content, param+".content"); err != nil {
		return s, err
	}
	if s.Text == "" {
		s.Text = m.Refusal
	}
	return s, nil
}

// called returns a call as it was told to the client.
func called(ref, tool, args string) chela.CallSpec {
	c := chela.CallSpec{Ref: ref, Tool: tool}
	switch raw := json.RawMessage(args); {
	case args == "":
		c.Args = json.RawMessage(`{}`)
	case json.Valid(raw):
		c.Args = raw
	default:
		c.Raw = args
	}
	return c
}
