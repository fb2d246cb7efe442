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

func TestParseJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]approval.Reply{
		`{"approval":"apr_1","answer":"once"}`:                            {ID: "apr_1", Answer: chela.AnswerOnce},
		" {\"approval\":\"apr_1\", \"answer\":\"no\",\"reason\":\"x\"}\n": {ID: "apr_1", Answer: chela.AnswerNo, Comment: "x"},
		`{"approval":"apr_1","answer":"pattern","pattern":"git *"}`:       {ID: "apr_1", Answer: chela.AnswerPattern, Pattern: "git *"},
		`{"approval":"apr_1"}`:                                            {},
		`{"answer":"once"}`:                                               {},
		`{"approval":"apr_1","answer":"once","and":"more"}`:               {},
		`{"approval":"apr_1","answer":"once"} and more`:                   {},
		`{"approval":"apr_1","answer":"once"}{"approval":1}`:              {},
		`{"approval":7,"answer":"once"}`:                                  {},
		`yes`:                                                             {}, `{`: {}, ``: {}, `[]`: {}, `null`: {},
	} {
		got, ok := approval.ParseJSON(text)
		if ok != (want.ID != "") || got != want {
			t.Errorf("ParseJSON(%q) is %+v, %v; want %+v", text, got, ok, want)
		}
	}
}
