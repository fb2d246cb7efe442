package openaitest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"chela/internal/model/catalogue"
	"chela/internal/model/provider/providertest"
)

// request is the body of a request; a field that is not here is refused.
type request struct {
	Model               string         `json:"model"`
	Messages            []message      `json:"messages"`
	Stream              bool           `json:"stream"`
	StreamOptions       *streamOptions `json:"stream_options"`
	MaxTokens           *int           `json:"max_tokens"`
	MaxCompletionTokens *int           `json:"max_completion_tokens"`
	ReasoningEffort     string         `json:"reasoning_effort"`
	PromptCacheKey      string         `json:"prompt_cache_key"`
	ParallelToolCalls   *bool          `json:"parallel_tool_calls"`
	Thinking            *struct {
		Type string `json:"type"`
	} `json:"thinking"`
	Tools []tool `json:"tools"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Strict      bool            `json:"strict"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

type message struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []call          `json:"tool_calls"`

	Reasoning        *string          `json:"reasoning"`
	ReasoningContent *string          `json:"reasoning_content"`
	ReasoningDetails []map[string]any `json:"reasoning_details"`
}

type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type part struct {
	Type     string  `json:"type"`
	Text     *string `json:"text"`
	ImageURL *struct {
		URL string `json:"url"`
	} `json:"image_url"`
}

func read(h http.Header, body []byte, q Quirks) (providertest.ReceivedRequest, error) {
	var req request
	if h.Get("Authorization") != "Bearer "+providertest.Key || h.Get("Content-Type") != "application/json" {
		return providertest.ReceivedRequest{}, errors.New("authorization or content type is missing")
	}
	if err := providertest.Strict(body, &req); err != nil {
		return providertest.ReceivedRequest{}, err
	}
	efforts := []string{"", "none", "minimal", "low", "medium", "high", "xhigh"}
	switch {
	case req.Model == "" || len(req.Messages) == 0:
		return providertest.ReceivedRequest{}, errors.New("model or messages are missing")
	case req.StreamOptions != nil && !req.Stream:
		return providertest.ReceivedRequest{}, errors.New("stream_options is only allowed when stream is enabled")
	case req.Stream && !slices.Contains(q.Lacks, catalogue.FeatureStreamUsage) && (req.StreamOptions == nil || !req.StreamOptions.IncludeUsage):
		return providertest.ReceivedRequest{}, errors.New("the stream is asked for without usage")
	case req.MaxTokens != nil && req.MaxCompletionTokens != nil:
		return providertest.ReceivedRequest{}, errors.New("max_tokens and max_completion_tokens exclude each other")
	case !slices.Contains(efforts, req.ReasoningEffort):
		return providertest.ReceivedRequest{}, fmt.Errorf("reasoning_effort %q is unknown", req.ReasoningEffort)
	}
	for _, tool := range req.Tools {
		if err := providertest.CheckTool(tool.Function.Name, tool.Function.Parameters, 64); err != nil || tool.Type != "function" {
			return providertest.ReceivedRequest{}, fmt.Errorf("tool of type %q: %w", tool.Type, err)
		}
		if tool.Function.Strict {
			if err := providertest.CheckStrict(tool.Function.Parameters); err != nil {
				return providertest.ReceivedRequest{}, fmt.Errorf("invalid schema for function %q: %w", tool.Function.Name, err)
			}
		}
	}
	if err := q.check(req); err != nil {
		return providertest.ReceivedRequest{}, err
	}
	got := providertest.ReceivedRequest{Plain: !req.Stream}
	if limit := cmp.Or(req.MaxTokens, req.MaxCompletionTokens); limit != nil {
		got.MaxTokens = *limit
	}
	err := readMessages(req.Messages, &got)
	return got, err
}

// readMessages walks the conversation. The results of a step must follow
// it at once, one for each of its calls.
func readMessages(messages []message, got *providertest.ReceivedRequest) error {
	open := map[string]bool{}
	for i, m := range messages {
		if len(open) > 0 && m.Role != "tool" {
			return fmt.Errorf("message %d: tool calls %v are not answered", i, open)
		}
		if m.Role != "assistant" && m.ToolCalls != nil || m.Role != "tool" && m.ToolCallID != "" {
			return fmt.Errorf("message %d: a %s message cannot have calls or answer them", i, m.Role)
		}
		parts, err := readContent(m)
		if err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		switch m.Role {
		case "system", "developer":
			got.System += strings.Join(parts.texts, "")
			continue
		case "assistant":
			err = readCalls(m, len(parts.texts), open)
			got.Thinking = append(got.Thinking, thoughts(m)...)
		case "tool":
			if !open[m.ToolCallID] {
				err = fmt.Errorf("it answers %q, which was not called or is answered", m.ToolCallID)
			}
			delete(open, m.ToolCallID)
		case "user":
			if len(parts.texts)+len(parts.images) == 0 {
				err = errors.New("it has no content")
			}
		default:
			err = fmt.Errorf("role %q is unknown", m.Role)
		}
		if err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		got.Texts = append(got.Texts, parts.texts...)
		got.Images = append(got.Images, parts.images...)
	}
	if len(open) > 0 {
		return fmt.Errorf("tool calls %v are not answered", open)
	}
	return nil
}

func readCalls(m message, texts int, open map[string]bool) error {
	if texts == 0 && len(m.ToolCalls) == 0 {
		return errors.New("it has neither content nor calls")
	}
	for _, c := range m.ToolCalls {
		var args map[string]any
		switch {
		case c.ID == "" || len(c.ID) > 40 || open[c.ID]:
			return fmt.Errorf("id %q of a call is empty, longer than 40 or used twice", c.ID)
		case c.Type != "function" || !providertest.IsID(c.Function.Name):
			return fmt.Errorf("call of type %q and name %q", c.Type, c.Function.Name)
		case json.Unmarshal([]byte(c.Function.Arguments), &args) != nil:
			return fmt.Errorf("arguments %q are not a JSON object", c.Function.Arguments)
		}
		open[c.ID] = true
	}
	return nil
}

type parts struct{ texts, images []string }

// readContent reads content, which is null, a string or a list of parts.
func readContent(m message) (parts, error) {
	var parts parts
	var text string
	var list []part
	switch {
	case len(m.Content) == 0 || string(m.Content) == "null":
		return parts, nil
	case json.Unmarshal(m.Content, &text) == nil:
		if text != "" {
			parts.texts = []string{text}
		}
		return parts, nil
	}
	if err := providertest.Strict(m.Content, &list); err != nil {
		return parts, err
	}
	for _, p := range list {
		switch {
		case p.Type == "text" && p.Text != nil && *p.Text != "":
			parts.texts = append(parts.texts, *p.Text)
		case p.Type == "image_url" && p.ImageURL != nil && m.Role == "user":
			kind, coded, ok := strings.Cut(p.ImageURL.URL, ";base64,")
			raw, err := base64.StdEncoding.DecodeString(coded)
			if !ok || err != nil || !strings.HasPrefix(kind, "data:image/") {
				return parts, fmt.Errorf("image_url %.40q is no data URL of an image", p.ImageURL.URL)
			}
			parts.images = append(parts.images, providertest.Sum(raw))
		default:
			return parts, fmt.Errorf("part of type %q in a message of %q", p.Type, m.Role)
		}
	}
	return parts, nil
}
