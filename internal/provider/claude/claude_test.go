package claude_test

import (
	"testing"

	"chela"
	"chela/internal/provider/claude"
)

// TestThink has one model for each way to think.
func TestThink(t *testing.T) {
	t.Parallel()
	const long = 64_000
	tests := []struct {
		name string
		q    claude.Question
		want claude.Thinking
	}{
		{"left to the model", claude.Question{Model: "claude-opus-5", Longest: long}, claude.Thinking{MaxTokens: 32_000}},
		{"short answers", claude.Question{Model: "claude-opus-5", Longest: 8_192}, claude.Thinking{MaxTokens: 8_192}},
		{"cannot", claude.Question{Model: "claude-3-5-haiku-latest", Level: chela.ThinkingHigh, Longest: 8_192}, claude.Thinking{MaxTokens: 8_192}},
		{"budget", claude.Question{Model: "claude-sonnet-4-5", Level: chela.ThinkingLow, MaxTokens: 10_000, Longest: long}, claude.Thinking{Mode: claude.Enabled, Budget: 4_096, MaxTokens: 10_000}},
		{"budget at Amazon", claude.Question{Model: "us.anthropic.claude-haiku-4-5-20251001-v1:0", Level: chela.ThinkingXHigh, Longest: long}, claude.Thinking{Mode: claude.Enabled, Budget: 32_000, MaxTokens: 64_000}},
		{"budget that is too small", claude.Question{Model: "claude-sonnet-4-5", Level: chela.ThinkingLow, Longest: 2_000}, claude.Thinking{MaxTokens: 2_000}},
		{"budget within a short answer", claude.Question{Model: "claude-sonnet-4-5", Level: chela.ThinkingXHigh, MaxTokens: 3_000, Longest: long}, claude.Thinking{Mode: claude.Enabled, Budget: 1_500, MaxTokens: 3_000}},
		{"no room for a budget", claude.Question{Model: "claude-sonnet-4-5", Level: chela.ThinkingXHigh, MaxTokens: 2_000, Longest: long}, claude.Thinking{MaxTokens: 2_000}},
		{"midway", claude.Question{Model: "claude-sonnet-4-5", Level: chela.ThinkingLow, Longest: long, Midway: true}, claude.Thinking{MaxTokens: 32_000}},
		{"other maker", claude.Question{Model: "kimi", Level: chela.ThinkingMinimal, Longest: long}, claude.Thinking{Mode: claude.Enabled, Budget: 1_024, MaxTokens: 33_024}},
		{"effort", claude.Question{Model: "claude-opus-5", Level: chela.ThinkingXHigh, MaxTokens: 9, Longest: long}, claude.Thinking{Mode: claude.Adaptive, Effort: "xhigh", MaxTokens: 9}},
		{"effort without the highest", claude.Question{Model: "claude-opus-4-6", Level: chela.ThinkingXHigh, MaxTokens: 9, Longest: long}, claude.Thinking{Mode: claude.Adaptive, Effort: "max", MaxTokens: 9}},
		{"off", claude.Question{Model: "claude-opus-5", Level: chela.ThinkingOff, MaxTokens: 9, Longest: long}, claude.Thinking{Mode: claude.Disabled, MaxTokens: 9}},
		{"off unless asked", claude.Question{Model: "claude-opus-4-6", Level: chela.ThinkingOff, MaxTokens: 9, Longest: long}, claude.Thinking{MaxTokens: 9}},
		{"off between tools", claude.Question{Model: "claude-sonnet-5-5", Level: chela.ThinkingOff, MaxTokens: 9, Longest: long}, claude.Thinking{Mode: claude.BetweenTools, MaxTokens: 9}},
		{"never off", claude.Question{Model: "claude-opus-5-5", Level: chela.ThinkingOff, MaxTokens: 9, Longest: long}, claude.Thinking{Effort: "low", MaxTokens: 9}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := claude.Think(tt.q); got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}
