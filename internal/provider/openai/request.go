package openai

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"chela"
	"chela/internal/provider/wire"
)

// efforts maps thinking levels to the values of reasoning_effort, which are
// the same words but for off; see
// https://platform.openai.com/docs/api-reference/chat/create. A model that
// does not know a value, or does not reason, refuses it.
var efforts = map[chela.ThinkingLevel]shared.ReasoningEffort{
	chela.ThinkingOff:     shared.ReasoningEffortNone,
	chela.ThinkingMinimal: shared.ReasoningEffortMinimal,
	chela.ThinkingLow:     shared.ReasoningEffortLow,
	chela.ThinkingMedium:  shared.ReasoningEffortMedium,
	chela.ThinkingHigh:    shared.ReasoningEffortHigh,
	chela.ThinkingXHigh:   shared.ReasoningEffortXhigh,
}

// fits reports whether the server takes a ref as the id of a call: up to 40
// printable characters.
func fits(ref string) bool {
	for _, r := range ref {
		if r <= ' ' || r > '~' {
			return false
		}
	}
	return ref != "" && len(ref) <= 40
}

func (p *Provider) params(ctx context.Context, req *chela.Request) (openai.ChatCompletionNewParams, error) {
	params := openai.ChatCompletionNewParams{Model: req.Model, ReasoningEffort: efforts[req.Thinking]}
	if !req.Plain {
		params.StreamOptions.IncludeUsage = openai.Bool(true)
	}
	if req.MaxTokens > 0 && p.vendor {
		params.MaxCompletionTokens = openai.Int(int64(req.MaxTokens))
	} else if req.MaxTokens > 0 {
		params.MaxTokens = openai.Int(int64(req.MaxTokens))
	}
	if req.Session != "" && p.vendor {
		// A session key may name a person, and the field holds 64 bytes.
		sum := sha256.Sum256([]byte(req.Session))
		params.PromptCacheKey = openai.String(hex.EncodeToString(sum[:16]))
	}
	for _, t := range req.Tools {
		tool, err := p.tool(t)
		if err != nil {
			return params, err
		}
		params.Tools = append(params.Tools, tool)
	}
	messages, err := p.messages(ctx, req)
	params.Messages = messages
	return params, err
}

func (p *Provider) tool(t chela.ToolSpec) (openai.ChatCompletionToolUnionParam, error) {
	var schema map[string]json.RawMessage
	if err := json.Unmarshal(t.Input, &schema); err != nil {
		return openai.ChatCompletionToolUnionParam{}, p.guard.Error(chela.Invalid, fmt.Sprintf("schema of tool %q is not a JSON object", t.Name))
	}
	// The members stay as they are written, so that equal tools make equal
	// requests and prompt caches hit.
	parameters := shared.FunctionParameters{}
	for name, member := range schema {
		parameters[name] = member
	}
	function := shared.FunctionDefinitionParam{Name: t.Name, Parameters: parameters}
	if t.Description != "" {
		function.Description = openai.String(t.Description)
	}
	return openai.ChatCompletionFunctionTool(function), nil
}

// messages returns the conversation. Results can hold text only, so their
// images follow in a message of the user once all results of the step are
// there.
func (p *Provider) messages(ctx context.Context, req *chela.Request) ([]openai.ChatCompletionMessageParamUnion, error) {
	var out []openai.ChatCompletionMessageParamUnion
	if strings.TrimSpace(req.System) != "" {
		out = append(out, openai.SystemMessage(strings.ToValidUTF8(req.System, "\uFFFD")))
	}
	var images []openai.ChatCompletionContentPartUnionParam
	for _, m := range wire.Whole(req.Messages, fits) {
		if m.Role != chela.RoleTool && len(images) > 0 {
			out = append(out, openai.UserMessage(images))
			images = nil
		}
		if m.Role == chela.RoleAssistant {
			out = append(out, said(m))
			continue
		}
		parts, err := p.guard.Parts(ctx, req, m)
		if err != nil {
			return nil, err
		}
		if m.Role == chela.RoleTool {
			text, shown := result(m, parts)
			out = append(out, openai.ToolMessage(text, m.Ref))
			images = append(images, shown...)
			continue
		}
		out = append(out, user(parts))
	}
	if len(images) > 0 {
		out = append(out, openai.UserMessage(images))
	}
	return out, nil
}

// said returns what the model said before. Its reasoning is not sent back:
// the protocol has no place for it.
func said(m chela.Message) openai.ChatCompletionMessageParamUnion {
	var a openai.ChatCompletionAssistantMessageParam
	if m.Text != "" {
		a.Content.OfString = openai.String(m.Text)
	}
	for _, c := range m.Calls {
		call := openai.ChatCompletionMessageFunctionToolCallParam{ID: c.Ref}
		call.Function.Name = c.Tool
		call.Function.Arguments = string(c.Args)
		a.ToolCalls = append(a.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{OfFunction: &call})
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: &a}
}

func user(parts []wire.Part) openai.ChatCompletionMessageParamUnion {
	if len(parts) == 1 && parts[0].Image == nil {
		return openai.UserMessage(parts[0].Text)
	}
	var content []openai.ChatCompletionContentPartUnionParam
	for _, part := range parts {
		if part.Image != nil {
			content = append(content, image(part))
		} else {
			content = append(content, openai.TextContentPart(part.Text))
		}
	}
	return openai.UserMessage(content)
}

// result returns the text of a result, and its images with a line that says
// where they come from.
func result(m chela.Message, parts []wire.Part) (string, []openai.ChatCompletionContentPartUnionParam) {
	var texts []string
	var images []openai.ChatCompletionContentPartUnionParam
	for _, part := range parts {
		if part.Image != nil {
			images = append(images, openai.TextContentPart("Image in the result of "+m.Tool+" ("+m.Ref+"):"), image(part))
		} else {
			texts = append(texts, part.Text)
		}
	}
	return strings.Join(texts, "\n"), images
}

func image(part wire.Part) openai.ChatCompletionContentPartUnionParam {
	return openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{
		URL: "data:" + part.MediaType + ";base64," + base64.StdEncoding.EncodeToString(part.Image),
	})
}
