package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"chela"
)

// A responsesRequest is the body of a request for a response; see
// https://platform.openai.com/docs/api-reference/responses/create.
type responsesRequest struct {
	parameters
	Model        string            `json:"model"`
	Input        json.RawMessage   `json:"input"`
	Instructions string            `json:"instructions"`
	Previous     string            `json:"previous_response_id"`
	Conversation conversation      `json:"conversation"`
	CacheKey     string            `json:"prompt_cache_key"`
	Metadata     map[string]string `json:"metadata"`
	Stream       bool              `json:"stream"`
	Tools        []responsesTool   `json:"tools"`
	ToolChoice   json.RawMessage   `json:"tool_choice"`
	MaxOutput    *int              `json:"max_output_tokens"`
	Reasoning    struct {
		Effort string `json:"effort"`
	} `json:"reasoning"`
	Text struct {
		Verbosity string       `json:"verbosity"`
		Format    answerFormat `json:"format"`
	} `json:"text"`

	// Unsupported fields.
	Background  bool  `json:"background"`
	Prompt      given `json:"prompt"`
	TopLogprobs int   `json:"top_logprobs"`
}

// A conversation names a session: a text, or an object with an id.
type conversation string

// UnmarshalJSON implements json.Unmarshaler.
func (c *conversation) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		var one named
		err := json.Unmarshal(b, &one)
		*c = conversation(one.ID)
		return err
	}
	return json.Unmarshal(b, (*string)(c))
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

func (c *responsesRequest) request(created int64) (*Request, error) {
	q := &Request{
		Model: c.Model, CacheKey: c.CacheKey, Conversation: string(c.Conversation), Streamed: c.Stream, Previous: c.Previous,
		format: responsesFormat{asked: c, created: created},
	}
	err := cmp.Or(
		c.check(), c.set(q), q.setVerbosity("text.verbosity", c.Text.Verbosity),
		q.setFormat("text.format", c.Text.Format.Type, c.Text.Format.Format),
		q.setEffort("reasoning.effort", c.Reasoning.Effort), q.setLimit("max_output_tokens", c.MaxOutput), c.offer(q),
	)
	if err != nil {
		return nil, err
	}
	return q, c.listen(q)
}

// check refuses unsupported fields that would change the meaning of the answer.
func (c *responsesRequest) check() error {
	switch {
	case c.Model == "":
		return Wrong("model", "is missing")
	case isNull(c.Input):
		return Wrong("input", "is missing")
	case c.Background:
		return Unsupported("background", "answers are not kept to be fetched; send the message to POST /api/messages instead")
	case bool(c.Prompt):
		return Unsupported("prompt", "there are no stored prompts")
	case c.TopLogprobs > 0:
		return Unsupported("top_logprobs", "responses have no log probabilities; use /v1/chat/completions")
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

// listen adds the input: a text, or a list of items.
func (c *responsesRequest) listen(q *Request) error {
	if c.Input[0] == '"' {
		q.Said = []Item{{Role: chela.RoleUser, Text: unquote(c.Input), Param: "input"}}
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
	said := make([]Item, 0, len(items))
	for i, item := range items {
		s, err := item.said(fmt.Sprintf("input[%d]", i))
		if err != nil {
			return err
		}
		if s.Role != "" {
			said = append(said, s)
		}
	}
	q.Said = merged(said)
	c.instruct(q)
	return nil
}

// instruct puts the instructions before the new part: they apply to one
// response, and are not carried over to the next.
func (c *responsesRequest) instruct(q *Request) {
	if c.Instructions != "" {
		q.Said = slices.Insert(q.Said, q.Fresh(), Item{Role: RoleSystem, Text: c.Instructions, Param: "instructions"})
	}
}

// merged returns items as messages: neighbouring items of the assistant are one.
func merged(items []Item) []Item {
	said := make([]Item, 0, len(items))
	for len(items) > 0 {
		n := 1
		for items[0].Role == chela.RoleAssistant && n < len(items) && items[n].Role == chela.RoleAssistant {
			n++
		}
		said = append(said, joined(items[:n]))
		items = items[n:]
	}
	return said
}

// joined returns items of one role, at least one, as one message.
func joined(items []Item) Item {
	one := items[0]
	if len(items) == 1 {
		return one
	}
	var texts TextBuilder
	one.Calls = nil
	for _, s := range items {
		texts.Add(s.Text)
		one.Calls = append(one.Calls, s.Calls...)
	}
	one.Text = texts.String()
	return one
}

// said returns an item in the form that both have in common. Reasoning has
// none: the journal has it.
func (i *inputItem) said(param string) (Item, error) {
	switch i.Type {
	case "", "message":
		m := chatMessage{Role: i.Role, Content: i.Content}
		if m.Role == "tool" {
			return Item{}, Wrong(param+".role", `a result is an item of type "function_call_output"`)
		}
		return m.said(param)
	case "function_call":
		if i.CallID == "" || i.Name == "" {
			return Item{}, Wrong(param, "must have call_id and name")
		}
		return Item{Role: chela.RoleAssistant, Calls: []chela.CallSpec{called(i.CallID, i.Name, i.Arguments)}, Param: param}, nil
	case "function_call_output":
		s := Item{Role: chela.RoleTool, Ref: i.CallID, Param: param}
		if s.Ref == "" {
			return s, Wrong(param+".call_id", "is missing")
		}
		return s, s.addContent(i.Output, param+".output")
	case "reasoning":
		return Item{}, nil
	default:
		return Item{}, Unsupported(param+".type", fmt.Sprintf("items of type %.40q are not taken", i.Type))
	}
}
