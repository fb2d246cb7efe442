package responses

import (
	"bytes"
	"context"
	"regexp"
	"strconv"
	"strings"

	"chela"
	"chela/internal/model/catalogue"
	"chela/internal/model/provider/openai"
	"chela/internal/model/provider/wire"
)

// minOutput is the smallest output limit that the protocol accepts.
const minOutput = 16

// withoutReasoning matches the models without reasoning, which reject requests
// for encrypted reasoning.
var withoutReasoning = regexp.MustCompile(`(^|/)(gpt-3\.5|gpt-4|chatgpt-4|gpt-5-chat)`)

// body returns the JSON of a request. It is hand-written as in Chat
// Completions, because each step sends the whole conversation. The conversation
// comes last, and no message depends on a later one, so successive steps share
// their prefix.
func (p *Provider) body(ctx context.Context, req *chela.Request, m manner) ([]byte, error) {
	messages := wire.Whole(req.Messages, openai.Fits)
	if !m.sealed {
		for i := range messages {
			messages[i].Thinking = nil
		}
	}
	b := wire.Scratch(wire.Size(req, messages))
	b = append(b, `{"model":`...)
	b = wire.AppendString(b, req.Model)
	b = append(b, `,"store":false`...)
	if !req.Plain {
		b = append(b, `,"stream":true`...)
	}
	if m.sealed {
		b = append(b, `,"include":["reasoning.encrypted_content"]`...)
	}
	b = p.appendReasoning(b, req, m.summed)
	if req.MaxTokens > 0 {
		b = append(b, `,"max_output_tokens":`...)
		b = strconv.AppendInt(b, int64(max(req.MaxTokens, minOutput)), 10)
	}
	b = appendSampling(b, req.Sampling)
	if req.Session != "" && p.server.Vendor && p.options.Sends(req.Model, catalogue.OptionalPromptCacheKey) {
		b = append(b, `,"prompt_cache_key":`...)
		b = openai.AppendCacheKey(b, req.Session)
	}
	if strings.TrimSpace(req.System) != "" {
		b = append(b, `,"instructions":`...)
		b = wire.AppendString(b, strings.ToValidUTF8(req.System, "\uFFFD"))
	}
	var err error
	if len(req.Tools) > 0 {
		b = append(b, `,"tools":[`...)
		if b, err = p.tools.Append(b, req.Tools, func(t chela.ToolSpec) ([]byte, error) { return p.tool(req.Model, t) }); err != nil {
			return nil, err
		}
		b = append(b, ']')
	}
	b = append(b, `,"input":[`...)
	if b, err = p.appendItems(ctx, b, req, messages); err != nil {
		return nil, err
	}
	return append(bytes.TrimSuffix(b, []byte(",")), "]}"...), nil
}

// appendReasoning appends the reasoning effort, and requests a summary if the
// model reasons.
func (p *Provider) appendReasoning(b []byte, req *chela.Request, summed bool) []byte {
	level := req.Thinking
	if levels, ok := p.options.Levels(req.Model); ok {
		level = openai.Nearest(level, levels)
	}
	effort := openai.Effort(level)
	if effort == "" || !p.options.Sends(req.Model, catalogue.OptionalReasoning) {
		return b
	}
	b = append(b, `,"reasoning":{"effort":`...)
	b = wire.AppendString(b, effort)
	if summed && level != chela.ThinkingOff {
		b = append(b, `,"summary":"auto"`...)
	}
	return append(b, '}')
}

// tool writes a tool. By default the server enforces every schema, and rejects
// the unenforceable.
func (p *Provider) tool(model string, t chela.ToolSpec) ([]byte, error) {
	schema, err := p.server.Schema(t)
	if err != nil {
		return nil, err
	}
	b := wire.AppendString([]byte(`{"type":"function","name":`), t.Name)
	if t.Description != "" {
		b = append(b, `,"description":`...)
		b = wire.AppendString(b, t.Description)
	}
	if p.options.Sends(model, catalogue.OptionalStrict) {
		b = append(b, `,"strict":`...)
		b = strconv.AppendBool(b, wire.Strict(schema))
	}
	b = append(b, `,"parameters":`...)
	return append(append(b, schema...), '}'), nil
}

// appendItems appends the conversation, each item followed by a comma.
func (p *Provider) appendItems(ctx context.Context, b []byte, req *chela.Request, messages []chela.Message) ([]byte, error) {
	for _, m := range messages {
		if m.Role == chela.RoleAssistant {
			b = p.appendSaid(b, m)
			continue
		}
		if m.Role == chela.RoleTool {
			b = append(b, `{"type":"function_call_output","call_id":`...)
			b = wire.AppendString(b, m.Ref)
			b = append(b, `,"output":`...)
		} else {
			b = append(b, `{"role":"user","content":`...)
		}
		if len(m.Attachments) == 0 {
			b = wire.AppendString(b, m.Text)
		} else {
			parts, err := p.guard.Parts(ctx, req, m)
			if err != nil {
				return nil, err
			}
			b = appendParts(b, parts)
		}
		b = append(b, "},"...)
	}
	return b, nil
}

// appendParts appends a list of texts and images.
func appendParts(b []byte, parts []wire.Part) []byte {
	for i, part := range parts {
		b = append(b, "[,"[min(i, 1)])
		if part.Image == nil {
			b = append(b, `{"type":"input_text","text":`...)
			b = append(wire.AppendString(b, part.Text), '}')
			continue
		}
		b = append(b, `{"type":"input_image","detail":"auto","image_url":`...)
		b = append(openai.AppendImage(b, part), '}')
	}
	return append(b, ']')
}

// appendSaid appends a past answer of the model: reasoning of this server at
// its place, the text, and the calls.
func (p *Provider) appendSaid(b []byte, m chela.Message) []byte {
	seals, texts := p.seals(m.Thinking)
	phase := ""
	for _, s := range seals {
		phase = s.Phase
	}
	next := 0
	// reasoned appends the reasoning that preceded a place.
	reasoned := func(said bool, calls int) {
		for ; next < len(seals); next++ {
			s := seals[next]
			if s.Said && !said || s.Calls > calls {
				return
			}
			if s.Encrypted != "" {
				b = appendReasoned(b, s, texts[next])
			}
		}
	}
	reasoned(false, 0)
	if m.Text != "" {
		b = append(b, `{"role":"assistant","content":`...)
		b = wire.AppendString(b, m.Text)
		if phase != "" {
			b = append(b, `,"phase":`...)
			b = wire.AppendString(b, phase)
		}
		b = append(b, "},"...)
	}
	for i, c := range m.Calls {
		reasoned(true, i)
		b = append(b, `{"type":"function_call","call_id":`...)
		b = wire.AppendString(b, c.Ref)
		b = append(b, `,"name":`...)
		b = wire.AppendString(b, c.Tool)
		b = append(b, `,"arguments":`...)
		b = append(wire.AppendString(b, c.Args), "},"...)
	}
	return b
}

// appendReasoned appends reasoning as the server returned it.
func appendReasoned(b []byte, s seal, text string) []byte {
	b = append(b, `{"type":"reasoning","id":`...)
	b = wire.AppendString(b, s.ID)
	b = append(b, `,"summary":[`...)
	if text != "" {
		b = append(b, `{"type":"summary_text","text":`...)
		b = append(wire.AppendString(b, text), '}')
	}
	b = append(b, `],"encrypted_content":`...)
	return append(wire.AppendString(b, s.Encrypted), "},"...)
}
