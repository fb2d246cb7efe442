package openai_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"chela"
	"chela/internal/model/provider/providertest"
)

// TestChoicesArrive reads three choices with log probabilities, in pieces and at once.
// A fourth one, which was not asked for, is left out.
func TestChoicesArrive(t *testing.T) {
	t.Parallel()
	stream := providertest.Stream(
		`{"choices":[{"index":0,"delta":{"content":"y"},"logprobs":{"content":[{"token":"y"}]}},{"index":2,"delta":{"content":"m"}}]}`,
		`{"choices":[{"index":1,"delta":{"content":"no"},"logprobs":{"content":[{"token":"no"}],"refusal":null}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"es"},"logprobs":{"content":[{"token":"es"}]}},{"index":3,"delta":{"content":"?"}},{"index":-1,"delta":{"content":"?"}}]}`,
		`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"},{"index":1,"delta":{},"finish_reason":"length"},{"index":2,"delta":{"content":"aybe"},"finish_reason":"stop"}]}`,
		`[DONE]`)
	plain := &providertest.CannedAnswer{Kind: "application/json", Body: `{"choices":[
		{"index":0,"message":{"content":"yes"},"logprobs":{"content":[{"token":"y"},{"token":"es"}]},"finish_reason":"stop"},
		{"index":1,"message":{"content":"no"},"logprobs":{"content":[{"token":"no"}]},"finish_reason":"length"},
		{"index":2,"message":{"content":"maybe"},"finish_reason":"stop"},{"index":3,"message":{"content":"?"}}]}`}
	want := &chela.Finish{
		Text: "yes", Stop: chela.StopEnd, Logprobs: []byte(`{"content":[{"token":"y"},{"token":"es"}],"refusal":null}`),
		Others: []chela.Finish{
			{Text: "no", Stop: chela.StopLength, Logprobs: []byte(`{"content":[{"token":"no"}],"refusal":null}`)},
			{Text: "maybe", Stop: chela.StopEnd},
		},
	}
	for name, c := range map[string]*providertest.CannedAnswer{"stream": stream, "plain": plain} {
		req := &chela.Request{Model: "m", Plain: name == "plain", Messages: []chela.Message{{Role: chela.RoleUser, Text: "x"}}}
		req.Sampling = &chela.Sampling{Choices: 3, TopLogprobs: new(0)}
		got, err := providertest.Ask(t, reach(t, c, local), req)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
