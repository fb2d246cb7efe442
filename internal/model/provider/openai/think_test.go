package openai_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"chela"
	"chela/internal/model/catalogue"
	"chela/internal/model/provider/openai"
	"chela/internal/model/provider/providertest"
)

// TestThinkingInText takes reasoning between tags at the beginning of an answer out of
// its text, however the stream is split.
func TestThinkingInText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"<think>\nhm\n</think>\n\nyes":      {"\nhm\n", "yes"},
		"\n<think>hm</think>yes":            {"hm", "yes"},
		"<think></think>yes":                {"", "yes"},
		"<think>cut off":                    {"cut off", ""},
		"<think>a </thin b </think>c":       {"a </thin b ", "c"},
		"yes <think>no</think>":             {"", "yes <think>no</think>"},
		"<thin":                             {"", "<thin"},
		"<thinking>no":                      {"", "<thinking>no"},
		" \n ":                              {"", " \n "},
		"<think>a</think>b<think>c</think>": {"a", "b<think>c</think>"},
	} {
		for size := 1; size <= len(text); size++ {
			var events []string
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				piece, err := json.Marshal(rest[:n])
				if err != nil {
					t.Fatal(err)
				}
				events, rest = append(events, fmt.Sprintf(`{"choices":[{"delta":{"content":%s}}]}`, piece)), rest[n:]
			}
			events = append(events, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`, `[DONE]`)
			checkThinking(t, providertest.Stream(events...), want, fmt.Sprintf("%q in pieces of %d", text, size))
		}
		piece, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		checkThinking(t, &providertest.CannedAnswer{Kind: "application/json", Body: fmt.Sprintf(`{"choices":[{"message":{"content":%s},"finish_reason":"stop"}]}`, piece)}, want, text)
	}
	field := providertest.Stream(`{"choices":[{"delta":{"reasoning_content":"hm"}}]}`, `{"choices":[{"delta":{"content":"<think>yes"},"finish_reason":"stop"}]}`, `[DONE]`)
	checkThinking(t, field, [2]string{"hm", "<think>yes"}, "reasoning in a field")
}

// checkThinking asks and compares the reasoning and the text, of the chunks and of the
// end.
func checkThinking(t *testing.T, c *providertest.CannedAnswer, want [2]string, what string) {
	t.Helper()
	var shown, whole [2]string
	req := hello()
	req.Plain = c.Kind == "application/json"
	for chunk, err := range reach(t, c, local).Stream(t.Context(), req) {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		shown[0], shown[1] = shown[0]+chunk.Thinking, shown[1]+chunk.Text
		if f := chunk.Finish; f != nil {
			whole[1] = f.Text
			for _, th := range f.Thinking {
				whole[0] += th.Text
			}
		}
	}
	if shown != want || whole != want {
		t.Errorf("%s: shown %q, whole %q, want %q", what, shown, whole, want)
	}
}

// TestUsageOfGroqAndOpenRouter reads the token counts that Groq sends in a field of its
// own, and the cost that OpenRouter charged.
func TestUsageOfGroqAndOpenRouter(t *testing.T) {
	t.Parallel()
	end := `{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}`
	f, err := providertest.Ask(t, reach(t, providertest.Stream(end, `{"choices":[],"x_groq":{"id":"r","usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}}`, `[DONE]`), local), hello())
	if err != nil || f.Usage != (chela.TokenUsage{Input: 7, Output: 3}) {
		t.Errorf("Groq: %+v, %v", f.Usage, err)
	}
	for usage, want := range map[string]string{
		`{"prompt_tokens":1,"cost":0.0000124}`: "$0.000013",
		`{"prompt_tokens":1,"cost":0.01,"is_byok":true,"cost_details":{"upstream_inference_cost":0.19}}`:    "$0.20",
		`{"prompt_tokens":1,"cost":0.01,"is_byok":false,"cost_details":{"upstream_inference_cost":0.0099}}`: "$0.01",
		`{"prompt_tokens":1,"cost":0}`:     "$0.00",
		`{"prompt_tokens":1,"cost":-1}`:    "none",
		`{"prompt_tokens":1,"cost":"NaN"}`: "none",
		`{"prompt_tokens":1}`:              "none",
	} {
		for _, has := range [][]catalogue.Feature{{catalogue.FeatureUsageCost}, nil} {
			c := providertest.Stream(end, `{"choices":[],"usage":`+usage+`}`, `[DONE]`)
			p, err := openai.New(openai.Config{Name: "fake", BaseURL: local, HTTPClient: &http.Client{Transport: c}, Has: has})
			if err != nil {
				t.Fatal(err)
			}
			f, err := providertest.Ask(t, p, hello())
			got := "none"
			if err == nil && f.Billed != nil {
				got = f.Billed.String()
			}
			if has == nil && got != "none" || has != nil && got != want {
				t.Errorf("%s, with %v: billed %s, want %s (%v)", usage, has, got, want, err)
			}
		}
	}
}

// TestUnreadableCall has Groq's refusal of a call that its model wrote wrongly: a second
// attempt may succeed, and the first one may be billed.
func TestUnreadableCall(t *testing.T) {
	t.Parallel()
	c := &providertest.CannedAnswer{Status: 400, Kind: "application/json", Body: `{"error":{"message":"Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=x>"}}`}
	_, err := providertest.Ask(t, reach(t, c, local), hello())
	pe, ok := err.(*chela.ProviderError) //nolint:errorlint // the provider's own
	if !ok || pe.Kind != chela.Unavailable || !pe.Retryable || pe.Unpaid {
		t.Errorf("got %+v", err)
	}
}

// TestCacheMarks marks the prompts of Claude behind OpenRouter for the cache: the
// system text, the newest message and the newest one of the request before.
func TestCacheMarks(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{
		"anthropic/claude-sonnet-4.5": "system user tool",
		"openai/gpt-5":                "",
	} {
		url, seen := serveRefusals(t, chatAnswer)
		p, err := openai.New(openai.Config{Name: "fake", BaseURL: url, Has: []catalogue.Feature{catalogue.FeatureCacheControl}})
		if err != nil {
			t.Fatal(err)
		}
		req := plainBusy()
		req.Model, req.System = model, "Be kind."
		if text, err := said(t, p, req); err != nil || text != "ok" {
			t.Fatal(text, err)
		}
		var messages []struct {
			Role  string          `json:"role"`
			Cache json.RawMessage `json:"cache_control"`
			Text  json.RawMessage `json:"content"`
		}
		if err := json.Unmarshal((*seen)[0]["messages"], &messages); err != nil {
			t.Fatal(err)
		}
		var marked []string
		for _, m := range messages {
			if m.Cache != nil || strings.Contains(string(m.Text), `"cache_control":{"type":"ephemeral"}`) {
				marked = append(marked, m.Role)
			}
		}
		if got := strings.Join(marked, " "); got != want {
			t.Errorf("%s: marked %q, want %q in %s", model, got, want, (*seen)[0]["messages"])
		}
	}
}
