package anthropic

import (
	"regexp"
	"slices"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"

	"chela"
)

// defaultMaxTokens is asked for where the request leaves the length of the
// answer open, which the protocol does not allow, unless the model gives less.
const defaultMaxTokens = 32_000

// budgets are the tokens that models with a thinking budget may think, for
// each level. 1,024 is the least that the protocol accepts, and above 32,000
// it advises against waiting for the answer; between them each level doubles,
// or nearly; see
// https://platform.claude.com/docs/en/build-with-claude/extended-thinking.
var budgets = map[chela.ThinkingLevel]int64{
	chela.ThinkingMinimal: 1_024,
	chela.ThinkingLow:     4_096,
	chela.ThinkingMedium:  8_192,
	chela.ThinkingHigh:    16_384,
	chela.ThinkingXHigh:   32_000,
}

// efforts are the levels for models that decide themselves how much to think;
// see https://platform.claude.com/docs/en/build-with-claude/effort.
var efforts = map[chela.ThinkingLevel]anthropic.OutputConfigEffort{
	chela.ThinkingMinimal: anthropic.OutputConfigEffortLow,
	chela.ThinkingLow:     anthropic.OutputConfigEffortLow,
	chela.ThinkingMedium:  anthropic.OutputConfigEffortMedium,
	chela.ThinkingHigh:    anthropic.OutputConfigEffortHigh,
	chela.ThinkingXHigh:   anthropic.OutputConfigEffortXhigh,
}

// What models can do shows in their names only. The generation stands behind
// the line from 4 on, ahead of it before: claude-sonnet-4-5-20250929,
// claude-3-7-sonnet-latest.
var (
	// Up to generation 4.5 models think within a budget. Later ones decide
	// themselves: from 4.7 on a budget is refused, 4.6 advises against it.
	withBudget      = regexp.MustCompile(`claude-(3-7|(opus|sonnet|haiku)-4(-[015])?(-\d{8}|-latest|$))`)
	withoutThinking = regexp.MustCompile(`claude-(2|instant|3-(opus|sonnet|haiku|5))`)
	withoutXHigh    = regexp.MustCompile(`claude-(opus|sonnet)-4-6`)

	thinksIfAsked = regexp.MustCompile(`claude-(3|(opus|sonnet|haiku)-4)`)
	thinksBetween = regexp.MustCompile(`claude-sonnet-5-5`)
	thinksAlways  = regexp.MustCompile(`claude-(opus-5-5|fable|mythos)`)
)

// think sets how much the model thinks. An empty level leaves it to the model.
// Thinking counts as output, so a budget comes on top of the answer's limit.
// Models of other makers, on servers that speak this protocol too, are asked
// with a budget.
func (p *Provider) think(params *anthropic.MessageNewParams, req *chela.Request) {
	params.MaxTokens = int64(req.MaxTokens)
	if req.MaxTokens == 0 {
		params.MaxTokens = min(defaultMaxTokens, p.longest)
	}
	model, level := req.Model, req.Thinking
	switch {
	case level == "" || withoutThinking.MatchString(model):
	case level == chela.ThinkingOff:
		unthink(params, model)
	case withBudget.MatchString(model) || !strings.Contains(model, "claude-"):
		budget := min(budgets[level], p.longest/2)
		if budget < budgets[chela.ThinkingMinimal] || callsWithoutThinking(params.Messages) {
			return // the protocol refuses to begin thinking inside a round of calls
		}
		params.MaxTokens = min(params.MaxTokens+budget, p.longest)
		params.Thinking = anthropic.ThinkingConfigParamOfEnabled(budget)
	default:
		params.Thinking.OfAdaptive = &anthropic.ThinkingConfigAdaptiveParam{
			Display: anthropic.ThinkingConfigAdaptiveDisplaySummarized,
		}
		params.OutputConfig.Effort = efforts[level]
		if level == chela.ThinkingXHigh && withoutXHigh.MatchString(model) {
			params.OutputConfig.Effort = anthropic.OutputConfigEffortMax
		}
	}
}

// unthink turns thinking off in the way of the model. One that always thinks
// gets the lowest effort.
func unthink(params *anthropic.MessageNewParams, model string) {
	switch {
	case thinksIfAsked.MatchString(model):
	case thinksBetween.MatchString(model):
		between := anthropic.NewThinkingConfigBetweenToolsParam()
		params.Thinking.OfBetweenTools = &between
	case thinksAlways.MatchString(model):
		params.OutputConfig.Effort = anthropic.OutputConfigEffortLow
	default:
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
