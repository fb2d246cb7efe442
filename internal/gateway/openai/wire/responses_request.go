package wire

import (
	"encoding/json"
	"fmt"
	"slices"

	"chela"
)

// A responsesRequest is the body of a request for a response; see
// https://platform.openai.com/docs/api-reference/responses/create.
type responsesRequest struct {
	knobs
	Model        string            `json:"model"`
	Input        json.RawMessage   `json:"input"`
	Instructions string            `json:"instructions"`
	Previous     string            `json:"previous_response_id"`
	User         string            `json:"user"`
	Metadata     map[string]string `json:"metadata"`
	Stream       bool              `json:"stream"`
	Tools        []responsesTool   `json:"tools"`
	ToolChoice   json.RawMessage   `json:"tool_choice"`
	MaxOutput    *int              `json:"max_output_tokens"`
	Reasoning    struct {
		Effort string `json:"effort"`
	} `json:"reasoning"`
	Text struct {
		Format typedNode `json:"format"`
	} `json:"text"`

	// What cannot be done.
	Background   bool  `json:"background"`
	Conversation given `json:"conversation"`
	Prompt       given `json:"prompt"`
	TopLogprobs  int   `json:"top_logprobs"`
}

type responsesTool struct {
	Type string `json:"type"`
	function
}

// An inputItem is one thing of the input.
type inputItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
}

func (c *responsesRequest) request() (*Request, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	q := &Request{Model: c.Model, User: c.User, Streamed: c.Stream, Previous: c.Previous, Ignored: c.without()}
	if err := q.setEffort("reasoning.effort", c.Reasoning.Effort); err != nil {
		return nil, err
	}
	if err := q.setLimit("max_output_tokens", c.MaxOutput); err != nil {
		return nil, err
	}
	if err := c.offer(q); err != nil {
		return nil, err
	}
	return q, c.listen(q)
}

// check refuses what would make the answer another one than was asked for.
func (c *responsesRequest) check() error {
	switch {
	case c.Model == "":
		return Wrong("model", "is missing")
	case isNull(c.Input):
		return Wrong("input", "is missing")
	case c.Background:
		return Unsupported("background", "answers are not kept to be fetched; send the message to POST /api/messages instead")
	case bool(c.Conversation):
		return Unsupported("conversation", "use previous_response_id, or the header X-Chela-Session")
	case bool(c.Prompt):
		return Unsupported("prompt", "there are no stored prompts")
	case c.TopLogprobs > 0:
		return Unsupported("top_logprobs", "there are no log probabilities")
	case c.Text.Format.Type != "" && c.Text.Format.Type != "text":
		return Unsupported("text.format", fmt.Sprintf("answers are text only, not %.40q; offer a tool that takes the wanted form", c.Text.Format.Type))
	}
	return nil
}

// offer adds the tools that the client runs.
func (c *responsesRequest) offer(q *Request) error {
	for i, t := range c.Tools {
		if err := q.offer(i, t.Type, t.function, ""); err != nil {
			return err
		}
	}
	return q.choose(c.ToolChoice)
}

// listen adds what the input says: a text, or a list of items.
func (c *responsesRequest) listen(q *Request) error {
	if c.Input[0] == '"' {
		q.Said = []Said{{Role: RoleUser, Text: unquote(c.Input), Param: "input"}}
		c.instruct(q)
		return nil
	}
	var items []inputItem
	if c.Input[0] != '[' || json.Unmarshal(c.Input, &items) != nil {
		return Wrong("input", "must be a text or a list of items")
	}
	if len(items) == 0 {
		return Wrong("input", "is empty")
	}
	for i, item := range items {
		s, err := item.said(fmt.Sprintf("input[%d]", i))
		if err != nil {
			return err
		}
		q.hear(s)
	}
	c.instruct(q)
	return nil
}

// instruct puts the instructions in front of what is new: they hold for one
// response, and are not carried over to the next.
func (c *responsesRequest) instruct(q *Request) {
	if c.Instructions != "" {
		q.Said = slices.Insert(q.Said, q.Fresh(), Said{Role: RoleSystem, Text: c.Instructions, Param: "instructions"})
	}
}

// hear adds an item. What the assistant said in one go comes in several.
func (q *Request) hear(s Said) {
	if s.Role == "" {
		return
	}
	if n := len(q.Said); n > 0 && s.Role == RoleAssistant && q.Said[n-1].Role == RoleAssistant {
		last := &q.Said[n-1]
		last.Calls = append(last.Calls, s.Calls...)
		last.Text = Join(last.Text, s.Text)
		return
	}
	q.Said = append(q.Said, s)
}

// said returns an item in the form that both have in common. Reasoning has
// none: the journal has it.
func (i *inputItem) said(param string) (Said, error) {
	switch i.Type {
	case "", "message":
		m := chatMessage{Role: i.Role, Content: i.Content}
		if m.Role == "tool" {
			return Said{}, Wrong(param+".role", `a result is an item of type "function_call_output"`)
		}
		return m.said(param)
	case "function_call":
		if i.CallID == "" || i.Name == "" {
			return Said{}, Wrong(param, "must have call_id and name")
		}
		return Said{Role: RoleAssistant, Calls: []chela.CallSpec{called(i.CallID, i.Name, i.Arguments)}, Param: param}, nil
	case "function_call_output":
		s := Said{Role: RoleTool, Ref: i.CallID, Param: param}
		if s.Ref == "" {
			return s, Wrong(param+".call_id", "is missing")
		}
		return s, s.addContent(i.Output, param+".output")
	case "reasoning":
		return Said{}, nil
	default:
		return Said{}, Unsupported(param+".type", fmt.Sprintf("items of type %.40q are not taken", i.Type))
	}
}
