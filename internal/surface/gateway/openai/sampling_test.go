package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
)

// shapedChat and shapedResponse set all that a bare model may be told.
const (
	shapedChat = `{"model":"local/small","temperature":0.5,"top_p":0.9,"presence_penalty":1,"frequency_penalty":-1,"seed":7,"stop":["END"],
		"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"tool_choice":{"type":"function","function":{"name":"f"}},
		"response_format":{"type":"json_schema","json_schema":{"name":"city","schema":{"type":"object"},"strict":true}},
		"messages":[{"role":"user","content":"x"}]}`
	shapedResponse = `{"model":"local/small","temperature":0.5,"tools":[{"type":"function","name":"f"}],"tool_choice":"required",
		"text":{"format":{"type":"json_object"}},"input":"x"}`
)

func TestABareModelIsToldHowToAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, body string
		want       chela.Sampling
	}{
		"chat": {chat, shapedChat, chela.Sampling{
			Temperature: new(0.5), TopP: new(0.9), PresencePenalty: new(1.0), FrequencyPenalty: new(-1.0), Seed: new(int64(7)), Stop: []string{"END"}, CallTool: "f",
			Format: &chela.Format{Name: "city", Schema: json.RawMessage(`{"type":"object"}`), Strict: true},
		}},
		"response": {responses, shapedResponse, chela.Sampling{Temperature: new(0.5), MustCall: true, Format: &chela.Format{}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := small(chela.Finish{Text: "{}"}, nil)
			ask(t, setup(newHome(), s), c.path, c.body)
			if diff := cmp.Diff(&c.want, s.provider.asked.Sampling); diff != "" {
				t.Errorf("sampling (-want +got):\n%s", diff)
			}
		})
	}
}

// TestParametersThatAModelLacks asks for what the provider of a bare model, or of an
// agent's model, does not have.
func TestParametersThatAModelLacks(t *testing.T) {
	t.Parallel()
	const tools = `"tools":[{"type":"function","function":{"name":"f"}}],`
	for _, c := range []struct{ model, fields, param string }{
		{"router/a/large", `"stop":"END",`, "stop"},
		{"router/a/large", tools + `"tool_choice":"required",`, "tool_choice"},
		{"router/a/large", `"response_format":{"type":"json_object"},`, "response_format"},
		{"router/a/large", `"temperature":1,`, "temperature"},
		{"router/a/large", `"logit_bias":{"7":1},`, "logit_bias"},
		{"router/a/large", `"parallel_tool_calls":false,`, "parallel_tool_calls"},
		{"router/a/large", `"n":2,`, "n"},
		{"router/a/large", `"logprobs":true,`, "logprobs"},
		{"chela", `"n":2,`, "n"},
		{"chela", `"logprobs":true,"top_logprobs":2,`, "logprobs"},
		{"chela", `"stop":"END",`, "stop"},
		{"chela", `"response_format":{"type":"json_object"},`, "response_format"},
		{"chela", tools + `"tool_choice":"required",`, "tool_choice"},
	} {
		t.Run(c.model+" "+c.fields, func(t *testing.T) {
			t.Parallel()
			h := newHome(said("ok"))
			h.model = "router/a/large"
			w := post(setup(h, &shelf{}), chat, `{"model":"`+c.model+`",`+c.fields+`"messages":[{"role":"user","content":"x"}]}`)
			if got := troubleOf(t, w); got.Status != 400 || got.Param != c.param || got.Code != "unsupported_parameter" {
				t.Errorf("got %+v", got)
			}
			if len(h.asked) > 0 {
				t.Errorf("the message was accepted: %+v", h.asked)
			}
		})
	}
}

// TestAnAgentsAnswerIsShaped sets what an agent takes, and what has no effect on it.
func TestAnAgentsAnswerIsShaped(t *testing.T) {
	t.Parallel()
	format := &chela.Format{Name: "city", Schema: json.RawMessage(`{"type":"object"}`), Strict: true}
	for name, c := range map[string]struct {
		path, body string
		want       chela.Overrides
		ignored    []string
	}{
		"chat": {
			chat, `{"model":"chela","max_tokens":50,"stop":["END"],"temperature":1,"seed":3,"newest":1,"parallel_tool_calls":false,
			"response_format":{"type":"json_schema","json_schema":{"name":"city","schema":{"type":"object"},"strict":true}},"messages":[{"role":"user","content":"x"}]}`,
			chela.Overrides{Answer: 50, Sampling: &chela.Sampling{Stop: []string{"END"}, Format: format}},
			[]string{"temperature", "seed", "parallel_tool_calls", "newest"},
		},
		"newer limit": {
			chat, `{"model":"chela","max_completion_tokens":60,"parallel_tool_calls":true,"messages":[{"role":"user","content":"x"}]}`,
			chela.Overrides{Answer: 60},
			nil,
		},
		"response": {
			responses, `{"model":"chela","max_output_tokens":50,"text":{"format":{"type":"json_object"},"verbosity":"low"},"input":"x"}`,
			chela.Overrides{Answer: 50, Sampling: &chela.Sampling{Format: &chela.Format{}}},
			[]string{"text.verbosity"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(said("{}"))
			got := ask(t, setup(h, &shelf{}), c.path, c.body)
			if diff := cmp.Diff(c.want, h.asked[0].Overrides); diff != "" {
				t.Errorf("overrides (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.ignored, got.Chela.Ignored); diff != "" {
				t.Errorf("ignored fields (-want +got):\n%s", diff)
			}
		})
	}
}
