package anthropictest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"chela/internal/model/provider/providertest"
)

// request is the body of a request; a field that is not here is
// refused.
type request struct {
	Model        string    `json:"model"`
	MaxTokens    int       `json:"max_tokens"`
	Stream       bool      `json:"stream"`
	System       []block   `json:"system"`
	Messages     []message `json:"messages"`
	Tools        []tool    `json:"tools"`
	Thinking     *thinking `json:"thinking"`
	OutputConfig *struct {
		Effort string `json:"effort"`
	} `json:"output_config"`
}

type thinking struct {
	Type         string `json:"type"`
	BudgetTokens int    `json:"budget_tokens"`
	Display      string `json:"display"`
}

type tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"input_schema"`
	Strict       bool            `json:"strict"`
	CacheControl *mark           `json:"cache_control"`
}

type mark struct {
	Type string `json:"type"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

type block struct {
	Type         string          `json:"type"`
	Text         string          `json:"text"`
	Thinking     string          `json:"thinking"`
	Signature    string          `json:"signature"`
	Data         string          `json:"data"`
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	Input        json.RawMessage `json:"input"`
	ToolUseID    string          `json:"tool_use_id"`
	IsError      bool            `json:"is_error"`
	Content      []block         `json:"content"`
	CacheControl *mark           `json:"cache_control"`
	Source       *struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"source"`
}

func read(h http.Header, body []byte) (providertest.ReceivedRequest, error) {
	var req request
	if h.Get("X-Api-Key") != providertest.Key || h.Get("Anthropic-Version") != "2023-06-01" || h.Get("Content-Type") != "application/json" {
		return providertest.ReceivedRequest{}, errors.New("x-api-key, anthropic-version or content-type is missing")
	}
	if err := providertest.Strict(body, &req); err != nil {
		return providertest.ReceivedRequest{}, err
	}
	if req.Model == "" || req.MaxTokens < 1 || len(req.Messages) == 0 {
		return providertest.ReceivedRequest{}, errors.New("model, max_tokens or messages are missing")
	}
	if err := checkThinking(req); err != nil {
		return providertest.ReceivedRequest{}, err
	}
	r := reader{got: providertest.ReceivedRequest{Plain: !req.Stream, MaxTokens: req.MaxTokens}}
	if err := checkTools(req.Tools); err != nil {
		return providertest.ReceivedRequest{}, err
	}
	for _, tool := range req.Tools {
		r.mark(tool.CacheControl)
	}
	for _, b := range req.System {
		if b.Type != "text" || strings.TrimSpace(b.Text) == "" {
			return providertest.ReceivedRequest{}, fmt.Errorf("system has a block of type %q without text", b.Type)
		}
		r.mark(b.CacheControl)
		r.got.System += b.Text
	}
	if err := r.messages(req.Messages); err != nil {
		return providertest.ReceivedRequest{}, err
	}
	if n := len(req.Messages); n > 1 && req.Thinking != nil && req.Thinking.Type == "enabled" {
		said := req.Messages[n-2].Content
		if said[len(said)-1].Type == "tool_use" && !strings.HasSuffix(said[0].Type, "thinking") {
			return providertest.ReceivedRequest{}, fmt.Errorf("expected thinking, but found %q at the start of the last round of calls", said[0].Type)
		}
	}
	if r.got.Marks > 4 {
		return providertest.ReceivedRequest{}, fmt.Errorf("%d blocks with cache_control, at most 4 are allowed", r.got.Marks)
	}
	return r.got, nil
}

// checkTools refuses tools that the real server refuses.
func checkTools(tools []tool) error {
	strict := 0
	for _, t := range tools {
		if err := providertest.CheckTool(t.Name, t.InputSchema, 128); err != nil {
			return err
		}
		if !t.Strict {
			continue
		}
		strict++
		if err := providertest.CheckStrict(t.InputSchema); err != nil {
			return fmt.Errorf("tool %q: %w", t.Name, err)
		}
	}
	if strict > 20 {
		return fmt.Errorf("%d strict tools, at most 20 are allowed", strict)
	}
	return nil
}

func checkThinking(req request) error {
	if req.OutputConfig != nil && !slices.Contains([]string{"low", "medium", "high", "xhigh", "max"}, req.OutputConfig.Effort) {
		return fmt.Errorf("effort %q is unknown", req.OutputConfig.Effort)
	}
	t := req.Thinking
	switch {
	case t == nil:
		return nil
	case t.Type == "enabled" && (t.BudgetTokens < 1024 || t.BudgetTokens >= req.MaxTokens):
		return fmt.Errorf("budget_tokens %d must be from 1024 to below max_tokens %d", t.BudgetTokens, req.MaxTokens)
	case t.Type != "enabled" && t.BudgetTokens != 0:
		return fmt.Errorf("budget_tokens with thinking of type %q", t.Type)
	case !slices.Contains([]string{"enabled", "adaptive", "disabled", "between_tools"}, t.Type):
		return fmt.Errorf("thinking of type %q", t.Type)
	}
	return nil
}

// An reader walks the conversation of one request.
type reader struct {
	got  providertest.ReceivedRequest
	used map[string]bool // ids of all calls
	open []string        // calls of the last message
}

func (r *reader) mark(m *mark) {
	if m != nil {
		r.got.Marks++
	}
}

func (r *reader) messages(messages []message) error {
	r.used = map[string]bool{}
	for i, m := range messages {
		want := []string{"user", "assistant"}[i%2]
		if m.Role != want {
			return fmt.Errorf("message %d is of %q, want %q", i, m.Role, want)
		}
		if len(m.Content) == 0 {
			return fmt.Errorf("message %d has no content", i)
		}
		read := r.user
		if m.Role == "assistant" {
			read = r.assistant
		}
		if err := read(m.Content); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	if messages[len(messages)-1].Role != "user" {
		return errors.New("the conversation must end with a user message")
	}
	return nil
}

// user reads a message of the user: first the results of all open calls, then
// anything else.
func (r *reader) user(blocks []block) error {
	for i, b := range blocks {
		r.mark(b.CacheControl)
		if b.Type != "tool_result" {
			if len(r.open) > 0 {
				return fmt.Errorf("tool_use ids %v without tool_result blocks at once after", r.open)
			}
			if err := r.content(b); err != nil {
				return fmt.Errorf("block %d: %w", i, err)
			}
			continue
		}
		at := slices.Index(r.open, b.ToolUseID)
		if at < 0 {
			return fmt.Errorf("block %d: unexpected tool_use_id %q", i, b.ToolUseID)
		}
		r.open = slices.Delete(r.open, at, at+1)
		if b.IsError {
			r.got.Failed++
		}
		for _, part := range b.Content {
			if err := r.content(part); err != nil {
				return fmt.Errorf("block %d: %w", i, err)
			}
		}
	}
	if len(r.open) > 0 {
		return fmt.Errorf("tool_use ids %v without tool_result blocks", r.open)
	}
	return nil
}

// content reads a text or an image.
func (r *reader) content(b block) error {
	switch {
	case b.Type == "text" && strings.TrimSpace(b.Text) != "":
		r.got.Texts = append(r.got.Texts, b.Text)
	case b.Type == "image" && b.Source != nil && b.Source.Type == "base64":
		raw, err := base64.StdEncoding.DecodeString(b.Source.Data)
		kinds := []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
		if err != nil || !slices.Contains(kinds, b.Source.MediaType) {
			return fmt.Errorf("image of type %q: %v", b.Source.MediaType, err)
		}
		r.got.Images = append(r.got.Images, providertest.Sum(raw))
	default:
		return fmt.Errorf("unexpected or empty block of type %q", b.Type)
	}
	return nil
}

// assistant reads what the model said: thinking as it was made, text, calls.
func (r *reader) assistant(blocks []block) error {
	for i, b := range blocks {
		r.mark(b.CacheControl)
		var err error
		switch b.Type {
		case "thinking":
			if b.Signature != Sign(b.Thinking) || b.CacheControl != nil {
				err = fmt.Errorf("invalid signature %q in thinking block", b.Signature)
			}
			r.got.Thinking = append(r.got.Thinking, b.Thinking+b.Signature)
		case "redacted_thinking":
			if !strings.HasPrefix(b.Data, "enc") || b.CacheControl != nil {
				err = fmt.Errorf("invalid data %q in redacted block", b.Data)
			}
			r.got.Thinking = append(r.got.Thinking, b.Data)
		case "tool_use":
			err = r.call(b)
		default:
			err = r.content(b)
		}
		if err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
	}
	return nil
}

func (r *reader) call(b block) error {
	var input map[string]any
	switch {
	case !providertest.IsID(b.ID):
		return fmt.Errorf("tool_use id %q does not fit", b.ID)
	case r.used[b.ID]:
		return fmt.Errorf("tool_use ids must be unique, %q is not", b.ID)
	case !providertest.IsID(b.Name) || len(b.Name) > 128:
		return fmt.Errorf("tool_use name %q does not fit", b.Name)
	case json.Unmarshal(b.Input, &input) != nil || input == nil:
		return fmt.Errorf("tool_use input %q is not an object", b.Input)
	}
	r.used[b.ID] = true
	r.open = append(r.open, b.ID)
	return nil
}
