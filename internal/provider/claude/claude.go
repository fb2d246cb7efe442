// Package claude knows how the models of Anthropic are asked to think, whoever
// serves them. What they can do shows in their names only.
package claude

import (
	"cmp"
	"regexp"
	"strings"

	"chela"
)

// A Mode is a way to think, in the words of the protocol.
type Mode string

// The modes. An empty one leaves it to the model.
const (
	Enabled      Mode = "enabled"       // within a budget
	Adaptive     Mode = "adaptive"      // as much as the effort says
	BetweenTools Mode = "between_tools" // not before its first call
	Disabled     Mode = "disabled"
)

// Thinking is how much a model is asked to think.
type Thinking struct {
	Mode      Mode
	Budget    int    // tokens of thinking, where it is enabled
	Effort    string // "low", "medium", "high", "xhigh" or "max"; empty leaves it to the model
	MaxTokens int    // of the answer, the budget included
}

// defaultMaxTokens is asked for where the request leaves the length of the
// answer open, which the protocol does not allow, unless the model gives less.
const defaultMaxTokens = 32_000

// budgets are the tokens that models with a thinking budget may think, for
// each level. 1,024 is the least that the protocol accepts, and above 32,000
// it advises against waiting for the answer; between them each level doubles,
// or nearly; see
// https://platform.claude.com/docs/en/build-with-claude/extended-thinking.
var budgets = map[chela.ThinkingLevel]int{
	chela.ThinkingMinimal: 1_024,
	chela.ThinkingLow:     4_096,
	chela.ThinkingMedium:  8_192,
	chela.ThinkingHigh:    16_384,
	chela.ThinkingXHigh:   32_000,
}

// efforts are the levels for models that decide themselves how much to think;
// see https://platform.claude.com/docs/en/build-with-claude/effort.
var efforts = map[chela.ThinkingLevel]string{
	chela.ThinkingMinimal: "low",
	chela.ThinkingLow:     "low",
	chela.ThinkingMedium:  "medium",
	chela.ThinkingHigh:    "high",
	chela.ThinkingXHigh:   "xhigh",
}

// The generation stands behind the line from 4 on, ahead of it before:
// claude-sonnet-4-5-20250929, claude-3-7-sonnet-latest.
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

// A Question is what is known of a request when it is asked.
type Question struct {
	Model     string
	Level     chela.ThinkingLevel // empty leaves it to the model
	MaxTokens int                 // of the answer, thinking included; 0 leaves it open
	Longest   int                 // answer of the model, thinking included

	// Midway says that the model waits for results of calls that were made
	// without thinking: the protocol refuses to begin inside a round of calls.
	Midway bool
}

// Think returns how much a model is asked to think. Thinking counts as output: a
// budget takes at most half of the answer's limit, and comes on top of it where the
// request leaves that open. Models of other makers, on
// servers that speak the protocol of Anthropic too, are asked with a budget.
func Think(q Question) Thinking {
	t := Thinking{MaxTokens: cmp.Or(q.MaxTokens, min(defaultMaxTokens, q.Longest))}
	switch {
	case q.Level == "" || withoutThinking.MatchString(q.Model):
	case q.Level == chela.ThinkingOff:
		t.off(q.Model)
	case withBudget.MatchString(q.Model) || !strings.Contains(q.Model, "claude-"):
		longest := q.Longest
		if q.MaxTokens > 0 {
			longest = min(longest, q.MaxTokens)
		}
		budget := min(budgets[q.Level], longest/2)
		if budget < budgets[chela.ThinkingMinimal] || q.Midway {
			return t
		}
		t.Mode, t.Budget, t.MaxTokens = Enabled, budget, min(t.MaxTokens+budget, longest)
	default:
		t.Mode, t.Effort = Adaptive, efforts[q.Level]
		if q.Level == chela.ThinkingXHigh && withoutXHigh.MatchString(q.Model) {
			t.Effort = "max"
		}
	}
	return t
}

// ThinksIfAsked reports whether a model thinks only where it is asked to, which is
// so up to generation 4.
func ThinksIfAsked(model string) bool { return thinksIfAsked.MatchString(model) }

// off turns thinking off in the way of the model. One that always thinks gets
// the lowest effort.
func (t *Thinking) off(model string) {
	switch {
	case thinksIfAsked.MatchString(model):
	case thinksBetween.MatchString(model):
		t.Mode = BetweenTools
	case thinksAlways.MatchString(model):
		t.Effort = "low"
	default:
		t.Mode = Disabled
	}
}
