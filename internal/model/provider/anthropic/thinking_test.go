package anthropic_test

import (
	"testing"

	"chela"
	"chela/internal/model/provider/anthropic"
)

// TestThink has one model for each way to think.
func TestThink(t *testing.T) {
	t.Parallel()
	const long = 64_000
	tests := []struct {
		name string
		q    anthropic.ThinkingQuestion
		want anthropic.Thinking
	}{
		{"left to the model", anthropic.ThinkingQuestion{Model: "claude-opus-5", Longest: long}, anthropic.Thinking{MaxTokens: 32_000}},
		{"short answers", anthropic.ThinkingQuestion{Model: "claude-opus-5", Longest: 8_192}, anthropic.Thinking{MaxTokens: 8_192}},
		{"cannot", anthropic.ThinkingQuestion{Model: "claude-3-5-haiku-latest", Level: chela.ThinkingHigh, Longest: 8_192}, anthropic.Thinking{MaxTokens: 8_192}},
		{"budget", anthropic.ThinkingQuestion{Model: "claude-sonnet-4-5", Level: chela.ThinkingLow, MaxTokens: 10_000, Longest: long}, anthropic.Thinking{Mode: anthropic.ThinkingEnabled, Budget: 4_096, MaxTokens: 10_000}},
		{"budget at Amazon", anthropic.ThinkingQuestion{Model: "us.anthropic.claude-haiku-4-5-20251001-v1:0", Level: chela.ThinkingXHigh, Longest: long}, anthropic.Thinking{Mode: anthropic.ThinkingEnabled, Budget: 32_000, MaxTokens: 64_000}},
		{"budget that is too small", anthropic.ThinkingQuestion{Model: "claude-sonnet-4-5", Level: chela.ThinkingLow, Longest: 2_000}, anthropic.Thinking{MaxTokens: 2_000}},
		{"budget within a short answer", anthropic.ThinkingQuestion{Model: "claude-sonnet-4-5", Level: chela.ThinkingXHigh, MaxTokens: 3_000, Longest: long}, anthropic.Thinking{Mode: anthropic.ThinkingEnabled, Budget: 1_500, MaxTokens: 3_000}},
		{"no room for a budget", anthropic.ThinkingQuestion{Model: "claude-sonnet-4-5", Level: chela.ThinkingXHigh, MaxTokens: 2_000, Longest: long}, anthropic.Thinking{MaxTokens: 2_000}},
		{"midway", anthropic.ThinkingQuestion{Model: "claude-sonnet-4-5", Level: chela.ThinkingLow, Longest: long, Midway: true}, anthropic.Thinking{MaxTokens: 32_000}},
		{"other maker", anthropic.ThinkingQuestion{Model: "kimi", Level: chela.ThinkingMinimal, Longest: long}, anthropic.Thinking{Mode: anthropic.ThinkingEnabled, Budget: 1_024, MaxTokens: 33_024}},
		{"effort", anthropic.ThinkingQuestion{Model: "claude-opus-5", Level: chela.ThinkingXHigh, MaxTokens: 9, Longest: long}, anthropic.Thinking{Mode: anthropic.ThinkingAdaptive, Effort: "xhigh", MaxTokens: 9}},
		{"effort without the highest", anthropic.ThinkingQuestion{Model: "claude-opus-4-6", Level: chela.ThinkingXHigh, MaxTokens: 9, Longest: long}, anthropic.Thinking{Mode: anthropic.ThinkingAdaptive, Effort: "max", MaxTokens: 9}},
		{"off", anthropic.ThinkingQuestion{Model: "claude-opus-5", Level: chela.ThinkingOff, MaxTokens: 9, Longest: long}, anthropic.Thinking{Mode: anthropic.ThinkingDisabled, MaxTokens: 9}},
		{"off unless asked", anthropic.ThinkingQuestion{Model: "claude-opus-4-6", Level: chela.ThinkingOff, MaxTokens: 9, Longest: long}, anthropic.Thinking{MaxTokens: 9}},
		{"off between tools", anthropic.ThinkingQuestion{Model: "claude-sonnet-5-5", Level: chela.ThinkingOff, MaxTokens: 9, Longest: long}, anthropic.Thinking{Mode: anthropic.ThinkingBetweenTools, MaxTokens: 9}},
		{"never off", anthropic.ThinkingQuestion{Model: "claude-opus-5-5", Level: chela.ThinkingOff, MaxTokens: 9, Longest: long}, anthropic.Thinking{Effort: "low", MaxTokens: 9}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := anthropic.Think(tt.q); got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}
