package gemini

import (
	"strconv"

	"chela"
	"chela/internal/model/provider/wire"
	"chela/internal/platform/lazyregexp"
)

// budgets maps levels to thinking tokens for generation 2.5, as Google maps the
// efforts of OpenAI's protocol; see
// https://ai.google.dev/gemini-api/docs/openai#thinking. All models accept the
// least.
var budgets = map[chela.ThinkingLevel]int{
	chela.ThinkingMinimal: 512,
	chela.ThinkingLow:     1_024,
	chela.ThinkingMedium:  8_192,
	chela.ThinkingHigh:    24_576,
	chela.ThinkingXHigh:   32_768,
}

// leastBudget is accepted by all models of generation 2.5 except Pro, whose
// minimum is leastOfPro and whose thinking cannot be turned off. mostOfFlash is
// the maximum of all other models.
const (
	leastBudget = 512
	leastOfPro  = 128
	mostOfFlash = 24_576
)

// levels maps levels for generation 3 and later; see
// https://ai.google.dev/gemini-api/docs/thinking#thinking-levels.
var levels = map[chela.ThinkingLevel]string{
	chela.ThinkingOff:     "MINIMAL",
	chela.ThinkingMinimal: "MINIMAL",
	chela.ThinkingLow:     "LOW",
	chela.ThinkingMedium:  "MEDIUM",
	chela.ThinkingHigh:    "HIGH",
	chela.ThinkingXHigh:   "HIGH",
}

// Abilities are derived from the name: gemini-2.5-flash-lite,
// gemini-3.1-pro-preview, gemini-4-argon, gemini-flash-latest.
var (
	numbered = lazyregexp.New(`gemini-(\d+)(\.\d+)?-`)
	latest   = lazyregexp.New(`gemini-(pro|flash|flash-lite)-latest`)
	isPro    = lazyregexp.New(`gemini-[\d.]+-pro`)

	withMinimal   = lazyregexp.New(`gemini-3(\.[0-5])?-flash|gemini-3(\.\d+)?-flash-lite`)
	withoutMedium = lazyregexp.New(`gemini-3-pro`)
)

// newest is the generation assumed for a name without a number.
const newest = 3

// generationOf returns the generation of a model, such as 2.5; 0 if its name
// does not contain one.
func generationOf(model string) float64 {
	if latest().MatchString(model) {
		return newest
	}
	m := numbered().FindStringSubmatch(model)
	if m == nil {
		return 0
	}
	n, err := strconv.ParseFloat(m[1]+m[2], 64)
	if err != nil { // out of range
		return 0
	}
	return n
}

// appendThinking appends the thinking configuration. An empty level, or a model
// that cannot think, gets none. Thinking counts as output, so a budget takes at
// most half of the output limit.
func appendThinking(j *wire.JSON, req *chela.Request) {
	generation := generationOf(req.Model)
	if req.Thinking == "" || generation < 2.5 {
		return
	}
	if generation < 3 {
		j.Int(`,"thinkingConfig":{"thinkingBudget":`, budget(req))
	} else {
		j.String(`,"thinkingConfig":{"thinkingLevel":`, level(req.Model, req.Thinking))
	}
	if req.Thinking != chela.ThinkingOff {
		j.Raw(`,"includeThoughts":true`)
	}
	j.Raw("}")
}

func budget(req *chela.Request) int {
	pro := isPro().MatchString(req.Model)
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

// level returns the nearest level that a model supports.
func level(model string, l chela.ThinkingLevel) string {
	word := levels[l]
	switch {
	case word == "MINIMAL" && !withMinimal().MatchString(model):
		return "LOW"
	case word == "MEDIUM" && withoutMedium().MatchString(model):
		return "HIGH"
	default:
		return word
	}
}
