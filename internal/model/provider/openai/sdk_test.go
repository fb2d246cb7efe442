//go:build sdk

package openai_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"
	"pgregory.net/rapid"

	"chela"
	"chela/internal/model/provider/openai"
	"chela/internal/model/provider/providertest"
	"chela/internal/model/provider/wire"
)

// TestSameAsSDK compares requests with what the official SDK makes of them.
// One provider is asked all the time, as the tools it remembers must not show.
func TestSameAsSDK(t *testing.T) {
	t.Parallel()
	for _, base := range []string{openai.DefaultBaseURL, "https://mine.openai.azure.com/openai/v1", local} {
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			wire := &providertest.CannedAnswer{}
			p := reach(t, wire, base)
			rapid.Check(t, func(rt *rapid.T) {
				req := providertest.Requests().Draw(rt, "request")
				wire.Kind, wire.Body = "text/event-stream", "data: [DONE]\n\n"
				if req.Plain {
					wire.Kind, wire.Body = "application/json", `{"choices":[{"message":{"content":"ok"}}]}`
				}
				if _, err := providertest.Ask(t, p, req); err != nil {
					rt.Fatal(err)
				}
				want, got := providertest.Decoded(rt, sdkBody(t, req, base != local)), providertest.Decoded(rt, []byte(wire.Sent))
				if diff := cmp.Diff(want, got); diff != "" {
					rt.Errorf("(-SDK +sent)\n%s", diff)
				}
				if !utf8.ValidString(wire.Sent) {
					rt.Errorf("%q is no UTF-8", wire.Sent)
				}
			})
		})
	}
}

// sdkBody returns a request as the official SDK encodes it.
func sdkBody(t testing.TB, req *chela.Request, vendor bool) []byte {
	t.Helper()
	params := sdk.ChatCompletionNewParams{Model: req.Model, ReasoningEffort: shared.ReasoningEffort(req.Thinking)}
	if req.Thinking == chela.ThinkingOff {
		params.ReasoningEffort = shared.ReasoningEffortNone
	}
	if !req.Plain {
		params.StreamOptions.IncludeUsage = sdk.Bool(true)
		params.SetExtraFields(map[string]any{"stream": true})
	}
	if req.MaxTokens > 0 && vendor {
		params.MaxCompletionTokens = sdk.Int(int64(req.MaxTokens))
	} else if req.MaxTokens > 0 {
		params.MaxTokens = sdk.Int(int64(req.MaxTokens))
	}
	if req.Session != "" && vendor {
		sum := sha256.Sum256([]byte(req.Session))
		params.PromptCacheKey = sdk.String(hex.EncodeToString(sum[:16]))
	}
	for _, tool := range req.Tools {
		var schema map[string]json.RawMessage
		if err := json.Unmarshal(tool.Input, &schema); err != nil {
			t.Fatal(err)
		}
		function := shared.FunctionDefinitionParam{Name: tool.Name, Parameters: shared.FunctionParameters{}}
		for name, member := range schema {
			function.Parameters[name] = member
		}
		if vendor && strings.Contains(string(tool.Input), "additionalProperties") {
			function.Strict = sdk.Bool(true)
		}
		if tool.Description != "" {
			function.Description = sdk.String(tool.Description)
		}
		params.Tools = append(params.Tools, sdk.ChatCompletionFunctionTool(function))
	}
	params.Messages = sdkMessages(t, req)
	raw, err := params.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func sdkMessages(t testing.TB, req *chela.Request) []sdk.ChatCompletionMessageParamUnion {
	t.Helper()
	var out []sdk.ChatCompletionMessageParamUnion
	if strings.TrimSpace(req.System) != "" {
		out = append(out, sdk.SystemMessage(strings.ToValidUTF8(req.System, "\uFFFD")))
	}
	var images []sdk.ChatCompletionContentPartUnionParam
	flush := func() {
		if len(images) > 0 {
			out = append(out, sdk.UserMessage(images))
			images = nil
		}
	}
	for _, m := range wire.Whole(req.Messages, func(ref string) bool { return strings.HasPrefix(ref, "call_") }) {
		parts, err := wire.Guard{}.Parts(t.Context(), req, m)
		if err != nil {
			t.Fatal(err)
		}
		switch m.Role {
		case chela.RoleAssistant:
			flush()
			out = append(out, sdkSaid(m))
		case chela.RoleUser:
			flush()
			if len(parts) == 1 && parts[0].Image == nil {
				out = append(out, sdk.UserMessage(parts[0].Text))
				continue
			}
			var content []sdk.ChatCompletionContentPartUnionParam
			for _, part := range parts {
				content = append(content, sdkPart(part))
			}
			out = append(out, sdk.UserMessage(content))
		case chela.RoleTool:
			var texts []string
			for _, part := range parts {
				if part.Image == nil {
					texts = append(texts, part.Text)
					continue
				}
				images = append(images, sdk.TextContentPart("Image in the result of "+m.Tool+" ("+m.Ref+"):"), sdkPart(part))
			}
			out = append(out, sdk.ToolMessage(strings.Join(texts, "\n"), m.Ref))
		}
	}
	flush()
	return out
}

func sdkSaid(m chela.Message) sdk.ChatCompletionMessageParamUnion {
	var a sdk.ChatCompletionAssistantMessageParam
	if m.Text != "" {
		a.Content.OfString = sdk.String(m.Text)
	}
	for _, c := range m.Calls {
		call := sdk.ChatCompletionMessageFunctionToolCallParam{ID: c.Ref}
		call.Function.Name = c.Tool
		call.Function.Arguments = string(c.Args)
		a.ToolCalls = append(a.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: &call})
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: &a}
}

func sdkPart(part wire.Part) sdk.ChatCompletionContentPartUnionParam {
	if part.Image == nil {
		return sdk.TextContentPart(part.Text)
	}
	return sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{
		URL: "data:" + part.MediaType + ";base64," + base64.StdEncoding.EncodeToString(part.Image),
	})
}
