package gemini

import (
	"context"
	"strings"

	"chela"
	"chela/internal/model/provider/wire"
)

// withImages is the first generation that accepts images in results.
const withImages = 3

// body returns the JSON of a request. The conversation comes last.
func (p *Provider) body(ctx context.Context, req *chela.Request, how signing) ([]byte, error) {
	messages := wire.Whole(req.Messages, wire.FitsRef)
	generation := generationOf(req.Model)
	items, err := p.server.Items(ctx, req, messages, wire.Form{Opens: true, Ends: true, Aside: generation < withImages})
	if err != nil {
		return nil, err
	}
	c := conversation{JSON: wire.Scratch(wire.Size(req, messages)), model: req.Model, how: how, generation: generation}
	c.Raw("{")
	if system := wire.System(req); system != "" {
		c.String(`"systemInstruction":{"parts":[{"text":`, system).Raw(`}]},`)
	}
	if len(req.Tools) > 0 {
		c.Raw(`"tools":[{"functionDeclarations":[`)
		if c.JSON, err = p.tools.Append(c.JSON, req.Tools, p.tool); err != nil {
			return nil, err
		}
		c.Raw("]}],")
	}
	c.toolChoice(req)
	c.config(req)
	c.Raw(`"contents":[`)
	for _, it := range items {
		c.add(it)
	}
	if len(items) > 0 {
		c.End("]},")
	}
	return *c.End("]}"), nil
}

// config appends the output limit, thinking and sampling.
func (c *conversation) config(req *chela.Request) {
	var members wire.JSON
	if req.MaxTokens > 0 {
		members.Int(`,"maxOutputTokens":`, req.MaxTokens)
	}
	appendThinking(&members, req)
	appendSampling(&members, req.Sampling)
	if len(members) > 0 {
		c.Bytes(`"generationConfig":{`, members[1:]).Raw("},")
	}
}

// A conversation writes the messages of a request. Consecutive results are one
// content, as all results of a step belong together, and so are consecutive
// messages of people.
type conversation struct {
	wire.JSON
	model      string
	generation float64 // the model's
	how        signing
	role       chela.Role // role of the open content; empty for none
}

// open makes role the role of the open content.
func (c *conversation) open(role chela.Role) {
	if c.role == role {
		return
	}
	if c.role != "" {
		c.End("]},")
	}
	c.role = role
	if role == chela.RoleAssistant {
		c.Raw(`{"role":"model","parts":[`)
	} else {
		c.Raw(`{"role":"user","parts":[`)
	}
}

// add writes a message, each part followed by a comma.
func (c *conversation) add(it wire.Item) {
	c.open(it.Role)
	switch it.Role {
	case chela.RoleAssistant:
		c.said(it.Message)
	case chela.RoleTool:
		c.result(it)
	default:
		for part := range it.Content() {
			c.part(part)
		}
	}
}

// part writes a text or an image.
func (c *conversation) part(part wire.Part) {
	if part.Image == nil {
		c.String(`{"text":`, part.Text).Raw("},")
		return
	}
	c.String(`{"inlineData":{"mimeType":`, part.MediaType).Base64(`,"data":"`, part.Image).Raw("}},")
}

// said writes a past answer of the model, which must be a single content.
func (c *conversation) said(m *chela.Message) {
	for _, t := range m.Thinking {
		if signature := c.signature(t, placeThought); signature != "" {
			c.String(`{"thought":true,"text":`, t.Text)
			c.sign(signature)
		}
	}
	if m.Text != "" {
		c.String(`{"text":`, m.Text)
		c.sign(c.find(m, placeText))
	}
	for i, call := range m.Calls {
		c.String(`{"functionCall":{"id":`, call.Ref).String(`,"name":`, call.Tool).Bytes(`,"args":`, call.Args).Raw("}")
		c.sign(c.find(m, placeOf(i)))
	}
}

// sign closes a part, with its signature if any.
func (c *conversation) sign(signature string) {
	if signature != "" {
		c.String(`,"thoughtSignature":`, signature)
	}
	c.Raw("},")
}

// result writes the result of a call.
func (c *conversation) result(it wire.Item) {
	var texts []string
	var images []wire.Part
	for part := range it.Content() {
		if part.Image == nil {
			texts = append(texts, part.Text)
		} else {
			images = append(images, part)
		}
	}
	key := `,"response":{"output":`
	if it.Failed {
		key = `,"response":{"error":`
	}
	c.String(`{"functionResponse":{"id":`, it.Ref).String(`,"name":`, it.Tool).String(key, strings.Join(texts, "\n")).Raw("}")
	if len(images) > 0 {
		c.Raw(`,"parts":[`)
		for _, image := range images {
			c.part(image)
		}
		c.End("]")
	}
	c.Raw("}},")
}

// tool writes a tool.
func (p *Provider) tool(t chela.ToolSpec) ([]byte, error) {
	schema, err := p.server.Schema(t, "{}")
	if err != nil {
		return nil, err
	}
	var j wire.JSON
	j.Tool(`{"name":`, t)
	j.Raw(`,"parametersJsonSchema":`)
	appendParameters(&j, schema)
	return *j.Raw("}"), nil
}
