package anthropic

// This part of the package selects thinking parameters for Anthropic's models,
// on any provider. Abilities are derived from the model's name, as no API
// reports them.

import (
	"cmp"
	"strings"

	"chela"
	"chela/internal/platform/lazyregexp"
)

// A ThinkingMode is a thinking mode, named as in the protocol.
type ThinkingMode string

// The modes. An empty one keeps the model's default.
const (
	ThinkingEnabled      ThinkingMode = "enabled"       // within a budget
	ThinkingAdaptive     ThinkingMode = "adaptive"      // as the effort allows
	ThinkingBetweenTools ThinkingMode = "between_tools" // not before the first call
	ThinkingDisabled     ThinkingMode = "disabled"
)

// Thinking is the thinking configuration of a request.
type Thinking struct {
	Mode      ThinkingMode
	Budget    int    // thinking tokens, for Enabled
	Effort    string // "low", "medium", "high", "xhigh" or "max"; empty keeps the model's default
	MaxTokens int    // output limit, the budget included
}

// thinkingMaxTokens is the output limit of a request that sets none, because the
// protocol requires one; a lower limit of the model applies.
const thinkingMaxTokens = 32_000

// budgets maps levels to thinking tokens, for models with a budget. 1,024 is
// the protocol's minimum, and above 32,000 it advises against waiting for the
// answer; between them each level roughly doubles; see
// https://platform.claude.com/docs/en/build-with-claude/extended-thinking.
var budgets = map[chela.ThinkingLevel]int{
	chela.ThinkingMinimal: 1_024,
	chela.ThinkingLow:     4_096,
	chela.ThinkingMedium:  8_192,
	chela.ThinkingHigh:    16_384,
	chela.ThinkingXHigh:   32_000,
}

// efforts maps levels for models with adaptive thinking; see
// https://platform.claude.com/docs/en/build-with-claude/effort.
var efforts = map[chela.ThinkingLevel]string{
	chela.ThinkingMinimal: "low",
	chela.ThinkingLow:     "low",
	chela.ThinkingMedium:  "medium",
	chela.ThinkingHigh:    "high",
	chela.ThinkingXHigh:   "xhigh",
}

// The generation follows the model line from 4 on and precedes it before:
// claude-sonnet-4-5-20250929, claude-3-7-sonnet-latest.
var (
	// Up to generation 4.5 models think within a budget. Later models are
	// adaptive: 4.7 and later reject a budget, 4.6 advises against it.
	withBudget      = lazyregexp.New(`claude-(3-7|(opus|sonnet|haiku)-4(-[015])?(-\d{8}|-latest|$))`)
	withoutThinking = lazyregexp.New(`claude-(2|instant|3-(opus|sonnet|haiku|5))`)
	withoutXHigh    = lazyregexp.New(`claude-(opus|sonnet)-4-6`)

	thinksIfAsked = lazyregexp.New(`claude-(3|(opus|sonnet|haiku)-4)`)
	thinksBetween = lazyregexp.New(`claude-sonnet-5-5`)
	thinksAlways  = lazyregexp.New(`claude-(opus-5-5|fable|mythos)`)
)

// A ThinkingQuestion is the input of [Think].
type ThinkingQuestion struct {
	Model     string
	Level     chela.ThinkingLevel // empty keeps the model's default
	MaxTokens int                 // output limit, thinking included; 0 for none
	Longest   int                 // the model's output limit, thinking included

	// Midway tells that tool results are pending for calls made without
	// thinking: the protocol does not allow thinking to begin within such a
	// round.
	Midway bool
}

// Think returns the thinking configuration of a request. Thinking counts as
// output: a budget takes at most half of the request's output limit, or is
// added to the default limit if the request has none. Models of other makers,
// on compatible servers, get a budget.
func Think(q ThinkingQuestion) Thinking {
	t := Thinking{MaxTokens: cmp.Or(q.MaxTokens, min(thinkingMaxTokens, q.Longest))}
	switch {
	case q.Level == "" || withoutThinking().MatchString(q.Model):
	case q.Level == chela.ThinkingOff:
		t.off(q.Model)
	case withBudget().MatchString(q.Model) || !strings.Contains(q.Model, "claude-"):
		longest := q.Longest
		if q.MaxTokens > 0 {
			longest = min(longest, q.MaxTokens)
		}
		budget := min(budgets[q.Level], longest/2)
		if budget < budgets[chela.ThinkingMinimal] || q.Midway {
			return t
		}
		t.Mode, t.Budget, t.MaxTokens = ThinkingEnabled, budget, min(t.MaxTokens+budget, longest)
	default:
		t.Mode, t.Effort = ThinkingAdaptive, efforts[q.Level]
		if q.Level == chela.ThinkingXHigh && withoutXHigh().MatchString(q.Model) {
			t.Effort = "max"
		}
	}
	return t
}

// ThinksIfAsked reports whether a model thinks only on request, as models up to
// generation 4 do.
func ThinksIfAsked(model string) bool { return thinksIfAsked().MatchString(model) }

// off turns thinking off. A model that always thinks gets the lowest effort.
func (t *Thinking) off(model string) {
	switch {
	case thinksIfAsked().MatchString(model):
	case thinksBetween().MatchString(model):
		t.Mode = ThinkingBetweenTools
	case thinksAlways().MatchString(model):
		t.Effort = "low"
	default:
		t.Mode = ThinkingDisabled
	}
}
