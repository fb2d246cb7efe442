package anthropic_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/model/provider/anthropic"
	"chela/internal/model/provider/providertest"
)

const (
	begin = `{"type":"message_start","message":{"model":"m1","usage":{"input_tokens":9,"output_tokens":1,"cache_read_input_tokens":4}}}`
	end   = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}`
	over  = `{"type":"message_stop"}`
)

func block(index, start string, deltas ...string) []string {
	out := []string{`{"type":"content_block_start","index":` + index + `,"content_block":` + start + `}`}
	for _, d := range deltas {
		out = append(out, `{"type":"content_block_delta","index":`+index+`,"delta":`+d+`}`)
	}
	return append(out, `{"type":"content_block_stop","index":`+index+`}`)
}

func TestStreams(t *testing.T) {
	t.Parallel()
	usage := chela.TokenUsage{Input: 9, Output: 7, CacheRead: 4}
	tests := []struct {
		name   string
		blocks []string
		want   chela.Finish
	}{
		{"redacted thinking", block("0", `{"type":"redacted_thinking","data":"enc1"}`), chela.Finish{Thinking: []chela.Thinking{{Redacted: "enc1", Provider: "anthropic"}}}},
		{
			"signature without text", block("0", `{"type":"thinking","thinking":"","signature":""}`, `{"type":"signature_delta","signature":"s1"}`),
			chela.Finish{Thinking: []chela.Thinking{{Signature: "s1", Provider: "anthropic"}}},
		},
		{"text at the beginning of a block", block("0", `{"type":"text","text":"a"}`, `{"type":"text_delta","text":"b"}`), chela.Finish{Text: "ab"}},
		{"two texts", append(block("0", `{"type":"text","text":"a"}`), block("1", `{"type":"text","text":"b"}`)...), chela.Finish{Text: "ab"}},
		{
			"arguments at the beginning of a block", block("0", `{"type":"tool_use","id":"i","name":"t","input":{"a":1}}`),
			chela.Finish{Stop: chela.StopCalls, Calls: []chela.CallSpec{{Ref: "i", Tool: "t", Args: json.RawMessage(`{"a":1}`)}}},
		},
		{
			"call without an id", block("0", `{"type":"tool_use","name":"t","input":{}}`),
			chela.Finish{Stop: chela.StopCalls, Calls: []chela.CallSpec{{Ref: "call_0", Tool: "t", Args: json.RawMessage(`{}`)}}},
		},
		{"blocks and events of other types", append(block("0", `{"type":"hologram","text":"x"}`, `{"type":"light_delta","text":"y"}`), `{"type":"ping"}`, `{"type":"news"}`), chela.Finish{}},
		{"piece of no block", []string{`{"type":"content_block_delta","index":5,"delta":{"type":"text_delta","text":"x"}}`}, chela.Finish{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			data := append(append([]string{begin}, tt.blocks...), end, over)
			got, err := providertest.Ask(t, reach(t, events(data...)), hello())
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Model, tt.want.Usage = "m1", usage
			if tt.want.Stop == "" {
				tt.want.Stop = chela.StopEnd
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestStops(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]chela.StopReason{
		"end_turn": chela.StopEnd, "stop_sequence": chela.StopEnd, "pause_turn": chela.StopEnd, "tool_use": chela.StopEnd,
		"max_tokens": chela.StopLength, "model_context_window_exceeded": chela.StopLength,
		"refusal": chela.StopRefusal, "something_new": chela.StopEnd,
	} {
		got, err := providertest.Ask(t, reach(t, events(begin, `{"type":"message_delta","delta":{"stop_reason":"`+reason+`"},"usage":{}}`, over)), hello())
		if err != nil || got.Stop != want {
			t.Errorf("%s: got %v and %v, want %v", reason, got, err, want)
		}
	}
}

func TestBadAnswers(t *testing.T) {
	t.Parallel()
	broken := func(kind string) *providertest.CannedAnswer {
		return events(begin, `{"type":"error","error":{"type":"`+kind+`","message":"m"}}`)
	}
	tests := []struct {
		name  string
		wire  *providertest.CannedAnswer
		plain bool
		want  chela.Kind
		cut   bool
	}{
		{"overloaded", broken("overloaded_error"), false, chela.Unavailable, false},
		{"rate", broken("rate_limit_error"), false, chela.Exhausted, false},
		{"invalid", broken("invalid_request_error"), false, chela.Invalid, false},
		{"no reason to stop", events(begin, over), false, chela.Unavailable, true},
		{"no stream", &providertest.CannedAnswer{Kind: "application/json", Body: `{}`}, false, chela.Unsupported, false},
		{"no message", &providertest.CannedAnswer{Kind: "application/json", Body: `{}`}, true, chela.Unavailable, false},
		{"half a message", &providertest.CannedAnswer{Kind: "application/json", Body: `{"type":"mess`}, true, chela.Unavailable, false},
		{"no credit", &providertest.CannedAnswer{Status: 400, Kind: "application/json", Body: `{"error":{"type":"billing_error","message":"m"}}`}, false, chela.Exhausted, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			req := hello()
			req.Plain = tt.plain
			_, err := providertest.Ask(t, reach(t, tt.wire), req)
			var pe *chela.ProviderError
			if !errors.As(err, &pe) || pe.Kind != tt.want || pe.Cut != tt.cut {
				t.Errorf("got %+v, want kind %q, cut %v", pe, tt.want, tt.cut)
			}
		})
	}
}

// TestThinking has one model for each way to think.
func TestThinking(t *testing.T) {
	t.Parallel()
	tests := []struct {
		model   string
		longest int
		level   chela.ThinkingLevel
		limit   int
		want    string // max_tokens, thinking and effort as sent
	}{
		{"claude-sonnet-4-5", 0, "", 0, `32000`},
		{"claude-sonnet-4-5", 0, chela.ThinkingOff, 0, `32000`},
		{"claude-sonnet-4-5", 0, chela.ThinkingMinimal, 5000, `5000 {"type":"enabled","budget_tokens":1024}`},
		{"claude-haiku-4-5-20251001", 0, chela.ThinkingXHigh, 0, `64000 {"type":"enabled","budget_tokens":32000}`},
		{"claude-opus-4-1-20250805", 32000, chela.ThinkingXHigh, 0, `32000 {"type":"enabled","budget_tokens":16000}`},
		{"claude-opus-4-20250514", 32000, chela.ThinkingLow, 10_000, `10000 {"type":"enabled","budget_tokens":4096}`},
		{"claude-3-7-sonnet-latest", 0, chela.ThinkingMedium, 20_000, `20000 {"type":"enabled","budget_tokens":8192}`},
		{"claude-3-5-haiku-latest", 8192, chela.ThinkingHigh, 0, `8192`},
		{"claude-3-opus-20240229", 4096, chela.ThinkingOff, 0, `4096`},
		{"claude-opus-4-6", 0, chela.ThinkingXHigh, 0, `32000 {"type":"adaptive","display":"summarized"} "max"`},
		{"claude-opus-4-8", 0, chela.ThinkingXHigh, 0, `32000 {"type":"adaptive","display":"summarized"} "xhigh"`},
		{"claude-sonnet-5", 0, chela.ThinkingMinimal, 0, `32000 {"type":"adaptive","display":"summarized"} "low"`},
		{"claude-opus-5", 0, chela.ThinkingOff, 0, `32000 {"type":"disabled"}`},
		{"claude-sonnet-5-5", 0, chela.ThinkingOff, 0, `32000 {"type":"between_tools"}`},
		{"claude-opus-5-5", 0, chela.ThinkingOff, 0, `32000 "low"`},
		{"claude-sonnet-5-5", 128_000, "", 0, `32000`},
		{"other-model", 4096, chela.ThinkingHigh, 0, `4096 {"type":"enabled","budget_tokens":2048}`},
		{"other-model", 2000, chela.ThinkingHigh, 0, `2000`},
		{"other-model", 0, chela.ThinkingHigh, 0, `48384 {"type":"enabled","budget_tokens":16384}`},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.model, " ", tt.longest, " ", tt.level), func(t *testing.T) {
			t.Parallel()
			c := events(begin, end, over)
			req := hello()
			req.Model, req.Thinking, req.MaxTokens = tt.model, tt.level, tt.limit
			if _, err := providertest.Ask(t, reachModel(t, c, tt.longest), req); err != nil {
				t.Fatal(err)
			}
			var sent struct {
				MaxTokens    json.RawMessage `json:"max_tokens"`
				Thinking     map[string]any  `json:"thinking"`
				OutputConfig struct {
					Effort json.RawMessage `json:"effort"`
				} `json:"output_config"`
			}
			if err := json.Unmarshal([]byte(c.Sent), &sent); err != nil {
				t.Fatal(err)
			}
			got := string(sent.MaxTokens)
			for _, name := range []string{"type", "budget_tokens", "display"} {
				if v, ok := sent.Thinking[name]; ok {
					raw, _ := json.Marshal(v)
					got += map[bool]string{true: ` {`, false: `,`}[name == "type"] + `"` + name + `":` + string(raw)
				}
			}
			if sent.Thinking != nil {
				got += "}"
			}
			got = strings.TrimSpace(got + " " + string(sent.OutputConfig.Effort))
			if got != tt.want {
				t.Errorf("sent %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	c := &providertest.CannedAnswer{Kind: "application/json", Body: `{"data":[{"id":"a","type":"model","max_input_tokens":200000,"max_tokens":64000},{"id":"b","type":"model"}],"has_more":false}`}
	got, err := reach(t, c).Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []chela.Model{{Provider: "fake", Name: "a", Window: 200000, MaxOutput: 64000}, {Provider: "fake", Name: "b"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	c = &providertest.CannedAnswer{Status: 401, Kind: "application/json", Body: `{"error":{"type":"authentication_error","message":"bad key sk-12345"}}`}
	if _, err := reach(t, c).Models(t.Context()); chela.KindOf(err) != chela.Denied || strings.Contains(err.Error(), "sk-12345") {
		t.Errorf("got %v, want a denial that does not tell the key", err)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	tests := []struct {
		cfg  anthropic.Config
		want chela.Kind
	}{
		{anthropic.Config{}, chela.Denied},
		{anthropic.Config{BaseURL: "localhost"}, chela.Invalid},
		{anthropic.Config{BaseURL: "http://127.0.0.1:1"}, ""},
		{anthropic.Config{APIKey: "k"}, ""},
	}
	for _, tt := range tests {
		if _, err := anthropic.New(tt.cfg); chela.KindOf(err) != tt.want {
			t.Errorf("%+v: got %v, want kind %q", tt.cfg, err, tt.want)
		}
	}
}

// TestEnvironment shows that the SDK takes nothing from the environment, which
// only the configuration reads.
func TestEnvironment(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_PROFILE", "ANTHROPIC_CUSTOM_HEADERS"} {
		t.Setenv(name, "http://stray:stray")
	}
	c := events(begin, end, over)
	p, err := anthropic.New(anthropic.Config{BaseURL: "http://127.0.0.1:1", HTTPClient: &http.Client{Transport: c}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := providertest.Ask(t, p, hello()); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(c.URL, "http://127.0.0.1:1") {
		t.Errorf("asked %s with %v", c.URL, c.Header)
	}
	for name, values := range c.Header {
		if strings.Contains(strings.Join(values, " "), "stray") || name == "Authorization" || name == "X-Api-Key" {
			t.Errorf("sent %s: %q", name, values)
		}
	}
}

// TestUnseen tells of the bytes of calls, and of reasoning that nobody can read.
func TestUnseen(t *testing.T) {
	t.Parallel()
	data := []string{begin}
	data = append(data, block("0", `{"type":"thinking","thinking":"a"}`, `{"type":"thinking_delta","thinking":"b"}`, `{"type":"signature_delta","signature":"12"}`)...)
	data = append(data, block("1", `{"type":"redacted_thinking","data":"345"}`)...)
	data = append(data, block("2", `{"type":"text","text":""}`, `{"type":"text_delta","text":"said"}`)...)
	data = append(data, block("3", `{"type":"tool_use","id":"i","name":"67"}`, `{"type":"input_json_delta","partial_json":"{}"}`)...)
	providertest.CheckUnseen(t, reach(t, events(append(data, end, over)...)), hello(), 9)
}
