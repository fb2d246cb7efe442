package prompt_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/prompt"
)

func TestBudget(t *testing.T) {
	t.Parallel()
	system := strings.Repeat("word ", 100) // 101 tokens
	small := prompt.Settings{Reserve: 100, ReserveFloor: 50, KeepRecent: 200, Soft: 10}
	for _, c := range []struct {
		name     string
		settings prompt.Settings
		frame    prompt.Frame
		want     prompt.Budget
	}{
		{"default", prompt.DefaultSettings(), prompt.Frame{Window: 200_000}, prompt.Budget{Window: 200_000, Room: 180_000, Keep: 20_000, Soft: 4_000}},
		{"unknown window", prompt.DefaultSettings(), prompt.Frame{}, prompt.Budget{Window: 100_000, Room: 80_000, Keep: 20_000, Soft: 4_000}},
		{"small window", prompt.DefaultSettings(), prompt.Frame{Window: 32_000}, prompt.Budget{Window: 32_000, Room: 24_000, Keep: 12_000, Soft: 4_000}},
		{"tiny window", prompt.DefaultSettings(), prompt.Frame{Window: 1000}, prompt.Budget{Window: 1000, Room: 750, Keep: 375, Soft: 150}},
		{"own settings", small, prompt.Frame{Window: 1000}, prompt.Budget{Window: 1000, Room: 900, Keep: 200, Soft: 10}},
		{"frame", small, prompt.Frame{Window: 1000, System: system}, prompt.Budget{Window: 1000, Room: 900, Frame: 101, Keep: 200, Soft: 10}},
		{
			"tools", small,
			prompt.Frame{Window: 1000, Tools: []chela.ToolSpec{{Name: "look", Description: system, Input: []byte(`{"a":12}`)}}},
			prompt.Budget{Window: 1000, Room: 900, Frame: 10 + 1 + 101 + 5, Keep: 200, Soft: 10},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := c.settings.Budget(c.frame.Counted())
			if diff := cmp.Diff(c.want, b); diff != "" {
				t.Errorf("budget (-want +got):\n%s", diff)
			}
			if err := b.Check(prompt.Conversation{Tokens: b.Room - b.Frame}); err != nil {
				t.Errorf("what just fits: %v", err)
			}
			err := b.Check(prompt.Conversation{Tokens: b.Room - b.Frame + 1})
			if chela.KindOf(err) != chela.Exhausted || chela.HintOf(err) == "" || !strings.HasPrefix(chela.MessageOf(err), "prompt too large") {
				t.Errorf("a token more: error %v", err)
			}
		})
	}
}

// What the provider counted corrects what is counted here, with the newest
// ratio that is known.
// A summary takes a tenth of the room, and 2,000 tokens at most.
func TestSummaryRoom(t *testing.T) {
	t.Parallel()
	for room, want := range map[int]int{1_000: 100, 20_000: 2_000, 30_000: 2_000} {
		if got := (prompt.Budget{Room: room}).SummaryRoom(); got != want {
			t.Errorf("a summary takes %d of %d tokens, want %d", got, room, want)
		}
	}
}

func TestRatio(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		usage chela.TokenUsage
		n     int
		want  float64
	}{
		{"more", chela.TokenUsage{Input: 100, CacheRead: 20, CacheWrite: 5, Output: 999}, 100, 1.25},
		{"less", chela.TokenUsage{Input: 80}, 100, 0.8},
		{"nothing told", chela.TokenUsage{Output: 5}, 100, 0},
		{"nothing counted", chela.TokenUsage{Input: 5}, 0, 0},
		{"far too much", chela.TokenUsage{Input: 5000}, 100, 3},
		{"far too little", chela.TokenUsage{Input: 1}, 100, 0.5},
	} {
		if got := prompt.Ratio(c.usage, c.n); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	var c prompt.Conversation
	for _, step := range []struct {
		ratio float64
		want  int
	}{{0, 1000}, {1.2, 1200}, {0, 1200}, {0.8, 800}} {
		c = c.Append(chela.Entry{Body: chela.AnswerBody{Ratio: step.ratio}})
		if got := c.Corrected(1000); got != step.want {
			t.Errorf("after %v: %d, want %d", step.ratio, got, step.want)
		}
	}
}

func TestBreakdown(t *testing.T) {
	t.Parallel()
	f := prompt.Frame{System: "hello world", Tools: []chela.ToolSpec{{Name: "look"}}, Window: 1000}.Counted()
	var c prompt.Conversation
	for _, e := range []chela.Entry{
		{ID: "ent_1", Body: chela.UserBody{}, Tokens: 1},
		{ID: "ent_2", Tokens: 2, Body: chela.CompactionBody{FirstKept: "ent_2"}},
		{ID: "ent_3", Body: chela.UserBody{}, Tokens: 4},
		{ID: "ent_4", Body: chela.NoteBody{}, Tokens: 8},
		{ID: "ent_5", Tokens: 16, Body: chela.AnswerBody{Ratio: 2}},
		{ID: "ent_6", Body: chela.ResultBody{}, Tokens: 32},
		{ID: "ent_7", Body: chela.CustomBody{}, Tokens: 64},
	} {
		c = c.Append(e)
	}
	want := api.PromptSize{
		Window: 1000, Reserve: 250, Room: 750, System: 2, Tools: 11, Summary: 2, User: 12, Assistant: 16, Tool: 32,
		Messages: 5, Ratio: 2, Total: 2 * (2 + 11 + 2 + 12 + 16 + 32),
	}
	if diff := cmp.Diff(want, prompt.Breakdown(prompt.DefaultSettings().Budget(f), f, c)); diff != "" {
		t.Errorf("breakdown (-want +got):\n%s", diff)
	}
}
