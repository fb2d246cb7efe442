package anthropic

import (
	"slices"

	"github.com/anthropics/anthropic-sdk-go"

	"chela"
)

// think sets the thinking mode and budget.
func (p *Provider) think(params *anthropic.MessageNewParams, req *chela.Request) {
	t := Think(ThinkingQuestion{
		Model: req.Model, Level: req.Thinking, MaxTokens: req.MaxTokens, Longest: int(p.longest), Midway: callsWithoutThinking(params.Messages),
	})
	params.MaxTokens = int64(t.MaxTokens)
	params.OutputConfig.Effort = anthropic.OutputConfigEffort(t.Effort)
	switch t.Mode {
	case ThinkingEnabled:
		params.Thinking = anthropic.ThinkingConfigParamOfEnabled(int64(t.Budget))
	case ThinkingAdaptive:
		params.Thinking.OfAdaptive = &anthropic.ThinkingConfigAdaptiveParam{
			Display: anthropic.ThinkingConfigAdaptiveDisplaySummarized,
		}
	case ThinkingBetweenTools:
		between := anthropic.NewThinkingConfigBetweenToolsParam()
		params.Thinking.OfBetweenTools = &between
	case ThinkingDisabled:
		disabled := anthropic.NewThinkingConfigDisabledParam()
		params.Thinking.OfDisabled = &disabled
	}
}

// callsWithoutThinking reports whether the pending tool results answer calls
// that were made without thinking, by this or another model.
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

// ReasonsOnDemand reports whether a model reasons only on request.
func (p *Provider) ReasonsOnDemand(model string) bool { return ThinksIfAsked(model) }
