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
	"chela/internal/model/provider/wire"
)

// refShape is the form of a call id. The protocol only requires that a result
// has the id of its call.
var refShape = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// body returns the JSON of a request, hand-written for speed as in the other
// protocols: each step sends the whole conversation, which comes last.
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
	b = appendToolChoice(b, req)
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

// appendConfig appends the output limit, thinking and sampling.
func appendConfig(b []byte, req *chela.Request) []byte {
	var members []byte
	if req.MaxTokens > 0 {
		members = append(members, `,"maxOutputTokens":`...)
		members = strconv.AppendInt(members, int64(req.MaxTokens), 10)
	}
	members = appendThinking(members, req)
	members = appendSampling(members, req.Sampling)
	if len(members) == 0 {
		return b
	}
	b = append(b, `"generationConfig":{`...)
	b = append(b, members[1:]...)
	return append(b, "},"...)
}

// A conversation writes the messages of a request. Consecutive results are one
// content, as all results of a step belong together, and so are consecutive
// messages of people.
type conversation struct {
	p          *Provider
	req        *chela.Request
	how        signing
	generation float64 // the model's

	b     []byte
	role  chela.Role  // role of the open content; empty if none is open
	shown []wire.Part // images to append after the results of models that cannot hold them; each follows a line with its source
	after bool        // the open content is not the first one
}

// open makes role the role of the open content.
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

// shut closes the open content.
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

// close ends the conversation. A turn of the user comes last, as the server
// does not answer the model's own.
func (c *conversation) close() []byte {
	c.show()
	if c.role == chela.RoleAssistant {
		c.part(wire.Part{Text: wire.GoOn})
	}
	c.shut()
	return c.b
}

// part writes a text or an image.
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
	b = append(b, part.MediaType...) // from a fixed set
	b = append(b, `","data":"`...)
	b = base64.StdEncoding.AppendEncode(b, part.Image)
	return append(b, `"}}`...)
}

// said writes a past answer of the model, which must be a single content and
// cannot begin a conversation.
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

// sign closes a part, with its signature if any.
func (c *conversation) sign(signature string) {
	if signature != "" {
		c.b = append(c.b, `,"thoughtSignature":`...)
		c.b = wire.AppendString(c.b, signature)
	}
	c.b = append(c.b, '}')
}

// withImages is the first generation that accepts images in results.
const withImages = 3

// result writes the result of a call. For models without images in results, the
// images follow after all results of the step.
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

// show writes the deferred images.
func (c *conversation) show() {
	for _, part := range c.shown {
		c.part(part)
	}
	c.shown = nil
}

// appendTools appends the tools member.
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
