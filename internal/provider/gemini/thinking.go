package gemini

import (
	"regexp"
	"strconv"

	"chela"
)

// budgets are the tokens that models of generation 2.5 may think, for each
// level, as Google itself maps the efforts of other protocols; see
// https://ai.google.dev/gemini-api/docs/openai#thinking. The least is what all
// of them accept.
var budgets = map[chela.ThinkingLevel]int{
	chela.ThinkingMinimal: 512,
	chela.ThinkingLow:     1_024,
	chela.ThinkingMedium:  8_192,
	chela.ThinkingHigh:    24_576,
	chela.ThinkingXHigh:   32_768,
}

// leastBudget is the least that every model of generation 2.5 accepts, but for
// the Pro models, which cannot think less than leastOfPro and not be kept from
// thinking. No other model thinks more than mostOfFlash.
const (
	leastBudget = 512
	leastOfPro  = 128
	mostOfFlash = 24_576
)

// levels are those for models from generation 3 on; see
// https://ai.google.dev/gemini-api/docs/thinking#thinking-levels.
var levels = map[chela.ThinkingLevel]string{
	chela.ThinkingOff:     "MINIMAL",
	chela.ThinkingMinimal: "MINIMAL",
	chela.ThinkingLow:     "LOW",
	chela.ThinkingMedium:  "MEDIUM",
	chela.ThinkingHigh:    "HIGH",
	chela.ThinkingXHigh:   "HIGH",
}

// What models can do shows in their names only: gemini-2.5-flash-lite,
// gemini-3.1-pro-preview, gemini-4-argon, gemini-flash-latest.
var (
	numbered = regexp.MustCompile(`gemini-(\d+)(\.\d+)?-`)
	latest   = regexp.MustCompile(`gemini-(pro|flash|flash-lite)-latest`)
	isPro    = regexp.MustCompile(`gemini-[\d.]+-pro`)

	withMinimal   = regexp.MustCompile(`gemini-3(\.[0-5])?-flash|gemini-3(\.\d+)?-flash-lite`)
	withoutMedium = regexp.MustCompile(`gemini-3-pro`)
)

// newest is the generation that names without a number mean at least.
const newest = 3

// generationOf returns the generation of a model, such as 2.5; 0 if its name
// does not tell.
func generationOf(model string) float64 {
	if latest.MatchString(model) {
		return newest
	}
	m := numbered.FindStringSubmatch(model)
	if m == nil {
		return 0
	}
	n, err := strconv.ParseFloat(m[1]+m[2], 64)
	if err != nil { // more digits than a number has
		return 0
	}
	return n
}

// appendThinking appends the member that says how much to think. An empty level
// leaves it to the model, and models that cannot think are not told. Thinking
// counts as output, so a budget takes at most half of the answer's limit.
func appendThinking(b []byte, req *chela.Request) []byte {
	generation := generationOf(req.Model)
	if req.Thinking == "" || generation < 2.5 {
		return b
	}
	b = append(b, `,"thinkingConfig":{`...)
	if generation < 3 {
		b = append(b, `"thinkingBudget":`...)
		b = strconv.AppendInt(b, int64(budget(req)), 10)
	} else {
		b = append(b, `"thinkingLevel":"`...)
		b = append(append(b, level(req.Model, req.Thinking)...), '"')
	}
	if req.Thinking != chela.ThinkingOff {
		b = append(b, `,"includeThoughts":true`...)
	}
	return append(b, '}')
}

func budget(req *chela.Request) int {
	pro := isPro.MatchString(req.Model)
	if req.Thinking == chela.ThinkingOff {
		if pro {
			return leastOfPro
		}
		return 0
	}
	n := budgets[req.Thinking]
	if !pro {
		n = min(n, mostOfFlash)
	}
	if req.MaxTokens > 0 {
		n = max(min(n, req.MaxTokens/2), leastBudget)
	}
	return n
}

// level returns the nearest level that a model has.
func level(model string, l chela.ThinkingLevel) string {
	word := levels[l]
	switch {
	case word == "MINIMAL" && !withMinimal.MatchString(model):
		return "LOW"
	case word == "MEDIUM" && withoutMedium.MatchString(model):
		return "HIGH"
	default:
		return word
	}
}
