package approval_test

import (
	"testing"

	"chela"
	"chela/internal/approval"
)

func TestParseText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]chela.Answer{
		"yes": chela.AnswerOnce, "y": chela.AnswerOnce, "approve": chela.AnswerOnce, "ok": chela.AnswerOnce,
		" YES\n": chela.AnswerOnce, "always": chela.AnswerSession, "A": chela.AnswerSession,
		"no": chela.AnswerNo, "n": chela.AnswerNo, "Deny": chela.AnswerNo,
		"": "", "yes please": "", "yes.": "", "not": "", "okay": "", "no, use tabs": "", "an": "",
	} {
		got, ok := approval.ParseText(text)
		if got != want || ok != (want != "") {
			t.Errorf("ParseText(%q) is %q, %v; want %q", text, got, ok, want)
		}
	}
}
