package wire

import "chela"

// chatFormat makes chat completions; see
// https://platform.openai.com/docs/api-reference/chat/object.
type chatFormat struct {
	model   string
	created int64
	usage   bool // a stream tells it too
}

// A chatHead is what a completion and each piece of one begin with.
type chatHead struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Model   string `json:"model"`
}

func (f chatFormat) head(id, object string) chatHead {
	return chatHead{ID: "chatcmpl-" + id, Object: object, Created: f.created, Model: f.model}
}

type completion struct {
	chatHead
	Choices []chatChoice `json:"choices"`
	Usage   *chatUsage   `json:"usage"`
	Chela   *About       `json:"chela,omitempty"`
}

type chatChoice struct {
	Index        int        `json:"index"`
	Message      chatAnswer `json:"message"`
	Logprobs     *struct{}  `json:"logprobs"` // always null
	FinishReason string     `json:"finish_reason"`
}

type chatAnswer struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"`
	Refusal   *string    `json:"refusal"` // always null
	ToolCalls []chatCall `json:"tool_calls,omitempty"`
}

type chatUsage struct {
	Prompt        int64 `json:"prompt_tokens"`
	Completion    int64 `json:"completion_tokens"`
	Total         int64 `json:"total_tokens"`
	PromptDetails struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func chatUsageOf(u chela.TokenUsage) *chatUsage {
	c := &chatUsage{Prompt: u.Input + u.CacheRead + u.CacheWrite, Completion: u.Output, Total: u.Total()}
	c.PromptDetails.Cached = u.CacheRead
	c.CompletionDetails.Reasoning = u.Reasoning
	return c
}

// finishReason returns a reason to stop as chat completions name it.
func finishReason(s chela.StopReason) string {
	switch s {
	case chela.StopCalls:
		return "tool_calls"
	case chela.StopLength:
		return "length"
	case chela.StopRefusal:
		return "content_filter"
	default:
		return "stop"
	}
}

func chatCalls(calls []chela.CallSpec) []chatCall {
	var told []chatCall
	for _, c := range calls {
		told = append(told, chatCall{ID: c.Ref, Type: "function", Function: chatCallFunction{c.Tool, Arguments(c)}})
	}
	return told
}

func (f chatFormat) whole(rep Reply) any {
	answer := chatAnswer{Role: "assistant", Content: &rep.Text, ToolCalls: chatCalls(rep.Calls)}
	if rep.Text == "" && len(rep.Calls) > 0 {
		answer.Content = nil
	}
	return completion{
		chatHead: f.head(rep.ID, "chat.completion"),
		Choices:  []chatChoice{{Message: answer, FinishReason: finishReason(rep.Stop)}},
		Usage:    chatUsageOf(rep.Usage), Chela: rep.About,
	}
}

// A chatChunk is one event of a stream.
type chatChunk struct {
	chatHead
	Choices []chatChunkChoice `json:"choices"`
	Usage   *chatUsage        `json:"usage,omitempty"`
	Chela   *About            `json:"chela,omitempty"`
}

type chatChunkChoice struct {
	Index        int       `json:"index"`
	Delta        chatDelta `json:"delta"`
	FinishReason *string   `json:"finish_reason"`
}

type chatDelta struct {
	Role      string     `json:"role,omitempty"`
	Content   *string    `json:"content,omitempty"`
	ToolCalls []chatCall `json:"tool_calls,omitempty"`
}

// A chatStream is a chat completion in pieces.
type chatStream struct {
	out   *sse
	usage bool
	chunk chatChunk // the next one; it has one choice
}

func (f chatFormat) begin(out *sse, id string) pieces {
	s := &chatStream{out: out, usage: f.usage, chunk: chatChunk{
		chatHead: f.head(id, "chat.completion.chunk"), Choices: make([]chatChunkChoice, 1),
	}}
	s.send(chatDelta{Role: "assistant", Content: new("")}, nil)
	return s
}

func (s *chatStream) send(d chatDelta, finish *string) {
	s.chunk.Choices[0] = chatChunkChoice{Delta: d, FinishReason: finish}
	s.out.send("", &s.chunk)
}

func (s *chatStream) say(text string) { s.send(chatDelta{Content: &text}, nil) }

func (s *chatStream) end(rep Reply) {
	for i, c := range chatCalls(rep.Calls) {
		c.Index = &i
		s.send(chatDelta{ToolCalls: []chatCall{c}}, nil)
	}
	s.chunk.Chela = rep.About
	s.send(chatDelta{}, new(finishReason(rep.Stop)))
	if s.usage {
		s.chunk.Choices, s.chunk.Usage = []chatChunkChoice{}, chatUsageOf(rep.Usage)
		s.out.send("", &s.chunk)
	}
	s.out.line("data: [DONE]")
}

func (s *chatStream) fail(err error) {
	p, _ := problemOf(err)
	s.out.send("", problemBody{p})
}
