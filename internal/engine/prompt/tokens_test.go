package prompt_test

import (
	"testing"

	"chela"
	"chela/internal/engine/prompt"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		body chela.Body
		want int
	}{
		{"empty", chela.UserBody{}, 6},
		{"text", chela.UserBody{Text: "hello world"}, 8},
		{"a picture", chela.UserBody{Attachments: make([]chela.Attachment, 1)}, 806},
		{"thinking", chela.AnswerBody{Thinking: []chela.Thinking{{Text: "hello world"}}}, 8},
		{"a call", chela.AnswerBody{Calls: []chela.CallSpec{{Tool: "look", Args: []byte(`{"a":12}`)}}}, 6 + 10 + 1 + 5},
		{"a call that is not JSON", chela.AnswerBody{Calls: []chela.CallSpec{{Tool: "look", Raw: "hello world"}}}, 6 + 10 + 1 + 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := prompt.Tokens(c.body); got != c.want {
				t.Errorf("%d tokens, want %d", got, c.want)
			}
		})
	}
}
