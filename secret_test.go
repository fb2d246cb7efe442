package chela_test

import (
	"strings"
	"testing"

	"chela"
)

// TestReferencesSplit: a reference names a place; anything else, such as a secret, is
// none.
func TestReferencesSplit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"env:OPENAI_API_KEY": {"env", "OPENAI_API_KEY"}, "secret:open.ai-2": {"secret", "open.ai-2"},
		"exec:op read op://a/b": {"exec", "op read op://a/b"}, "exec:a:b": {"exec", "a:b"},
	} {
		if place, name := chela.SecretReference(text).Split(); string(place) != want[0] || name != want[1] {
			t.Errorf("%q: %q, %q", text, place, name)
		}
	}
	for _, text := range []string{
		"", "env", "env:", "env:a b", "env:sk-1", "secret:", "secret:a b", "secret:-a", "secret:" + strings.Repeat("a", 65), "exec:", "exec: ",
		"exec:a\nb", "exec:" + strings.Repeat("a", chela.MaxCommand+1), "sk-ant-1234", "file:/etc/passwd", "ENV:A",
	} {
		if place, name := chela.SecretReference(text).Split(); place != "" || name != "" {
			t.Errorf("%q: %q, %q", text, place, name)
		}
	}
}
