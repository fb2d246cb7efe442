package bedrocktest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"chela/internal/model/provider/providertest"
)

// converse is the body of a request; a field that is not here is refused.
type converse struct {
	Messages []struct {
		Role    string  `json:"role"`
		Content []block `json:"content"`
	} `json:"messages"`
	System    []block `json:"system"`
	Inference struct {
		MaxTokens *int `json:"maxTokens"`
	} `json:"inferenceConfig"`
	Tools *struct {
		Tools []struct {
			Spec *struct {
				Name        string `json:"name"`
				Description string `json:"description"`
				InputSchema struct {
					JSON json.RawMessage `json:"json"`
				} `json:"inputSchema"`
			} `json:"toolSpec"`
			CachePoint *cachePoint `json:"cachePoint"`
		} `json:"tools"`
	} `json:"toolConfig"`
	Fields json.RawMessage `json:"additionalModelRequestFields"` // the model's own
}

type cachePoint struct {
	Type string `json:"type"`
}

type block struct {
	Text  *string `json:"text"`
	Image *struct {
		Format string `json:"format"`
		Source struct {
			Bytes []byte `json:"bytes"`
		} `json:"source"`
	} `json:"image"`
	ToolUse *struct {
		ID    string         `json:"toolUseId"`
		Name  string         `json:"name"`
		Input map[string]any `json:"input"`
	} `json:"toolUse"`
	ToolResult *struct {
		ID      string  `json:"toolUseId"`
		Content []block `json:"content"`
		Status  string  `json:"status"`
	} `json:"toolResult"`
	Reasoning *struct {
		Text *struct {
			Text      string `json:"text"`
			Signature string `json:"signature"`
		} `json:"reasoningText"`
		Redacted []byte `json:"redactedContent"`
	} `json:"reasoningContent"`
	CachePoint *cachePoint `json:"cachePoint"`
}

func read(r *http.Request, body []byte) (providertest.ReceivedRequest, error) {
	if err := checkKeys(r, body); err != nil {
		return providertest.ReceivedRequest{}, err
	}
	got := providertest.ReceivedRequest{Plain: r.PathValue("operation") == "converse"}
	if !got.Plain && r.PathValue("operation") != "converse-stream" {
		return got, fmt.Errorf("unknown operation %q", r.PathValue("operation"))
	}
	var req converse
	if err := providertest.Strict(body, &req); err != nil {
		return got, err
	}
	if n := req.Inference.MaxTokens; n != nil {
		if got.MaxTokens = *n; *n < 1 {
			return got, errors.New("maxTokens must be at least 1")
		}
	}
	w := walk{got: got, marked: strings.Contains(r.PathValue("model"), "claude") || strings.Contains(r.PathValue("model"), "nova")}
	if err := w.tools(req); err != nil {
		return got, err
	}
	for _, b := range req.System {
		switch {
		case b.CachePoint != nil:
			w.got.Marks++
		case b.Text == nil || strings.TrimSpace(*b.Text) == "":
			return got, errors.New("the text field in the system block is blank")
		default:
			w.got.System += *b.Text
		}
	}
	if err := w.messages(req); err != nil {
		return got, err
	}
	if w.got.Marks > 4 || w.got.Marks > 0 && !w.marked {
		return got, fmt.Errorf("%d cache points for model %s", w.got.Marks, r.PathValue("model"))
	}
	return w.got, nil
}

// checkKeys wants the token, or a signature over the request as it came.
func checkKeys(r *http.Request, body []byte) error {
	given := r.Header.Get("Authorization")
	if given == "Bearer "+providertest.Key {
		return nil
	}
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil || r.Header.Get("X-Amz-Security-Token") != SessionToken {
		return fmt.Errorf("the request is neither signed nor has a token: %q", given)
	}
	again, err := http.NewRequestWithContext(context.Background(), r.Method, "http://"+r.Host+r.URL.RequestURI(), http.NoBody)
	if err != nil {
		return err
	}
	_, names, _ := strings.Cut(given, "SignedHeaders=")
	names, _, _ = strings.Cut(names, ",")
	for _, name := range strings.Split(names, ";") {
		if value := r.Header.Get(name); value != "" {
			again.Header.Set(name, value)
		}
	}
	again.ContentLength = r.ContentLength
	sum := sha256.Sum256(body)
	keys := aws.Credentials{AccessKeyID: KeyID, SecretAccessKey: providertest.Key, SessionToken: SessionToken}
	if err := v4.NewSigner().SignHTTP(context.Background(), keys, again, hex.EncodeToString(sum[:]), "bedrock", Region, at); err != nil {
		return err
	}
	if again.Header.Get("Authorization") != given {
		return fmt.Errorf("the request signature we calculated does not match: %q", given)
	}
	return nil
}

// A walk goes through one request.
type walk struct {
	got    providertest.ReceivedRequest
	marked bool // the model takes cache points
	open   []string
	used   []string
	offers bool
}

func (w *walk) tools(req converse) error {
	if req.Tools == nil {
		return nil
	}
	for _, t := range req.Tools.Tools {
		switch {
		case t.CachePoint != nil:
			w.got.Marks++
		case t.Spec == nil:
			return errors.New("a tool is empty")
		default:
			w.offers = true
			if err := providertest.CheckTool(t.Spec.Name, t.Spec.InputSchema.JSON, 64); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walk) messages(req converse) error {
	if len(req.Messages) == 0 {
		return errors.New("messages are missing")
	}
	for i, m := range req.Messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want {
			return fmt.Errorf("roles must alternate: message %d is of %q, want %q", i, m.Role, want)
		}
		if len(m.Content) == 0 {
			return fmt.Errorf("message %d has no content", i)
		}
		for n, b := range m.Content {
			if err := w.block(m.Role, b); err != nil {
				return fmt.Errorf("block %d of message %d: %w", n, i, err)
			}
		}
		if m.Role == "user" && len(w.open) > 0 {
			return fmt.Errorf("message %d leaves calls %v without results", i, w.open)
		}
	}
	if len(req.Messages)%2 == 0 {
		return errors.New("the conversation must end with a user message")
	}
	return nil
}

func (w *walk) block(role string, b block) error {
	switch {
	case b.CachePoint != nil && b.CachePoint.Type == "default":
		w.got.Marks++
	case b.ToolUse != nil && role == "assistant":
		return w.call(b)
	case b.Reasoning != nil && role == "assistant":
		return w.reasoning(b)
	case b.ToolResult != nil && role == "user":
		return w.result(b)
	case role == "user" && len(w.open) > 0:
		return fmt.Errorf("calls %v without results at once after", w.open)
	default:
		return w.shown(b)
	}
	return nil
}

func (w *walk) shown(b block) error {
	switch {
	case b.Text != nil && strings.TrimSpace(*b.Text) != "":
		w.got.Texts = append(w.got.Texts, *b.Text)
	case b.Image != nil && slices.Contains([]string{"png", "jpeg", "gif", "webp"}, b.Image.Format) && len(b.Image.Source.Bytes) > 0:
		sum := sha256.Sum256(b.Image.Source.Bytes)
		w.got.Images = append(w.got.Images, hex.EncodeToString(sum[:]))
	default:
		return errors.New("the block is blank, or not of this role")
	}
	return nil
}

func (w *walk) call(b block) error {
	u := b.ToolUse
	if !w.offers {
		return errors.New("the toolConfig field must be defined when using toolUse and toolResult content blocks")
	}
	if err := providertest.CheckTool(u.Name, json.RawMessage(`{"type":"object"}`), 64); err != nil {
		return err
	}
	if providertest.CheckTool(u.ID, json.RawMessage(`{"type":"object"}`), 64) != nil || slices.Contains(w.used, u.ID) || u.Input == nil {
		return fmt.Errorf("call %q: its id does not fit or was used, or its input is no object", u.ID)
	}
	w.used, w.open = append(w.used, u.ID), append(w.open, u.ID)
	return nil
}

func (w *walk) result(b block) error {
	at := slices.Index(w.open, b.ToolResult.ID)
	if at < 0 || len(b.ToolResult.Content) == 0 {
		return fmt.Errorf("result of %q answers no call, or has no content", b.ToolResult.ID)
	}
	w.open = slices.Delete(w.open, at, at+1)
	if b.ToolResult.Status == "error" {
		w.got.Failed++
	}
	for _, part := range b.ToolResult.Content {
		if err := w.shown(part); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) reasoning(b block) error {
	switch text := b.Reasoning.Text; {
	case text == nil && len(b.Reasoning.Redacted) > 0:
		w.got.Thinking = append(w.got.Thinking, string(b.Reasoning.Redacted))
	case text != nil && text.Signature == Sign(text.Text):
		w.got.Thinking = append(w.got.Thinking, text.Text+text.Signature)
	default:
		return errors.New("invalid signature in thinking block")
	}
	return nil
}
