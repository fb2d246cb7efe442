package ollamatest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"chela/internal/model/provider/providertest"
)

// chatRequest is the body of a request; a field that is not here is refused,
// although the real server passes over it, as it would have no effect.
type chatRequest struct {
	Model    string          `json:"model"`
	Messages []chatMessage   `json:"messages"`
	Tools    []chatTool      `json:"tools"`
	Stream   *bool           `json:"stream"`
	Think    json.RawMessage `json:"think"`
	Truncate *bool           `json:"truncate"`
	Shift    *bool           `json:"shift"`
	Options  struct {
		NumCtx     int `json:"num_ctx"`
		NumPredict int `json:"num_predict"`
	} `json:"options"`
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	Thinking   string     `json:"thinking"`
	Images     [][]byte   `json:"images"`
	Calls      []chatCall `json:"tool_calls"`
	ToolName   string     `json:"tool_name"`
	ToolCallID string     `json:"tool_call_id"`
}

type chatCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string         `json:"name"`
		Arguments map[string]any `json:"arguments"`
	} `json:"function"`
}

type chatTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Parameters  struct {
			Type       string                     `json:"type"`
			Properties map[string]json.RawMessage `json:"properties"`
			Required   []string                   `json:"required"`
			Additional *bool                      `json:"additionalProperties"`
		} `json:"parameters"`
	} `json:"function"`
}

// read checks a request and tells what it holds. What it returns as an error is
// why the request is refused.
func read(r *http.Request, body []byte) (providertest.ReceivedRequest, error) {
	var req chatRequest
	if err := providertest.Strict(body, &req); err != nil {
		return providertest.ReceivedRequest{}, err
	}
	switch key := r.Header.Get("Authorization"); {
	case key != "" && key != "Bearer "+providertest.Key: // a server on one's own machine wants none
		return providertest.ReceivedRequest{}, errors.New("unauthorized")
	case req.Model == "":
		return providertest.ReceivedRequest{}, errors.New("model is required")
	case req.Truncate == nil || *req.Truncate || req.Shift == nil || *req.Shift:
		return providertest.ReceivedRequest{}, errors.New("the prompt may be cut")
	case req.Options.NumCtx < 1:
		return providertest.ReceivedRequest{}, errors.New("num_ctx is left to the server")
	}
	if err := checkThink(req.Think); err != nil {
		return providertest.ReceivedRequest{}, err
	}
	for _, tool := range req.Tools {
		if tool.Type != "function" || tool.Function.Name == "" || tool.Function.Parameters.Type != "object" {
			return providertest.ReceivedRequest{}, fmt.Errorf("tool %q is none", tool.Function.Name)
		}
	}
	got := providertest.ReceivedRequest{Plain: req.Stream != nil && !*req.Stream, MaxTokens: req.Options.NumPredict}
	return got, readMessages(&got, req.Messages)
}

func checkThink(raw json.RawMessage) error {
	switch string(raw) {
	case "", "true", "false", `"low"`, `"medium"`, `"high"`, `"max"`:
		return nil
	default:
		return fmt.Errorf(`invalid think value: %s (must be "high", "medium", "low", "max", true, or false)`, raw)
	}
}

func readMessages(got *providertest.ReceivedRequest, messages []chatMessage) error {
	open := map[string]string{} // tools of calls without a result, by id
	for i, m := range messages {
		if m.Role != "tool" && len(open) > 0 {
			return fmt.Errorf("message %d comes before the results of %v", i, open)
		}
		switch m.Role {
		case "system":
			got.System += m.Content
			continue
		case "user":
		case "assistant":
			if m.Thinking != "" {
				got.Thinking = append(got.Thinking, m.Thinking)
			}
			for _, c := range m.Calls {
				open[c.ID] = c.Function.Name
			}
		case "tool":
			if name, ok := open[m.ToolCallID]; !ok || name != m.ToolName {
				return fmt.Errorf("message %d answers no call: %q of %q", i, m.ToolCallID, m.ToolName)
			}
			delete(open, m.ToolCallID)
		default:
			return fmt.Errorf("invalid message role %q", m.Role)
		}
		if m.Content != "" {
			got.Texts = append(got.Texts, m.Content)
		}
		for _, image := range m.Images {
			h := sha256.Sum256(image)
			got.Images = append(got.Images, hex.EncodeToString(h[:]))
		}
	}
	return nil
}
