package bedrock_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/model/provider/bedrock"
	"chela/internal/model/provider/bedrock/bedrocktest"
	"chela/internal/model/provider/providertest"
)

func TestStreams(t *testing.T) {
	t.Parallel()
	delta := func(data string) providertest.Event {
		return event("contentBlockDelta", `{"contentBlockIndex":0,"delta":`+data+`}`)
	}
	start := event("contentBlockStart", `{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"i","name":"t"}}}`)
	call := func(ref, args string) []chela.CallSpec {
		return []chela.CallSpec{{Ref: ref, Tool: "t", Args: json.RawMessage(args)}}
	}
	tests := []struct {
		name   string
		events []providertest.Event
		want   chela.Finish
	}{
		{"redacted thinking", []providertest.Event{delta(`{"reasoningContent":{"redactedContent":"ZW5j"}}`)}, chela.Finish{Thinking: []chela.Thinking{{Redacted: "ZW5j", Provider: "bedrock"}}}},
		{"signature without text", []providertest.Event{delta(`{"reasoningContent":{"signature":"s"}}`)}, chela.Finish{Thinking: []chela.Thinking{{Signature: "s", Provider: "bedrock"}}}},
		{"call without arguments", []providertest.Event{start}, chela.Finish{Stop: chela.StopCalls, Calls: call("i", `{}`)}},
		{"two calls at one place", []providertest.Event{start, delta(`{"toolUse":{"input":"{\"a\":1}"}}`), start}, chela.Finish{
			Stop: chela.StopCalls, Calls: append(call("i", `{"a":1}`), call("call_1", `{}`)...),
		}},
		{"text inside a call", []providertest.Event{start, delta(`{"text":"x"}`)}, chela.Finish{Stop: chela.StopCalls, Calls: call("i", `{}`)}},
		{"events and blocks of other types", []providertest.Event{event("news", `{}`), delta(`{"hologram":{}}`), delta(`{"citation":{"title":"t"}}`)}, chela.Finish{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := providertest.Ask(t, reach(t, &canned{frames: append(tt.events, end, over)}, bedrock.Config{}), hello())
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Usage = chela.TokenUsage{Input: 9, Output: 7, CacheRead: 4}
			if tt.want.Stop == "" {
				tt.want.Stop = chela.StopEnd
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	const usage = `{"usage":{"inputTokens":100,"outputTokens":50,"totalTokens":200,"cacheReadInputTokens":30,"cacheWriteInputTokens":20}}`
	want := chela.TokenUsage{Input: 100, Output: 50, CacheRead: 30, CacheWrite: 20}
	got, err := providertest.Ask(t, reach(t, &canned{frames: []providertest.Event{end, event("metadata", usage)}}, bedrock.Config{}), hello())
	if err != nil || got.Usage != want {
		t.Errorf("streamed: got %+v, %v", got, err)
	}
	got, err = providertest.Ask(t, reach(t, &canned{frames: []providertest.Event{end}}, bedrock.Config{}), hello())
	if err != nil || got.Usage != (chela.TokenUsage{}) {
		t.Errorf("without usage: got %+v, %v", got, err)
	}
}

func TestStops(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]chela.StopReason{
		"end_turn": chela.StopEnd, "stop_sequence": chela.StopEnd, "tool_use": chela.StopEnd, "malformed_tool_use": chela.StopEnd,
		"max_tokens": chela.StopLength, "model_context_window_exceeded": chela.StopLength,
		"guardrail_intervened": chela.StopRefusal, "content_filtered": chela.StopRefusal, "something_new": chela.StopEnd,
	} {
		got, err := providertest.Ask(t, reach(t, &canned{frames: []providertest.Event{event("messageStop", `{"stopReason":"`+reason+`"}`), over}}, bedrock.Config{}), hello())
		if err != nil || got.Stop != want {
			t.Errorf("%s: got %v and %v, want %v", reason, got, err, want)
		}
	}
}

// TestTrouble has every error that the API documents.
func TestTrouble(t *testing.T) {
	t.Parallel()
	refused := func(status int, label, message string) *canned {
		return &canned{status: status, label: label, body: `{"message":"` + message + `"}`}
	}
	within := func(name, message string) *canned {
		return &canned{frames: []providertest.Event{event("messageStart", `{}`), event(name, `{"message":"`+message+`"}`)}}
	}
	later := chela.ProviderError{Kind: chela.Unavailable, Retryable: true}
	unpaid := later
	unpaid.Unpaid = true
	tests := []struct {
		name string
		wire *canned
		want chela.ProviderError
	}{
		{"no access", refused(403, "AccessDeniedException", "You don't have access to the model with the specified model ID."), chela.ProviderError{Kind: chela.Denied, Unpaid: true}},
		{"expired", refused(403, "ExpiredTokenException", "expired"), chela.ProviderError{Kind: chela.Denied, Unpaid: true}},
		{"throttled", refused(429, "ThrottlingException:http://internal", "Too many tokens, please wait before trying again."), chela.ProviderError{Kind: chela.Exhausted, Retryable: true, Unpaid: true}},
		{"throttled for the day", refused(429, "ThrottlingException", "Too many tokens per day, please wait before trying again."), chela.ProviderError{Kind: chela.Exhausted, Unpaid: true}},
		{"quota", refused(400, "ServiceQuotaExceededException", "m"), chela.ProviderError{Kind: chela.Exhausted, Unpaid: true}},
		{"too long", refused(400, "ValidationException", "prompt is too long: 210000 tokens > 200000 maximum"), chela.ProviderError{Kind: chela.Invalid, Overflow: true, Unpaid: true}},
		{"no such model", refused(404, "ResourceNotFoundException", "This model version has reached the end of its life."), chela.ProviderError{Kind: chela.NotFound, Unpaid: true}},
		{"model broke", refused(424, "ModelErrorException", "m"), unpaid},
		{"model took too long", refused(408, "ModelTimeoutException", "m"), later},
		{"model not ready", refused(429, "ModelNotReadyException", "m"), unpaid},
		{"not JSON", &canned{status: 503, label: "ServiceUnavailableException"}, unpaid},
		{"throttled within", within("throttlingException", "m"), chela.ProviderError{Kind: chela.Exhausted, Retryable: true, Unpaid: true}},
		{"broken within", within("modelStreamErrorException", "m"), unpaid},
		{"unavailable within", within("serviceUnavailableException", "m"), unpaid},
		{"fault within", within("internalServerException", "m"), unpaid},
		{"invalid within", within("validationException", "m"), chela.ProviderError{Kind: chela.Invalid, Unpaid: true}},
		{"too long within", within("validationException", "Input is too long for requested model."), chela.ProviderError{Kind: chela.Invalid, Overflow: true, Unpaid: true}},
		{"unknown within", within("strangeException", "m"), unpaid},
		{"no stream", &canned{body: `{"output":{}}`}, chela.ProviderError{Kind: chela.Unsupported}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := providertest.Ask(t, reach(t, tt.wire, bedrock.Config{}), hello())
			got, ok := errors.AsType[*chela.ProviderError](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			tt.want.Provider, tt.want.Status, tt.want.Msg, tt.want.Err = got.Provider, got.Status, got.Msg, got.Err
			if *got != tt.want {
				t.Errorf("got  %+v\nwant %+v", *got, tt.want)
			}
		})
	}
}

// TestBroken has streams that end too early, or are no stream.
func TestBroken(t *testing.T) {
	t.Parallel()
	whole := string(bedrocktest.Frame(end))
	tests := []struct {
		name, body string
		cut        bool
	}{
		{"nothing", "", true},
		{"half a frame", whole[:len(whole)/2], true},
		{"wrong sum", whole[:len(whole)-1] + "x", false},
		{"text", "data: {}\n\nevent: x", false},
		{"no JSON", string(bedrocktest.Frame(event("messageStop", "nul"))), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := providertest.Ask(t, reach(t, &canned{body: tt.body, stream: true}, bedrock.Config{}), hello())
			got, ok := errors.AsType[*chela.ProviderError](err)
			if !ok || got.Kind != chela.Unavailable || !got.Retryable || got.Cut != tt.cut {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// TestThinking has one model for each way to think.
func TestThinking(t *testing.T) {
	t.Parallel()
	tests := []struct {
		model string
		level chela.ThinkingLevel
		limit int
		want  string // inferenceConfig and additionalModelRequestFields as sent
	}{
		{"us.anthropic.claude-sonnet-4-5-20250929-v1:0", "", 0, `{"maxTokens":32000} `},
		{"us.anthropic.claude-sonnet-4-5-20250929-v1:0", chela.ThinkingHigh, 5000, `{"maxTokens":5000} {"thinking":{"budget_tokens":2500,"type":"enabled"}}`},
		{"anthropic.claude-opus-4-1-20250805-v1:0", chela.ThinkingXHigh, 0, `{"maxTokens":64000} {"thinking":{"budget_tokens":32000,"type":"enabled"}}`},
		{"anthropic.claude-3-haiku-20240307-v1:0", chela.ThinkingHigh, 0, `{"maxTokens":32000} `},
		{"global.anthropic.claude-opus-4-6-v1", chela.ThinkingXHigh, 0, `{"maxTokens":32000} {"output_config":{"effort":"max"},"thinking":{"type":"adaptive"}}`},
		{"anthropic.claude-opus-5-v1:0", chela.ThinkingOff, 0, `{"maxTokens":32000} {"thinking":{"type":"disabled"}}`},
		{"anthropic.claude-opus-5-v1:0", chela.ThinkingLow, 9, `{"maxTokens":9} {"output_config":{"effort":"low"},"thinking":{"type":"adaptive"}}`},
		{"openai.gpt-oss-120b-1:0", "", 0, ` `},
		{"openai.gpt-oss-120b-1:0", chela.ThinkingOff, 9, `{"maxTokens":9} {"reasoning_effort":"low"}`},
		{"openai.gpt-oss-120b-1:0", chela.ThinkingXHigh, 9, `{"maxTokens":9} {"reasoning_effort":"high"}`},
		{"us.amazon.nova-2-lite-v1:0", chela.ThinkingOff, 9, `{"maxTokens":9} `},
		{"us.amazon.nova-2-lite-v1:0", chela.ThinkingMedium, 9, `{"maxTokens":9} {"reasoningConfig":{"maxReasoningEffort":"medium","type":"enabled"}}`},
		{"us.amazon.nova-2-lite-v1:0", chela.ThinkingHigh, 9, `{"maxTokens":9} {"reasoningConfig":{"maxReasoningEffort":"medium","type":"enabled"}}`},
		{"us.amazon.nova-2-lite-v1:0", chela.ThinkingHigh, 0, ` {"reasoningConfig":{"maxReasoningEffort":"high","type":"enabled"}}`},
		{"amazon.nova-pro-v1:0", chela.ThinkingHigh, 9, `{"maxTokens":9} `},
		{"us.deepseek.r1-v1:0", chela.ThinkingHigh, 0, ` `},
	}
	for _, tt := range tests {
		t.Run(tt.model+" "+string(tt.level), func(t *testing.T) {
			t.Parallel()
			c := &canned{frames: []providertest.Event{end, over}}
			req := hello()
			req.Model, req.Thinking, req.MaxTokens = tt.model, tt.level, tt.limit
			if _, err := providertest.Ask(t, reach(t, c, bedrock.Config{}), req); err != nil {
				t.Fatal(err)
			}
			var sent struct {
				Inference json.RawMessage `json:"inferenceConfig"`
				Fields    json.RawMessage `json:"additionalModelRequestFields"`
			}
			if err := json.Unmarshal([]byte(c.sent), &sent); err != nil {
				t.Fatal(err)
			}
			if got := string(sent.Inference) + " " + string(sent.Fields); got != tt.want {
				t.Errorf("sent %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]int{
		"anthropic.claude-sonnet-4-5-20250929-v1:0": 3, "us.amazon.nova-pro-v1:0": 2, "anthropic.claude-3-haiku-20240307-v1:0": 0,
		"anthropic.claude-3-5-sonnet-20240620-v1:0": 0, "meta.llama4-maverick-17b-instruct-v1:0": 0,
	} {
		c := &canned{frames: []providertest.Event{end, over}}
		req := hello()
		req.Model, req.System, req.Tools = model, "s", []chela.ToolSpec{{Name: "t", Input: json.RawMessage(`null`)}}
		if _, err := providertest.Ask(t, reach(t, c, bedrock.Config{}), req); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(c.sent, "cachePoint"); got != want {
			t.Errorf("%s: %d marks in %s, want %d", model, got, c.sent, want)
		}
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	c := &canned{bodies: map[string]string{
		"/foundation-models?byOutputModality=TEXT&byInferenceType=ON_DEMAND": `{"modelSummaries":[{"modelId":"a","inputModalities":["TEXT","IMAGE"]},{"modelId":"b","inputModalities":["TEXT"]}]}`,
		"/inference-profiles?maxResults=1000":                                `{"inferenceProfileSummaries":[{"inferenceProfileId":"us.c"}],"nextToken":"n+1"}`,
		"/inference-profiles?maxResults=1000&nextToken=n%2B1":                `{"inferenceProfileSummaries":[{"inferenceProfileId":"us.d"}]}`,
	}}
	got, err := reach(t, c, bedrock.Config{}).Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []chela.Model{{Provider: "fake", Name: "a", Abilities: []chela.Ability{chela.AbleImages}}, {Provider: "fake", Name: "b"}, {Provider: "fake", Name: "us.c"}, {Provider: "fake", Name: "us.d"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if !strings.HasPrefix(c.url, "https://bedrock.us-east-1.amazonaws.com/") {
		t.Errorf("asked %s", c.url)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	keys := bedrock.Keys{ID: "a", Secret: "b"}
	tests := []struct {
		cfg  bedrock.Config
		want chela.Kind
	}{
		{bedrock.Config{APIKey: "k"}, chela.Invalid},
		{bedrock.Config{APIKey: "k", Region: "evil.example/"}, chela.Invalid},
		{bedrock.Config{APIKey: "k", Region: "us-east-1", BaseURL: "localhost"}, chela.Invalid},
		{bedrock.Config{Region: "us-east-1"}, chela.Denied},
		{bedrock.Config{Region: "us-east-1", Keys: bedrock.Keys{ID: "a"}}, chela.Denied},
		{bedrock.Config{Region: "us-gov-west-1", Keys: keys}, ""},
		{bedrock.Config{Region: "cn-north-1", APIKey: "k"}, ""},
	}
	for _, tt := range tests {
		if _, err := bedrock.New(tt.cfg); chela.KindOf(err) != tt.want {
			t.Errorf("%+v: got %v, want kind %q", tt.cfg, err, tt.want)
		}
	}
}

// TestEnvironment shows that nothing is taken from the environment, which only
// the configuration reads.
func TestEnvironment(t *testing.T) {
	for _, name := range []string{"AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_ENDPOINT_URL", "AWS_PROFILE"} {
		t.Setenv(name, "http://stray")
	}
	c := &canned{frames: []providertest.Event{end, over}}
	if _, err := providertest.Ask(t, reach(t, c, bedrock.Config{Keys: bedrock.Keys{ID: "AKID", Secret: "s"}}), hello()); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(c.url, "https://bedrock-runtime.us-east-1.amazonaws.com") {
		t.Errorf("asked %s", c.url)
	}
	for name, values := range c.header {
		if strings.Contains(strings.Join(values, " "), "stray") || name == "X-Amz-Security-Token" {
			t.Errorf("sent %s: %q", name, values)
		}
	}
}

// TestUnseen tells of the bytes of calls, and of reasoning that nobody can read.
func TestUnseen(t *testing.T) {
	t.Parallel()
	frames := []providertest.Event{
		event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"a"}}}`),
		event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"12"}}}`),
		event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"redactedContent":"345"}}}`),
		event("contentBlockStart", `{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"i","name":"67"}}}`),
		event("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"toolUse":{"input":"{}"}}}`), end, over,
	}
	providertest.CheckUnseen(t, reach(t, &canned{frames: frames}, bedrock.Config{}), hello(), 9)
}

// TestLongEvent reads no event that tells of more bytes than are held in memory.
func TestLongEvent(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	whole := bedrocktest.Frame(event("contentBlockDelta", strings.Repeat("x", 9*mib)))
	_, err := providertest.Ask(t, reach(t, &canned{body: string(whole), stream: true}, bedrock.Config{}), hello())
	if failed, is := errors.AsType[*chela.ProviderError](err); !is || failed.Retryable || !strings.Contains(failed.Msg, "too long") {
		t.Errorf("got %v", err)
	}
}
