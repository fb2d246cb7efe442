package openai

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"

	"chela"
	"chela/internal/model/catalogue"
	"chela/internal/model/provider/wire"
)

// body returns the JSON of a request. It is hand-written: each step sends the
// whole conversation, and the SDK's encoder takes 2.4 µs per message. The
// conversation comes last, and no message depends on a later one, so successive
// steps share their prefix.
func (p *Provider) body(ctx context.Context, req *chela.Request) ([]byte, error) {
	messages := p.quirks.whole(req.Messages)
	b := wire.Scratch(wire.Size(req, messages))
	b = append(b, `{"model":`...)
	b = wire.AppendString(b, req.Model)
	b = p.appendOptions(b, req)
	var err error
	if len(req.Tools) > 0 {
		b = append(b, `,"tools":[`...)
		if b, err = p.tools.Append(b, req.Tools, func(t chela.ToolSpec) ([]byte, error) { return p.tool(req.Model, t) }); err != nil {
			return nil, err
		}
		b = append(b, ']')
		if p.quirks.adds(catalogue.FeatureParallelSwitch) && p.options.Sends(req.Model, catalogue.OptionalParallelCalls) && (req.Sampling == nil || !req.Sampling.SingleCall) {
			b = append(b, `,"parallel_tool_calls":true`...)
		}
	}
	b = append(b, `,"messages":[`...)
	if strings.TrimSpace(req.System) != "" {
		b = append(b, `{"role":"system","content":`...)
		b = appendContent(b, strings.ToValidUTF8(req.System, "\uFFFD"), p.marksCache(req.Model))
		b = append(b, "},"...)
	}
	if b, err = p.appendMessages(ctx, b, req, messages); err != nil {
		return nil, err
	}
	return append(bytes.TrimSuffix(b, []byte(",")), "]}"...), nil
}

// appendOptions appends all members other than model, tools and conversation.
func (p *Provider) appendOptions(b []byte, req *chela.Request) []byte {
	q := p.quirks
	sends := func(field string) bool { return p.options.Sends(req.Model, field) }
	if !req.Plain {
		b = append(b, `,"stream":true`...)
		if q.knows(catalogue.FeatureStreamUsage) && sends(catalogue.OptionalStreamOptions) {
			b = append(b, `,"stream_options":{"include_usage":true}`...)
		}
	}
	if q.adds(catalogue.FeatureThinkingSwitch) && req.Thinking == chela.ThinkingOff && sends(catalogue.OptionalThinking) {
		b = append(b, `,"thinking":{"type":"disabled"}`...)
	}
	if effort := p.effort(req); effort != "" {
		b = append(b, `,"reasoning_effort":`...)
		b = wire.AppendString(b, effort)
	}
	if field := p.limitField(req.Model); req.MaxTokens > 0 && field != "" {
		b = append(b, `,"`...)
		b = append(b, field...)
		b = append(b, `":`...)
		b = strconv.AppendInt(b, int64(req.MaxTokens), 10)
	}
	if req.Session != "" && q.knows(catalogue.FeaturePromptCacheKey) && sends(catalogue.OptionalPromptCacheKey) {
		b = append(b, `,"prompt_cache_key":`...)
		b = AppendCacheKey(b, req.Session)
	}
	return appendSampling(b, req.Sampling)
}

// limitField returns the name of the output limit; empty if the model accepts
// neither of its two names.
func (p *Provider) limitField(model string) string {
	fields := []string{catalogue.OptionalMaxCompletionTokens, catalogue.OptionalMaxTokens}
	if !p.quirks.knows(catalogue.FeatureMaxCompletionTokens) {
		slices.Reverse(fields)
	}
	for _, field := range fields {
		if p.options.Sends(model, field) {
			return field
		}
	}
	return ""
}

// effort returns the reasoning_effort of a request: that of its level, or the
// nearest one that the model accepts; empty for the model's default.
func (p *Provider) effort(req *chela.Request) string {
	if !p.quirks.knows(catalogue.FeatureReasoningEffort) || !p.options.Sends(req.Model, catalogue.OptionalEffort) {
		return ""
	}
	if levels, ok := p.options.Levels(req.Model); ok {
		return Effort(Nearest(req.Thinking, levels))
	}
	return p.quirks.effort(req.Thinking)
}

// appendMessages appends the conversation, each message followed by a comma.
// Results can hold text only, so their images follow in a user message after
// all results of the step.
func (p *Provider) appendMessages(ctx context.Context, b []byte, req *chela.Request, messages []chela.Message) ([]byte, error) {
	var shown []wire.Part // images of results; each follows a line with its source
	marks := p.cacheMarks(req.Model, messages)
	for i, m := range messages {
		if m.Role != chela.RoleTool && len(shown) > 0 {
			b = appendUser(b, shown)
			shown = nil
		}
		switch {
		case m.Role == chela.RoleAssistant:
			b = p.appendSaid(b, m)
			continue
		case len(m.Attachments) == 0:
			b = appendText(b, m, m.Text, slices.Contains(marks, i))
			continue
		}
		parts, err := p.guard.Parts(ctx, req, m)
		if err != nil {
			return nil, err
		}
		parts = p.quirks.visible(parts)
		if m.Role == chela.RoleUser {
			b = appendUser(b, parts)
			continue
		}
		text, images := wire.Aside(m, parts)
		b = appendText(b, m, text, false)
		shown = append(shown, images...)
	}
	if len(shown) > 0 {
		b = appendUser(b, shown)
	}
	return b, nil
}

// cacheMark ends a part of the prompt that is kept in the cache, see
// https://openrouter.ai/docs/features/prompt-caching.
const cacheMark = `,"cache_control":{"type":"ephemeral"}`

// marksCache reports whether prompts to a model are marked for the cache: Claude
// caches nothing else.
func (p *Provider) marksCache(model string) bool {
	return p.quirks.adds(catalogue.FeatureCacheControl) && strings.Contains(model, "claude")
}

// cacheMarks returns the messages that end a cached part: the newest one, and the
// newest one of the request before, whose part is read from the cache.
func (p *Provider) cacheMarks(model string, messages []chela.Message) (marks []int) {
	if !p.marksCache(model) {
		return nil
	}
	last := chela.RoleAssistant
	for i := len(messages) - 1; i >= 0 && len(marks) < 2; i-- {
		m := messages[i]
		if m.Role != chela.RoleAssistant && last == chela.RoleAssistant && len(m.Attachments) == 0 {
			marks = append(marks, i)
		}
		last = m.Role
	}
	return marks
}

// appendText appends a text-only user message or result.
func appendText(b []byte, m chela.Message, text string, mark bool) []byte {
	if m.Role != chela.RoleTool {
		b = append(b, `{"role":"user","content":`...)
		return append(appendContent(b, text, mark), "},"...)
	}
	b = append(b, `{"role":"tool","tool_call_id":`...)
	b = wire.AppendString(b, m.Ref)
	b = append(b, `,"content":`...)
	b = wire.AppendString(b, text)
	if mark {
		b = append(b, cacheMark...)
	}
	return append(b, "},"...)
}

// appendContent appends the text of a message, which may end a cached part.
func appendContent(b []byte, text string, mark bool) []byte {
	if !mark {
		return wire.AppendString(b, text)
	}
	b = append(b, `[{"type":"text","text":`...)
	b = wire.AppendString(b, text)
	return append(append(b, cacheMark...), "}]"...)
}

// appendSaid appends a past answer of the model. Its reasoning is included only
// if the server requires it, as the protocol itself has no field for it.
func (p *Provider) appendSaid(b []byte, m chela.Message) []byte {
	b = append(b, `{"role":"assistant"`...)
	b = p.quirks.appendReasoning(b, m)
	if m.Text != "" {
		b = append(b, `,"content":`...)
		b = wire.AppendString(b, m.Text)
	}
	for i, c := range m.Calls {
		if i == 0 {
			b = append(b, `,"tool_calls":[`...)
		} else {
			b = append(b, ',')
		}
		b = append(b, `{"id":`...)
		b = wire.AppendString(b, c.Ref)
		b = append(b, `,"type":"function","function":{"name":`...)
		b = wire.AppendString(b, c.Tool)
		b = append(b, `,"arguments":`...)
		b = append(wire.AppendString(b, c.Args), "}}"...)
	}
	if len(m.Calls) > 0 {
		b = append(b, ']')
	}
	return append(b, "},"...)
}

// appendUser appends a user message: a text, or a list of parts.
func appendUser(b []byte, parts []wire.Part) []byte {
	b = append(b, `{"role":"user","content":`...)
	if len(parts) == 1 && parts[0].Image == nil {
		return append(wire.AppendString(b, parts[0].Text), "},"...)
	}
	for i, part := range parts {
		b = append(b, "[,"[min(i, 1)])
		if part.Image == nil {
			b = append(b, `{"type":"text","text":`...)
			b = append(wire.AppendString(b, part.Text), '}')
			continue
		}
		b = append(b, `{"type":"image_url","image_url":{"url":`...)
		b = append(AppendImage(b, part), "}}"...)
	}
	return append(b, "]},"...)
}

// tool writes a tool.
func (p *Provider) tool(model string, t chela.ToolSpec) ([]byte, error) {
	schema, err := p.server.Schema(t)
	if err != nil {
		return nil, err
	}
	b := wire.AppendString([]byte(`{"type":"function","function":{"name":`), t.Name)
	if t.Description != "" {
		b = append(b, `,"description":`...)
		b = wire.AppendString(b, t.Description)
	}
	if p.quirks.knows(catalogue.FeatureStrict) && p.options.Sends(model, catalogue.OptionalStrict) && wire.Strict(schema) {
		b = append(b, `,"strict":true`...)
	}
	b = append(b, `,"parameters":`...)
	b = append(b, schema...)
	return append(b, "}}"...), nil
}
