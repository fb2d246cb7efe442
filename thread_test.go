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
