package openai_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/model/catalogue"
	"chela/internal/model/provider/openai"
	"chela/internal/model/provider/openai/openaitest"
	"chela/internal/model/provider/providertest"
)

// TestServices holds the contract with each of the known services that differ
// from each other, against a server that refuses what they lack.
func TestServices(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range catalogue.Services() {
		set := fmt.Sprint(slices.Sorted(slices.Values(s.Lacks)), slices.Sorted(slices.Values(s.Has)))
		if s.Kind != "openai" || seen[set] {
			continue
		}
		seen[set] = true
		t.Run(s.Name, func(t *testing.T) {
			h := providertest.Harness{Wire: true, New: func(t *testing.T, c providertest.Case) chela.Provider { return serveAs(t, c, s.Lacks, s.Has) }}
			if slices.Contains(s.Lacks, catalogue.FeatureImages) {
				h.Skip = map[string]string{"image in a message": "it sees no images", "image in a result": "it sees no images"}
			}
			providertest.Run(t, h)
		})
	}
}

// serveAs returns a provider of a server with quirks.
func serveAs(t *testing.T, c providertest.Case, lacks, has []catalogue.Feature) chela.Provider {
	t.Helper()
	srv := openaitest.ServeAs(t, c, openaitest.Quirks{Lacks: lacks, Has: has})
	p, err := openai.New(openai.Config{
		Name: "fake", BaseURL: srv.URL + "/v1", APIKey: providertest.Key, HTTPClient: srv.Client(),
		Lacks: append([]catalogue.Feature{}, lacks...), Has: has,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// busy returns a request in which all is used that somebody may lack.
func busy() *chela.Request {
	req := withCalls(hello(), chela.Thinking{Text: "hm", Signature: `[{"type":"reasoning.text","text":"hm"}]`, Provider: "openai"})
	req.Messages[0].Attachments = []chela.Attachment{{Name: "dot.png", MediaType: "image/png"}}
	req.Tools = []chela.ToolSpec{{Name: "t", Input: json.RawMessage(`{"type":"object","additionalProperties":false}`)}}
	req.Thinking, req.MaxTokens, req.Session = chela.ThinkingXHigh, 9, chela.MainKey("main")
	return req
}

// withCalls adds an answer with two calls and their results to a request.
func withCalls(req *chela.Request, thinking ...chela.Thinking) *chela.Request {
	said := chela.Message{Role: chela.RoleAssistant, Text: "Wait.", Thinking: thinking}
	var results []chela.Message
	for _, ref := range []string{"ref_a", "ref_b"} {
		id := chela.CallID("call_" + ref)
		said.Calls = append(said.Calls, chela.CallSpec{ID: id, Ref: ref, Tool: "t", Args: json.RawMessage(`{}`)})
		results = append(results, chela.Message{Role: chela.RoleTool, Call: id, Ref: ref, Tool: "t", Text: "result of " + ref})
	}
	req.Messages = append(append(req.Messages, said), results...)
	return req
}

// TestLacks looks at what is sent with and without each part of the protocol.
func TestLacks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		lacks         catalogue.Feature
		level         chela.ThinkingLevel
		with, without string
	}{
		{
			catalogue.FeatureParallelCalls, "", `"id":"ref_a","type":"function","function":{"name":"t","arguments":"{}"}},{"id":"ref_b"`,
			`{"role":"tool","tool_call_id":"ref_a","content":"result of ref_a"},{"role":"assistant","tool_calls":[{"id":"ref_b"`,
		},
		{catalogue.FeatureStrict, "", `"strict":true`, `{"name":"t","parameters":`},
		{catalogue.FeatureStreamUsage, "", `"stream_options":{"include_usage":true}`, `"stream":true,"reasoning_effort"`},
		{catalogue.FeatureMaxCompletionTokens, "", `"max_completion_tokens":9`, `"max_tokens":9`},
		{catalogue.FeatureImages, "", `"image_url"`, `(this model sees no images)`},
		{catalogue.FeatureReasoningEffort, "", `"reasoning_effort":"xhigh"`, `"include_usage":true},"max_completion_tokens"`},
		{catalogue.FeatureEffortXHigh, "", `"reasoning_effort":"xhigh"`, `"reasoning_effort":"high"`},
		{catalogue.FeatureEffortMinimal, chela.ThinkingMinimal, `"reasoning_effort":"minimal"`, `"reasoning_effort":"low"`},
		{catalogue.FeatureEffortNone, chela.ThinkingOff, `"reasoning_effort":"none"`, `"include_usage":true},"max_completion_tokens"`},
		{catalogue.FeaturePromptCacheKey, "", `"prompt_cache_key":"`, `"max_completion_tokens":9,"tools"`},
		{catalogue.FeatureAnyCallID, "", `"tool_call_id":"ref_a"`, `"tool_call_id":"918692baf"`},
	}
	for _, tt := range tests {
		t.Run(string(tt.lacks), func(t *testing.T) {
			t.Parallel()
			for _, lacks := range [][]catalogue.Feature{{}, {tt.lacks}} {
				sent := sentTo(t, openai.Config{Lacks: lacks}, tt.level)
				if strings.Contains(sent, tt.with) == (len(lacks) > 0) || strings.Contains(sent, tt.without) != (len(lacks) > 0) {
					t.Errorf("with %v lacking: want %s, else %s, in\n%s", lacks, tt.with, tt.without, sent)
				}
			}
		})
	}
}

// TestHas looks at what is sent to servers that have something of their own.
func TestHas(t *testing.T) {
	t.Parallel()
	tests := []struct {
		has   catalogue.Feature
		level chela.ThinkingLevel
		want  string
	}{
		{catalogue.FeatureReasoningContent, "", `{"role":"assistant","reasoning_content":"hm","content"`},
		{catalogue.FeatureReasoning, "", `{"role":"assistant","reasoning":"hm","content"`},
		{catalogue.FeatureReasoningDetails, "", `"reasoning_details":[{"type":"reasoning.text","text":"hm"}]`},
		{catalogue.FeatureThinkingSwitch, chela.ThinkingOff, `"thinking":{"type":"disabled"}`},
		{catalogue.FeatureParallelSwitch, "", `"parallel_tool_calls":true`},
	}
	for _, tt := range tests {
		t.Run(string(tt.has), func(t *testing.T) {
			t.Parallel()
			for _, has := range [][]catalogue.Feature{nil, {tt.has}} {
				sent := sentTo(t, openai.Config{Lacks: []catalogue.Feature{catalogue.FeatureEffortNone}, Has: has}, tt.level)
				if strings.Contains(sent, tt.want) != (has != nil) {
					t.Errorf("with %v: %s is there or missing in\n%s", has, tt.want, sent)
				}
			}
		})
	}
}

// sentTo returns the busy request as a server gets it; without a level it is
// asked for the highest.
func sentTo(t *testing.T, cfg openai.Config, level chela.ThinkingLevel) string {
	t.Helper()
	c := providertest.Stream(`[DONE]`)
	cfg.BaseURL, cfg.HTTPClient = local, &http.Client{Transport: c}
	p, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	req := busy()
	if level != "" {
		req.Thinking = level
	}
	req.Load = load
	if _, err := providertest.Ask(t, p, req); err != nil {
		t.Fatal(err)
	}
	return c.Sent
}

// TestReasoningGoesBack asks servers again that want to see their reasoning,
// and one that does not.
func TestReasoningGoesBack(t *testing.T) {
	t.Parallel()
	for _, has := range []catalogue.Feature{catalogue.FeatureReasoningContent, catalogue.FeatureReasoning, catalogue.FeatureReasoningDetails, ""} {
		t.Run(string(has), func(t *testing.T) {
			t.Parallel()
			calls := []providertest.Call{{Ref: "a", Tool: "clock", Args: "{}"}}
			c := providertest.NewCase("reasoning goes back", providertest.Answer{Thinking: "Let me \"see\".", Calls: calls}, providertest.Answer{Text: []string{"ok"}})
			p := serveAs(t, c, nil, []catalogue.Feature{has})
			f, err := providertest.Ask(t, p, hello())
			if err != nil {
				t.Fatal(err)
			}
			req := hello()
			f.Calls[0].ID = "call_1"
			req.Messages = append(req.Messages,
				chela.Message{Role: chela.RoleAssistant, Thinking: f.Thinking, Calls: f.Calls},
				chela.Message{Role: chela.RoleTool, Call: "call_1", Ref: "a", Text: "r"})
			if _, err := providertest.Ask(t, p, req); err != nil {
				t.Fatal(err)
			}
			var want []string
			if has != "" {
				want = []string{"Let me \"see\"."}
			}
			if diff := cmp.Diff(want, c.Received()[1].Thinking); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestDetails has the pieces in which OpenRouter streams reasoning.
func TestDetails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		pieces []string // of one chunk each
		want   string
	}{
		{"pieces of a text", []string{
			`{"type":"reasoning.text","index":0,"text":"a\n","format":"f","signature":null}`, `{"type":"reasoning.text","index":0,"text":"b"}`,
			`{"type":"reasoning.text","index":0,"signature":"s"}`,
		}, `[{"type":"reasoning.text","index":0,"format":"f","signature":"s","text":"a\nb"}]`},
		{"text behind its signature", []string{`{"type":"reasoning.text","index":0,"signature":"s"}`, `{"type":"reasoning.text","index":0,"text":"b","signature":null}`}, `[{"type":"reasoning.text","index":0,"signature":"s","text":"b"}]`},
		{"several", []string{`{"type":"reasoning.summary","index":0,"summary":"a"},{"type":"reasoning.encrypted","index":1,"data":"x","id":"rs_1"}`}, `[{"type":"reasoning.summary","index":0,"summary":"a"},{"type":"reasoning.encrypted","index":1,"id":"rs_1","data":"x"}]`},
		{"two of a kind", []string{`{"type":"reasoning.encrypted","data":"x"}`, `{"type":"reasoning.encrypted","data":"y"}`}, `[{"type":"reasoning.encrypted","data":"x"},{"type":"reasoning.encrypted","data":"y"}]`},
		{"empty", []string{`{}`}, `[{}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var data []string
			for _, piece := range tt.pieces {
				data = append(data, `{"choices":[{"delta":{"reasoning_details":[`+piece+`]}}]}`)
			}
			p, err := openai.New(openai.Config{BaseURL: local, HTTPClient: &http.Client{Transport: providertest.Stream(append(data, `[DONE]`)...)}, Has: []catalogue.Feature{catalogue.FeatureReasoningDetails}})
			if err != nil {
				t.Fatal(err)
			}
			f, err := providertest.Ask(t, p, hello())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]chela.Thinking{{Signature: tt.want, Provider: "openai"}}, f.Thinking); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestAnswersOfServices has what single services send in a way of their own.
func TestAnswersOfServices(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		data []string
		want chela.Finish
	}{
		{
			"what DeepSeek tells of its cache",
			[]string{`{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11,"prompt_cache_hit_tokens":4,"prompt_cache_miss_tokens":5}}`},
			chela.Finish{Stop: chela.StopEnd, Usage: chela.TokenUsage{Input: 5, CacheRead: 4, Output: 2}},
		},
		{
			"reasoning beside the completion",
			[]string{`{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":18,"completion_tokens_details":{"reasoning_tokens":7}}}`},
			chela.Finish{Stop: chela.StopEnd, Usage: chela.TokenUsage{Input: 9, Output: 9, Reasoning: 7}},
		},
		{
			"content in parts",
			[]string{`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"hi"}]}}]}`, `{"choices":[{"delta":{"content":"!"},"finish_reason":"stop"}]}`},
			chela.Finish{Text: "hi!", Stop: chela.StopEnd, Thinking: []chela.Thinking{{Text: "hm", Provider: "openai"}}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := providertest.Ask(t, reach(t, providertest.Stream(tt.data...), local), hello())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
