package chela_test

import (
	"strings"
	"testing"

	"chela"
)

func TestTitleOf(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 61)
	for text, want := range map[string]string{
		"": "", "a\r\nb": "a", "\na": "", long[:120]: long[:120], long: long[:118] + "…", long + "\nb": long[:118] + "…",
	} {
		if got := chela.TitleOf(text); got != want {
			t.Errorf("%q has the title %q, want %q", text, got, want)
		}
	}
}

func TestShortTitleOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                     "",
		"What time is it?":                     "What time is it?",
		"Plan my week. Then write it to a.md.": "Plan my week",
		"Hi. Where is my key? I need it.":      "Hi. Where is my key?",
		"\n## **Fix** the `parser`\n\nIt breaks.": "Fix the parser",
		"```\nls\n```": "ls",
		"compare the three offers in the folder offers and write the best one into a table": "compare the three offers in the folder offers and write…",
		"see v1.2.3 of example.com/some/path":                                               "see v1.2.3 of example.com/some/path",
	} {
		if got := chela.ShortTitleOf(text); got != want {
			t.Errorf("title of %q: %q, want %q", text, got, want)
		}
	}
}
