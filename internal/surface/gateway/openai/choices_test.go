package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
)

// A choice is one of the choices of an answer, or a piece of one.
type choice struct {
	Index          int
	Message, Delta struct {
		Role, Content string
		ToolCalls     []json.RawMessage `json:"tool_calls"`
	}
	Logprobs     *struct{ Content []struct{ Token string } }
	FinishReason string `json:"finish_reason"`
}

const several = `{"model":"local/small","n":3,"logprobs":true,"top_logprobs":2,"messages":[{"role":"user","content":"x"}]}`

// threeChoices is an answer with three choices.
func threeChoices() *shelf {
	logprobs := json.RawMessage(`{"content":[{"token":"yes"}],"refusal":null}`)
	return small(chela.Finish{
		Text: "yes", Stop: chela.StopEnd, Logprobs: logprobs, Usage: chela.TokenUsage{Input: 3, Output: 6},
		Others: []chela.Finish{{Text: "no", Stop: chela.StopLength}, {Calls: []chela.CallSpec{{Ref: "c", Tool: "f", Args: json.RawMessage(`{}`)}}, Stop: chela.StopCalls}},
	}, nil)
}

// TestChoices asks a bare model for several choices, with log probabilities.
func TestChoices(t *testing.T) {
	t.Parallel()
	s := threeChoices()
	w := post(setup(newHome(), s), chat, several)
	var got struct {
		Choices []choice
		Usage   struct {
			Completion int `json:"completion_tokens"`
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.Choices) != 3 {
		t.Fatalf("answered %d: %s", w.Code, w.Body)
	}
	var said []string
	for i, c := range got.Choices {
		said = append(said, c.Message.Content+" "+c.FinishReason)
		if c.Index != i {
			t.Errorf("choice %d has the index %d", i, c.Index)
		}
	}
	if diff := cmp.Diff([]string{"yes stop", "no length", " tool_calls"}, said); diff != "" {
		t.Errorf("choices (-want +got):\n%s", diff)
	}
	if l := got.Choices[0].Logprobs; l == nil || l.Content[0].Token != "yes" || got.Choices[1].Logprobs != nil || got.Usage.Completion != 6 {
		t.Errorf("answered %s", w.Body)
	}
	if diff := cmp.Diff(&chela.Sampling{Choices: 3, TopLogprobs: new(2)}, s.provider.asked.Sampling); diff != "" {
		t.Errorf("sampling (-want +got):\n%s", diff)
	}
}

// TestChoicesInAStream tells each choice under its index, and its end once.
func TestChoicesInAStream(t *testing.T) {
	t.Parallel()
	w := post(setup(newHome(), threeChoices()), chat, strings.Replace(several, "{", `{"stream":true,`, 1))
	said := map[int]string{}
	for line := range strings.Lines(w.Body.String()) {
		data, ok := strings.CutPrefix(line, "data: {")
		if !ok {
			continue
		}
		var chunk struct{ Choices []choice }
		if err := json.Unmarshal([]byte("{"+data), &chunk); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		for _, c := range chunk.Choices {
			said[c.Index] += c.Delta.Content
			if len(c.Delta.ToolCalls) > 0 {
				said[c.Index] += "[call]"
			}
			if c.FinishReason != "" {
				said[c.Index] += " " + c.FinishReason
			}
			if c.Logprobs != nil {
				said[c.Index] += " logprobs"
			}
		}
	}
	want := map[int]string{0: "yes stop logprobs", 1: "no length", 2: "[call] tool_calls"}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("choices (-want +got):\n%s\n%s", diff, w.Body)
	}
}
