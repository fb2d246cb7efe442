package wire_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"chela"
	"chela/internal/surface/gateway/openai/wire"
)

// A reader is one of the two forms.
type reader func(*http.Request, time.Time) (*wire.Request, error)

func read(form reader, body string) (*wire.Request, error) {
	return form(httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)), time.Unix(0, 0))
}

// field returns the field that an error is about, and its code.
func field(err error) (param, code string) {
	w := httptest.NewRecorder()
	wire.WriteError(w, err)
	var body struct {
		Error struct {
			Param *string
			Code  string
		}
	}
	if json.Unmarshal(w.Body.Bytes(), &body) == nil && body.Error.Param != nil {
		param = *body.Error.Param
	}
	return param, body.Error.Code
}

// A refused body is one that is wrong about a field.
type refused struct{ body, param string }

// refusedChats would change the meaning of a chat completion, or are none.
func refusedChats() []refused {
	chat := func(field string) string {
		return `{"model":"m","messages":[{"role":"user","content":"x"}],` + field + `}`
	}
	says := func(message string) string { return `{"model":"m","messages":[` + message + `]}` }
	part := func(p string) string { return says(`{"role":"user","content":[` + p + `]}`) }
	return []refused{
		{`{"messages":[]}`, "model"},
		{`{"model":"m"}`, "messages"},
		{chat(`"n":0`), "n"},
		{chat(`"n":17`), "n"},
		{chat(`"top_logprobs":1`), "top_logprobs"},
		{chat(`"logprobs":true,"top_logprobs":21`), "top_logprobs"},
		{chat(`"stop":7`), "stop"},
		{chat(`"stop":[""]`), "stop"},
		{chat(`"stop":["a","b","c","d","e"]`), "stop"},
		{chat(`"temperature":2.1`), "temperature"},
		{chat(`"top_p":-1`), "top_p"},
		{chat(`"presence_penalty":3`), "presence_penalty"},
		{chat(`"frequency_penalty":-3`), "frequency_penalty"},
		{chat(`"top_k":0`), "top_k"},
		{chat(`"logit_bias":[]`), "logit_bias"},
		{chat(`"verbosity":"loud"`), "verbosity"},
		{chat(`"max_tool_calls":0`), "max_tool_calls"},
		{chat(`"response_format":{"type":"xml"}`), "response_format"},
		{chat(`"response_format":{"type":"json_schema","json_schema":{"name":"a b","schema":{}}}`), "response_format"},
		{chat(`"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":[]}}`), "response_format"},
		{chat(`"tool_choice":"some"`), "tool_choice"},
		{chat(`"modalities":["text","audio"]`), "modalities"},
		{chat(`"modalities":["audio"]`), "modalities"},
		{chat(`"audio":{}`), "modalities"},
		{chat(`"response_format":{"type":"json_schema"}`), "response_format"},
		{chat(`"web_search_options":{}`), "web_search_options"},
		{chat(`"functions":[]`), "functions"},
		{chat(`"previous_response_id":"x"`), "previous_response_id"},
		{chat(`"max_tokens":0`), "max_tokens"},
		{chat(`"max_completion_tokens":-1`), "max_completion_tokens"},
		{chat(`"reasoning_effort":"huge"`), "reasoning_effort"},
		{chat(`"tools":[{"type":"custom"}]`), "tools[0].type"},
		{chat(`"tools":[{"type":"function","function":{"name":"a b"}}]`), "tools[0].function.name"},
		{chat(`"tools":[{"type":"function","function":{"name":"f","parameters":[]}}]`), "tools[0].function.parameters"},
		{chat(`"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"f"}}]`), "tools"},
		{chat(`"tool_choice":"required"`), "tool_choice"},
		{chat(`"tool_choice":{"type":"function","function":{"name":"f"}}`), "tool_choice"},
		{says(`{"content":"x"}`), "messages[0].role"},
		{says(`{"role":"function","content":"x"}`), "messages[0].role"},
		{says(`{"role":"user","content":5}`), "messages[0].content"},
		{says(`{"role":"user","content":[5]}`), "messages[0].content"},
		{says(`{"role":"tool","content":"x"}`), "messages[0].tool_call_id"},
		{says(`{"role":"user","tool_calls":[{"id":"c","function":{"name":"f"}}]}`), "messages[0].tool_calls[0]"},
		{says(`{"role":"assistant","tool_calls":[{"function":{"name":"f"}}]}`), "messages[0].tool_calls[0]"},
		{says(`{"role":"assistant","function_call":{}}`), "messages[0].function_call"},
		{part(`{"text":"x"}`), "messages[0].content[0].type"},
		{part(`{"type":"input_audio"}`), "messages[0].content[0].type"},
		{part(`{"type":"image_url"}`), "messages[0].content[0].image_url"},
		{part(`{"type":"image_url","image_url":{"url":"ftp://example.com/a.png"}}`), "messages[0].content[0].image_url.url"},
		{part(`{"type":"image_url","image_url":{"url":"data:image/png,raw"}}`), "messages[0].content[0].image_url.url"},
		{part(`{"type":"image_url","image_url":{"url":"data:image/png;base64,!"}}`), "messages[0].content[0].image_url.url"},
		{part(`{"type":"image_url","image_url":{"url":"data:;base64,aGk="}}`), "messages[0].content[0].image_url.url"},
		{part(`{"type":"image_url","image_url":{"url":"data:text/plain;base64,aGk="}}`), "messages[0].content[0].image_url.url"},
		{part(`{"type":"file","file":{"file_id":"f"}}`), "messages[0].content[0].file"},
		{part(`{"type":"file","file":7}`), "messages[0].content[0].file"},
	}
}

// refusedResponses are the same for responses.
func refusedResponses() []refused {
	response := func(field string) string { return `{"model":"m","input":"x",` + field + `}` }
	item := func(i string) string { return `{"model":"m","input":[` + i + `]}` }
	return []refused{
		{`{"input":"x"}`, "model"},
		{`{"model":"m"}`, "input"},
		{`{"model":"m","input":[]}`, "input"},
		{`{"model":"m","input":7}`, "input"},
		{response(`"background":true`), "background"},
		{response(`"conversation":7`), "conversation"},
		{response(`"prompt":{}`), "prompt"},
		{response(`"top_logprobs":2`), "top_logprobs"},
		{response(`"text":{"format":{"type":"json_schema"}}`), "text.format"},
		{response(`"max_output_tokens":0`), "max_output_tokens"},
		{response(`"reasoning":{"effort":"huge"}`), "reasoning.effort"},
		{response(`"tools":[{"type":"web_search"}]`), "tools[0].type"},
		{response(`"tools":[{"type":"function"}]`), "tools[0].name"},
		{item(`{"type":"item_reference","id":"x"}`), "input[0].type"},
		{item(`{"role":"tool","content":"x"}`), "input[0].role"},
		{item(`{"type":"function_call","name":"f"}`), "input[0]"},
		{item(`{"type":"function_call_output","output":"x"}`), "input[0].call_id"},
		{item(`{"type":"function_call_output","call_id":"c","output":7}`), "input[0].output"},
		{item(`{"role":"user","content":[{"type":"input_image","file_id":"f"}]}`), "input[0].content[0].image_url"},
		{item(`{"role":"user","content":[{"type":"input_file","file_url":"https://example.com"}]}`), "input[0].content[0]"},
	}
}

func TestFieldsThatAreRefused(t *testing.T) {
	t.Parallel()
	checkRefused(t, wire.Chat, refusedChats())
	checkRefused(t, wire.Responses, refusedResponses())
}

func checkRefused(t *testing.T, form reader, cases []refused) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.body, func(t *testing.T) {
			t.Parallel()
			_, err := read(form, c.body)
			param, code := field(err)
			if chela.KindOf(err) != chela.Invalid || param != c.param || code != "invalid_value" && code != "unsupported_parameter" {
				t.Errorf("got %v about %q (%s), want one about %q", err, param, code, c.param)
			}
		})
	}
}

// TestFieldsThatAreTaken lists what clients send by habit.
func TestFieldsThatAreTaken(t *testing.T) {
	t.Parallel()
	q, err := read(wire.Chat, `{"model":"m","n":1,"stop":null,"logprobs":false,"top_logprobs":0,"modalities":["text"],"audio":null,"stream_options":null,
		"response_format":{"type":"text"},"functions":null,"tool_choice":null,"tools":[],"user":null,"store":true,"metadata":{"a":"b"},"service_tier":"auto","newest":{"field":1},
		"temperature":null,"top_p":1,"presence_penalty":0,"frequency_penalty":0,"logit_bias":{},"seed":2,"verbosity":"low","parallel_tool_calls":true,"max_tool_calls":3,
		"max_tokens":4,"reasoning_effort":"low","messages":[{"role":"user","content":"x","name":"ann"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	want := &wire.Request{
		Model: "m", MaxTokens: 4, Effort: chela.ThinkingLow, Said: []wire.Item{{Role: chela.RoleUser, Text: "x", Param: "messages[0]"}},
		ForModel: []string{"reasoning_effort"},
		Ignored:  []string{"metadata", "newest", "service_tier", "store"},
		Sampling: chela.Sampling{TopP: new(1.0), PresencePenalty: new(0.0), FrequencyPenalty: new(0.0), Seed: new(int64(2)), Verbosity: "low", MaxToolCalls: new(3)},
	}
	if diff := cmp.Diff(want, q, cmpopts.IgnoreUnexported(wire.Request{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

// TestOneAnswerInSeveralItems has what the assistant said come in pieces.
func TestOneAnswerInSeveralItems(t *testing.T) {
	t.Parallel()
	q, err := read(wire.Responses, `{"model":"m","input":[{"role":"user","content":"x"},{"type":"reasoning","id":"r"},{"role":"assistant","content":"a"},
		{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call","call_id":"c2","name":"g","arguments":"{"},
		{"type":"function_call_output","call_id":"c1","output":"1"},{"type":"function_call_output","call_id":"c2","output":[{"type":"output_text","text":"2"},{"type":"refusal","refusal":"3"}]}]}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []wire.Item{
		{Role: chela.RoleUser, Text: "x", Param: "input[0]"},
		{Role: chela.RoleAssistant, Text: "a", Param: "input[2]", Calls: []chela.CallSpec{
			{Ref: "c1", Tool: "f", Args: json.RawMessage(`{}`)}, {Ref: "c2", Tool: "g", Raw: "{"},
		}},
		{Role: chela.RoleTool, Text: "1", Ref: "c1", Param: "input[5]"},
		{Role: chela.RoleTool, Text: "2\n3", Ref: "c2", Param: "input[6]"},
	}
	if diff := cmp.Diff(want, q.Said); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
	if q.Fresh() != 2 {
		t.Errorf("the new part begins at %d, not at 2", q.Fresh())
	}
}

func TestSettledErrorsKeepTheirKind(t *testing.T) {
	t.Parallel()
	err := wire.Settled(chela.E(chela.Conflict, "taken"))
	if chela.KindOf(err) != chela.Conflict || errors.Unwrap(err) == nil {
		t.Errorf("got %v of kind %s", err, chela.KindOf(err))
	}
}
