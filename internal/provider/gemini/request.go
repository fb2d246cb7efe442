package gemini

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"chela"
	"chela/internal/provider/wire"
)

// refShape is what is sent as the id of a call; nothing is said of it but that
// a result has the one of its call.
var refShape = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// body returns the JSON of a request, written by hand like that of other
// protocols: a conversation is sent whole with every step, and comes last.
func (p *Provider) body(ctx context.Context, req *chela.Request, how signing) ([]byte, error) {
	messages := wire.Whole(req.Messages, refShape.MatchString)
	b := append(make([]byte, 0, wire.Size(req, messages)), '{')
	if strings.TrimSpace(req.System) != "" {
		b = append(b, `"systemInstruction":{"parts":[{"text":`...)
		b = wire.AppendString(b, strings.ToValidUTF8(req.System, "\uFFFD"))
		b = append(b, `}]},`...)
	}
	b, err := p.appendTools(b, req.Tools)
	if err != nil {
		return nil, err
	}
	b = appendConfig(b, req)
	b = append(b, `"contents":[`...)
	c := conversation{p: p, req: req, how: how, b: b, generation: generationOf(req.Model)}
	for _, m := range messages {
		if err := c.add(ctx, m); err != nil {
			return nil, err
		}
	}
	return append(c.close(), "]}"...), nil
}

// appendConfig appends the limit of the answer and how much to think.
func appendConfig(b []byte, req *chela.Request) []byte {
	var members []byte
	if req.MaxTokens > 0 {
		members = append(members, `,"maxOutputTokens":`...)
		members = strconv.AppendInt(members, int64(req.MaxTokens), 10)
	}
	members = appendThinking(members, req)
	if len(members) == 0 {
		return b
	}
	b = append(b, `"generationConfig":{`...)
	b = append(b, members[1:]...)
	return append(b, "},"...)
}

// A conversation writes the messages of a request. A run of results is one
// content, since all results of a step belong into one, and so is a run of what
// people say.
type conversation struct {
	p          *Provider
	req        *chela.Request
	how        signing
	generation float64 // of the model

	b     []byte
	role  chela.Role  // of the content that is open; empty if none is
	shown []wire.Part // images of results that cannot hold them, each behind a line that says where it comes from
	after bool        // the open content is not the first one
}

// open sees to it that the next part goes into a content of role.
func (c *conversation) open(role chela.Role) {
	if c.role == role {
		c.b = append(c.b, ',')
		return
	}
	c.shut()
	if c.after {
		c.b = append(c.b, ',')
	}
	name := `user`
	if role == chela.RoleAssistant {
		name = `model`
	}
	c.b = append(append(append(c.b, `{"role":"`...), name...), `","parts":[`...)
	c.role, c.after = role, true
}

// shut ends the content that is open.
func (c *conversation) shut() {
	if c.role != "" {
		c.b = append(c.b, "]}"...)
	}
	c.role = ""
}

// add writes a message.
func (c *conversation) add(ctx context.Context, m chela.Message) error {
	if m.Role != chela.RoleTool {
		c.show()
	}
	if m.Role == chela.RoleAssistant {
		c.said(m)
		return nil
	}
	parts, err := c.p.guard.Parts(ctx, c.req, m)
	if err != nil {
		return err
	}
	if m.Role == chela.RoleTool {
		c.result(m, parts)
		return nil
	}
	for _, part := range parts {
		c.part(part)
	}
	return nil
}

// close ends the conversation. The user has the last word, as the server
// answers nothing to the model's own.
func (c *conversation) close() []byte {
	c.show()
	if c.role == chela.RoleAssistant {
		c.part(wire.Part{Text: wire.GoOn})
	}
	c.shut()
	return c.b
}

// part writes what a person shows.
func (c *conversation) part(part wire.Part) {
	c.open(chela.RoleUser)
	if part.Image == nil {
		c.b = append(c.b, `{"text":`...)
		c.b = append(wire.AppendString(c.b, part.Text), '}')
		return
	}
	c.b = appendImage(c.b, part)
}

func appendImage(b []byte, part wire.Part) []byte {
	b = append(b, `{"inlineData":{"mimeType":"`...)
	b = append(b, part.MediaType...) // one of a few
	b = append(b, `","data":"`...)
	b = base64.StdEncoding.AppendEncode(b, part.Image)
	return append(b, `"}}`...)
}

// said writes what the model said before, which it wants back in one piece, and
// does not begin a conversation.
func (c *conversation) said(m chela.Message) {
	if !c.after {
		c.part(wire.Part{Text: wire.GoesOn})
	}
	for _, t := range m.Thinking {
		if signature := c.signature(t, placeThought); signature != "" {
			c.open(chela.RoleAssistant)
			c.b = append(c.b, `{"thought":true,"text":`...)
			c.b = wire.AppendString(c.b, t.Text)
			c.sign(signature)
		}
	}
	if m.Text != "" {
		c.open(chela.RoleAssistant)
		c.b = append(c.b, `{"text":`...)
		c.b = wire.AppendString(c.b, m.Text)
		c.sign(c.find(m, placeText))
	}
	for i, call := range m.Calls {
		c.open(chela.RoleAssistant)
		c.b = append(c.b, `{"functionCall":{"id":`...)
		c.b = wire.AppendString(c.b, call.Ref)
		c.b = append(c.b, `,"name":`...)
		c.b = wire.AppendString(c.b, call.Tool)
		c.b = append(c.b, `,"args":`...)
		c.b = append(append(c.b, call.Args...), '}')
		c.sign(c.find(m, placeOf(i)))
	}
}

// sign ends a part, with its signature if it has one.
func (c *conversation) sign(signature string) {
	if signature != "" {
		c.b = append(c.b, `,"thoughtSignature":`...)
		c.b = wire.AppendString(c.b, signature)
	}
	c.b = append(c.b, '}')
}

// withImages is the generation from which on models see images in results.
const withImages = 3

// result writes the result of a call. For models that see no images in it, those
// follow once all results of the step are there.
func (c *conversation) result(m chela.Message, parts []wire.Part) {
	var texts []string
	var images []wire.Part
	for _, part := range parts {
		if part.Image == nil {
			texts = append(texts, part.Text)
			continue
		}
		images = append(images, part)
	}
	c.open(chela.RoleTool)
	c.b = append(c.b, `{"functionResponse":{"id":`...)
	c.b = wire.AppendString(c.b, m.Ref)
	c.b = append(c.b, `,"name":`...)
	c.b = wire.AppendString(c.b, m.Tool)
	key := `,"response":{"output":`
	if m.Failed {
		key = `,"response":{"error":`
	}
	c.b = append(c.b, key...)
	c.b = append(wire.AppendString(c.b, strings.Join(texts, "\n")), '}')
	holds := c.generation >= withImages
	if holds && len(images) > 0 {
		c.b = append(c.b, `,"parts":[`...)
		for i, image := range images {
			if i > 0 {
				c.b = append(c.b, ',')
			}
			c.b = appendImage(c.b, image)
		}
		c.b = append(c.b, ']')
	}
	c.b = append(c.b, "}}"...)
	if !holds {
		for _, image := range images {
			c.shown = append(c.shown, wire.Part{Text: "Image in the result of " + m.Tool + " (" + m.Ref + "):"}, image)
		}
	}
}

// show writes the images that wait.
func (c *conversation) show() {
	for _, part := range c.shown {
		c.part(part)
	}
	c.shown = nil
}

// appendTools appends the member that holds the tools.
func (p *Provider) appendTools(b []byte, tools []chela.ToolSpec) ([]byte, error) {
	if len(tools) == 0 {
		return b, nil
	}
	b, err := p.tools.Append(append(b, `"tools":[{"functionDeclarations":[`...), tools, p.tool)
	return append(b, "]}],"...), err
}

// tool writes a tool.
func (p *Provider) tool(t chela.ToolSpec) ([]byte, error) {
	schema, ok := wire.Object(bytes.ToValidUTF8(t.Input, []byte("\uFFFD")))
	if !ok {
		return nil, p.guard.Unsent(chela.Invalid, fmt.Sprintf("schema of tool %q is not a JSON object", t.Name))
	}
	b := wire.AppendString([]byte(`{"name":`), t.Name)
	if t.Description != "" {
		b = append(b, `,"description":`...)
		b = wire.AppendString(b, t.Description)
	}
	b = append(b, `,"parametersJsonSchema":`...)
	return append(appendParameters(b, schema), '}'), nil
}
