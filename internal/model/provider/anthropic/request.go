package anthropic

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"

	"chela"
	"chela/internal/model/provider/wire"
)

// refShape is the accepted form of a call id; the protocol does not document a
// length.
var refShape = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// maxStrict bounds the strict tools of a request, and holdsToSchemas matches
// the models that support them; see
// https://platform.claude.com/docs/en/agents-and-tools/tool-use/strict-tool-use.
const maxStrict = 20

var holdsToSchemas = regexp.MustCompile(`claude-((opus|sonnet|haiku)-(4-[5-9]|[5-9])|fable|mythos)`)

// simple reports whether a schema can be strict. Values of several types are
// excluded, although a request may have a few.
func simple(schema []byte) bool {
	return wire.Strict(schema) && !bytes.Contains(schema, []byte(`"anyOf"`)) && !severalTypes.Match(schema)
}

var severalTypes = regexp.MustCompile(`"type"\s*:\s*\[`)

// mark is a cache breakpoint: the prompt is cached up to and including its
// block. Three of the four allowed breakpoints are used: after the tools, after
// the system prompt, and after the newest message, so that the next step reads
// everything before its own messages from the cache; see
// https://platform.claude.com/docs/en/build-with-claude/prompt-caching.
func mark() anthropic.CacheControlEphemeralParam { return anthropic.NewCacheControlEphemeralParam() }

func (p *Provider) params(ctx context.Context, req *chela.Request) (anthropic.MessageNewParams, error) {
	params := anthropic.MessageNewParams{Model: req.Model}
	if strings.TrimSpace(req.System) != "" {
		params.System = []anthropic.TextBlockParam{{
			Text:         strings.ToValidUTF8(req.System, "\uFFFD"),
			CacheControl: mark(),
		}}
	}
	strict := 0
	for _, t := range req.Tools {
		tool, err := p.tool(t)
		if err != nil {
			return params, err
		}
		if strict < maxStrict && holdsToSchemas.MatchString(req.Model) && simple(t.Input) {
			tool.Strict = anthropic.Bool(true)
			strict++
		}
		params.Tools = append(params.Tools, anthropic.ToolUnionParam{OfTool: tool})
	}
	if n := len(params.Tools); n > 0 {
		params.Tools[n-1].OfTool.CacheControl = mark()
	}
	messages, err := p.messages(ctx, req)
	if err != nil {
		return params, err
	}
	params.Messages = messages
	p.think(&params, req)
	return params, p.sample(&params, req.Sampling)
}

func (p *Provider) tool(t chela.ToolSpec) (*anthropic.ToolParam, error) {
	var schema map[string]json.RawMessage
	if err := json.Unmarshal(t.Input, &schema); err != nil {
		return nil, p.guard.Unsent(chela.Invalid, fmt.Sprintf("schema of tool %q is not a JSON object", t.Name))
	}
	// The members stay as written, so that equal tools make equal requests and
	// the prompt cache hits. The SDK sets the type.
	delete(schema, "type")
	tool := &anthropic.ToolParam{Name: t.Name, InputSchema: anthropic.ToolInputSchemaParam{ExtraFields: members(schema)}}
	if t.Description != "" {
		tool.Description = anthropic.String(t.Description)
	}
	return tool, nil
}

// members returns the members of a schema in the SDK's form.
func members(schema map[string]json.RawMessage) map[string]any {
	members := make(map[string]any, len(schema))
	for name, member := range schema {
		members[name] = member
	}
	return members
}

// messages returns the conversation with alternating roles, beginning and
// ending with the user. Messages of people and tool results both have the role
// user, so neighbors are merged; the protocol requires results first in their
// message.
func (p *Provider) messages(ctx context.Context, req *chela.Request) ([]anthropic.MessageParam, error) {
	var c conversation
	for _, m := range wire.Whole(req.Messages, refShape.MatchString) {
		if m.Role == chela.RoleAssistant {
			if len(c) == 0 {
				c.add(anthropic.MessageParamRoleUser, anthropic.NewTextBlock(wire.GoesOn))
			}
			c.add(anthropic.MessageParamRoleAssistant, said(m)...)
			continue
		}
		parts, err := p.guard.Parts(ctx, req, m)
		if err != nil {
			return nil, err
		}
		if m.Role == chela.RoleTool {
			c.add(anthropic.MessageParamRoleUser, result(m, parts))
			continue
		}
		for _, part := range parts {
			c.add(anthropic.MessageParamRoleUser, block(part))
		}
	}
	c.close()
	return c, nil
}

// A conversation is the messages of a request.
type conversation []anthropic.MessageParam

// add appends blocks to the last message, or to a new one if the role differs.
func (c *conversation) add(role anthropic.MessageParamRole, blocks ...anthropic.ContentBlockParamUnion) {
	if n := len(*c); n > 0 && (*c)[n-1].Role == role {
		(*c)[n-1].Content = append((*c)[n-1].Content, blocks...)
		return
	}
	*c = append(*c, anthropic.MessageParam{Role: role, Content: blocks})
}

// close makes the user's message the last one, since models refuse to continue
// their own, and puts a cache breakpoint on it.
func (c *conversation) close() {
	if len(*c) == 0 {
		return
	}
	if (*c)[len(*c)-1].Role == anthropic.MessageParamRoleAssistant {
		c.add(anthropic.MessageParamRoleUser, anthropic.NewTextBlock(wire.GoOn))
	}
	last := (*c)[len(*c)-1].Content
	if control := last[len(last)-1].GetCacheControl(); control != nil {
		*control = mark()
	}
}

// said returns a past answer of the model. Its own thinking goes first and
// unchanged; thinking of other providers is left out.
func said(m chela.Message) []anthropic.ContentBlockParamUnion {
	var blocks []anthropic.ContentBlockParamUnion
	for _, t := range m.Thinking {
		switch {
		case t.Provider != kind:
		case t.Redacted != "":
			blocks = append(blocks, anthropic.NewRedactedThinkingBlock(t.Redacted))
		case t.Signature != "":
			blocks = append(blocks, anthropic.NewThinkingBlock(t.Signature, t.Text))
		}
	}
	if m.Text != "" {
		blocks = append(blocks, anthropic.NewTextBlock(m.Text))
	}
	for _, c := range m.Calls {
		blocks = append(blocks, anthropic.NewToolUseBlock(c.Ref, c.Args, c.Tool))
	}
	return blocks
}

func result(m chela.Message, parts []wire.Part) anthropic.ContentBlockParamUnion {
	r := anthropic.ToolResultBlockParam{ToolUseID: m.Ref}
	if m.Failed {
		r.IsError = anthropic.Bool(true)
	}
	for _, part := range parts {
		b := block(part)
		r.Content = append(r.Content, anthropic.ToolResultBlockParamContentUnion{OfText: b.OfText, OfImage: b.OfImage})
	}
	return anthropic.ContentBlockParamUnion{OfToolResult: &r}
}

func block(part wire.Part) anthropic.ContentBlockParamUnion {
	if part.Image == nil {
		return anthropic.NewTextBlock(part.Text)
	}
	return anthropic.NewImageBlockBase64(part.MediaType, base64.StdEncoding.EncodeToString(part.Image))
}
