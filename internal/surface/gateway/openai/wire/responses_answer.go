package wire

import (
	"cmp"
	"encoding/json"

	"chela"
)

// responsesFormat makes responses; see
// https://platform.openai.com/docs/api-reference/responses/object.
type responsesFormat struct {
	asked   *responsesRequest
	created int64
}

type response struct {
	ID           string            `json:"id"`
	Object       string            `json:"object"`
	CreatedAt    int64             `json:"created_at"`
	Status       string            `json:"status"`
	Error        *responseError    `json:"error"`
	Incomplete   *incomplete       `json:"incomplete_details"`
	Instructions *string           `json:"instructions"`
	MaxOutput    *int              `json:"max_output_tokens"`
	Model        string            `json:"model"`
	Output       []outputItem      `json:"output"`
	Parallel     bool              `json:"parallel_tool_calls"`
	Previous     *string           `json:"previous_response_id"`
	Temperature  *float64          `json:"temperature"` // null: the provider's own
	TopP         *float64          `json:"top_p"`       // null: the provider's own
	Text         responseText      `json:"text"`
	ToolChoice   json.RawMessage   `json:"tool_choice"`
	Tools        []responseTool    `json:"tools"`
	Usage        *responseUsage    `json:"usage"`
	Metadata     map[string]string `json:"metadata"`
	Conversation *named            `json:"conversation,omitempty"`
	Chela        *About            `json:"chela,omitempty"`
}

// named is something that is told by its id alone.
type named struct {
	ID string `json:"id"`
}

type responseError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type incomplete struct {
	Reason string `json:"reason"`
}

type responseText struct {
	Format answerFormat `json:"format"`
}

// An answerFormat is the form that is asked for.
type answerFormat struct {
	Type string `json:"type"`
	chela.Format
}

type responseTool struct {
	responsesTool
	Strict bool `json:"strict"` // always false
}

// An outputItem is a message, or a call of a tool that the client runs.
type outputItem struct {
	ID        string        `json:"id"`
	Type      string        `json:"type"`
	Status    string        `json:"status"`
	Role      string        `json:"role,omitempty"`
	Content   *[]outputText `json:"content,omitempty"`
	CallID    string        `json:"call_id,omitempty"`
	Name      string        `json:"name,omitempty"`
	Arguments *string       `json:"arguments,omitempty"`
}

type outputText struct {
	Type        string     `json:"type"`
	Text        string     `json:"text"`
	Annotations []struct{} `json:"annotations"` // always empty
	Logprobs    []struct{} `json:"logprobs"`    // same
}

type responseUsage struct {
	Input        int64 `json:"input_tokens"`
	InputDetails struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	Output        int64 `json:"output_tokens"`
	OutputDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total int64 `json:"total_tokens"`
}

func responseUsageOf(u chela.TokenUsage) *responseUsage {
	r := &responseUsage{Input: u.Input + u.CacheRead + u.CacheWrite, Output: u.Output, Total: u.Total()}
	r.InputDetails.Cached = u.CacheRead
	r.OutputDetails.Reasoning = u.Reasoning
	return r
}

// empty returns a response that has not said anything yet.
func (f responsesFormat) empty(id string) response {
	r := response{
		ID: "resp_" + id, Object: "response", CreatedAt: f.created, Status: "in_progress", Model: f.asked.Model,
		MaxOutput: f.asked.MaxOutput, Output: []outputItem{}, Parallel: true, ToolChoice: f.asked.ToolChoice,
		Text: responseText{f.asked.Text.Format}, Temperature: f.asked.Temperature, TopP: f.asked.TopP, Tools: []responseTool{},
		Metadata: f.asked.Metadata,
	}
	r.Text.Format.Type = cmp.Or(r.Text.Format.Type, "text")
	if isNull(r.ToolChoice) {
		r.ToolChoice = json.RawMessage(`"auto"`)
	}
	if r.Metadata == nil {
		r.Metadata = map[string]string{}
	}
	if f.asked.Previous != "" {
		r.Previous = &f.asked.Previous
	}
	if f.asked.Conversation != "" {
		r.Conversation = &named{string(f.asked.Conversation)}
	}
	if f.asked.Instructions != "" {
		r.Instructions = &f.asked.Instructions
	}
	for _, t := range f.asked.Tools {
		r.Tools = append(r.Tools, responseTool{responsesTool: t})
	}
	return r
}

// finish fills in the result of a response.
func (r *response) finish(rep Reply) {
	r.Status, r.Usage, r.Chela = "completed", responseUsageOf(rep.Usage), rep.About
	switch {
	case rep.Stop == chela.StopLength:
		r.Status, r.Incomplete = "incomplete", &incomplete{"max_output_tokens"}
	case rep.Stop == chela.StopRefusal && len(rep.Calls) == 0:
		r.Status, r.Incomplete = "incomplete", &incomplete{"content_filter"}
	case rep.Interrupted:
		r.Status, r.Incomplete = "incomplete", &incomplete{"interrupted"}
	}
}

// fail ends a response with an error.
func (r *response) fail(err error) {
	p := problemOf(err)
	r.Status, r.Error = "failed", &responseError{Code: p.Code, Message: p.Message}
}

func (f responsesFormat) whole(rep Reply) any {
	r := f.empty(rep.ID)
	r.finish(rep)
	if rep.Text != "" || len(rep.Calls) == 0 {
		r.Output = append(r.Output, message(rep.ID, r.Status, textPart(rep.Text)))
	}
	for _, c := range rep.Calls {
		r.Output = append(r.Output, callItem(c, "completed", Arguments(c)))
	}
	return r
}

func message(id, status string, parts ...outputText) outputItem {
	if parts == nil {
		parts = []outputText{}
	}
	return outputItem{ID: "msg_" + id, Type: "message", Status: status, Role: "assistant", Content: &parts}
}

func textPart(text string) outputText {
	return outputText{Type: "output_text", Text: text, Annotations: []struct{}{}, Logprobs: []struct{}{}}
}

func callItem(c chela.CallSpec, status, args string) outputItem {
	return outputItem{ID: "fc_" + c.Ref, Type: "function_call", Status: status, CallID: c.Ref, Name: c.Tool, Arguments: &args}
}
