package bedrock

import (
	"strings"

	"chela"
	"chela/internal/model/provider/anthropic"
	"chela/internal/model/provider/wire"
	"chela/internal/platform/lazyregexp"
)

// The maker of a model follows from its id:
// anthropic.claude-sonnet-4-5-20250929-v1:0, us.amazon.nova-2-lite-v1:0,
// openai.gpt-oss-120b-1:0. It is unknown for an application inference profile.
var (
	nova2  = lazyregexp.New(`amazon\.nova-2`)
	gptOSS = lazyregexp.New(`openai\.gpt-oss`)

	// caches matches the models that support cache breakpoints; others reject
	// them. Nova accepts them everywhere except after tools. See
	// https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html.
	caches        = lazyregexp.New(`anthropic\.claude|amazon\.nova`)
	withoutCaches = lazyregexp.New(`claude-(v2|instant|3-(opus|sonnet|haiku)|3-5-sonnet-20240620)`)
)

func isClaude(model string) bool { return strings.Contains(model, "anthropic.claude") }

func mayMark(model string) bool {
	return caches().MatchString(model) && !withoutCaches().MatchString(model)
}

// think sets the thinking fields of the model's maker, for Nova 2 as in
// https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html.
// Models of other makers keep their defaults.
func (p *Provider) think(o *options, req *chela.Request, items []wire.Item) {
	level := req.Thinking
	switch {
	case isClaude(req.Model):
		o.thinkLikeClaude(anthropic.Think(anthropic.ThinkingQuestion{
			Model: req.Model, Level: level, MaxTokens: req.MaxTokens, Longest: p.longest, Midway: wire.Midway(items, kind),
		}))
	case level == "":
	case gptOSS().MatchString(req.Model):
		o.Fields = map[string]any{"reasoning_effort": wire.Efforts[level]}
	case nova2().MatchString(req.Model) && level != chela.ThinkingOff:
		effort := wire.Efforts[level]
		if effort == "high" && req.MaxTokens > 0 { // Nova rejects an output limit at its highest effort
			effort = "medium"
		}
		o.Fields = map[string]any{"reasoningConfig": map[string]any{"type": "enabled", "maxReasoningEffort": effort}}
	}
}

func (o *options) thinkLikeClaude(t anthropic.Thinking) {
	o.Inference.MaxTokens = t.MaxTokens
	o.Fields = map[string]any{}
	if t.Mode != "" {
		thinking := map[string]any{"type": t.Mode}
		if t.Mode == anthropic.ThinkingEnabled {
			thinking["budget_tokens"] = t.Budget
		}
		o.Fields["thinking"] = thinking
	}
	if t.Effort != "" {
		o.Fields["output_config"] = map[string]any{"effort": t.Effort}
	}
}

// ReasonsOnDemand reports whether a model reasons only on request.
func (p *Provider) ReasonsOnDemand(model string) bool { return anthropic.ThinksIfAsked(model) }
