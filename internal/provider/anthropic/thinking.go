package anthropic

import (
	"slices"

	"github.com/anthropics/anthropic-sdk-go"

	"chela"
	"chela/internal/provider/claude"
)

// think sets how much the model thinks.
func (p *Provider) think(params *anthropic.MessageNewParams, req *chela.Request) {
	t := claude.Think(claude.Question{
		Model: req.Model, Level: req.Thinking, MaxTokens: req.MaxTokens, Longest: int(p.longest), Midway: callsWithoutThinking(params.Messages),
	})
	params.MaxTokens = int64(t.MaxTokens)
	params.OutputConfig.Effort = anthropic.OutputConfigEffort(t.Effort)
	switch t.Mode {
	case claude.Enabled:
		params.Thinking = anthropic.ThinkingConfigParamOfEnabled(int64(t.Budget))
	case claude.Adaptive:
		params.Thinking.OfAdaptive = &anthropic.ThinkingConfigAdaptiveParam{
			Display: anthropic.ThinkingConfigAdaptiveDisplaySummarized,
		}
	case claude.BetweenTools:
		between := anthropic.NewThinkingConfigBetweenToolsParam()
		params.Thinking.OfBetweenTools = &between
	case claude.Disabled:
		disabled := anthropic.NewThinkingConfigDisabledParam()
		params.Thinking.OfDisabled = &disabled
	}
}

// callsWithoutThinking reports whether the model waits for results of calls
// that it, or another model, made without thinking.
func callsWithoutThinking(messages []anthropic.MessageParam) bool {
	for _, m := range slices.Backward(messages) {
		if m.Role != anthropic.MessageParamRoleAssistant {
			continue
		}
		first, last := m.Content[0], m.Content[len(m.Content)-1]
		return last.OfToolUse != nil && first.OfThinking == nil && first.OfRedactedThinking == nil
	}
	return false
}

// ReasonsOnDemand reports whether a model reasons only where a request says so.
func (p *Provider) ReasonsOnDemand(model string) bool { return claude.ThinksIfAsked(model) }
