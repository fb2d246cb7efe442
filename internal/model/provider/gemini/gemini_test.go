package gemini_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/model/provider/gemini"
	"chela/internal/model/provider/providertest"
)

const (
	word = `{"candidates":[{"content":{"parts":[{"text":" word"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":1,"totalTokenCount":10},"modelVersion":"m1","responseId":"r1"}`
	over = `{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":7,"totalTokenCount":16},"modelVersion":"m1"}`
)

// piece returns a piece with the given parts, and members beside them.
func piece(parts, beside string) string {
	return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"}` + beside + `}]}`
}

func TestStreams(t *testing.T) {
	t.Parallel()
	usage := chela.TokenUsage{Input: 9, Output: 7}
	tests := []struct {
		name   string
		pieces []string
		want   chela.Finish
	}{
		{"two texts in a piece", []string{piece(`{"text":"a"},{"text":"b"}`, "")}, chela.Finish{Text: "ab"}},
		{
			"signature without text",
			[]string{word, piece(`{"text":"","thoughtSignature":"s1"}`, "")},
			chela.Finish{Text: " word", Thinking: []chela.Thinking{{Signature: "gemini-2.5-flash text s1", Provider: "gemini"}}},
		},
		{
			"call without an id",
			[]string{piece(`{"functionCall":{"name":"t","args":{"n":12345678901234567890}}},{"functionCall":{"name":"t"}}`, "")},
			chela.Finish{Stop: chela.StopCalls, Calls: []chela.CallSpec{
				{Ref: "call_0", Tool: "t", Args: json.RawMessage(`{"n":12345678901234567890}`)}, {Ref: "call_1", Tool: "t", Args: json.RawMessage(`{}`)},
			}},
		},
		{"parts of other kinds", []string{piece(`{"inlineData":{"mimeType":"image/png","data":"AA=="}},{"executableCode":{"code":"1"}}`, "")}, chela.Finish{}},
		{"an unspecified reason is none", []string{piece(`{"text":"a"}`, `,"finishReason":"FINISH_REASON_UNSPECIFIED"`)}, chela.Finish{Text: "a"}},
		{"members of other forms", []string{`{"candidates":[7],"promptFeedback":[],"modelVersion":null,"news":{}}`}, chela.Finish{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := providertest.Ask(t, reach(t, providertest.Stream(append(tt.pieces, over)...)), hello())
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

// TestUsage has every count that the server tells. What is read from the cache
// is part of the prompt, what is thought is not part of the answer.
func TestUsage(t *testing.T) {
	t.Parallel()
	counts := `{"promptTokenCount":1000,"cachedContentTokenCount":900,"toolUsePromptTokenCount":5,"candidatesTokenCount":70,"thoughtsTokenCount":30,"totalTokenCount":1105,"promptTokensDetails":[{"modality":"TEXT","tokenCount":1000}]}`
	early := `{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":1000,"candidatesTokenCount":1}}`
	late := `{"candidates":[{"finishReason":"STOP"}],"usageMetadata":` + counts + `}`
	got, err := providertest.Ask(t, reach(t, providertest.Stream(early, late)), hello())
	want := chela.TokenUsage{Input: 105, Output: 100, CacheRead: 900, Reasoning: 30}
	if err != nil || got.Usage != want {
		t.Errorf("got %+v and %v, want %+v", got.Usage, err, want)
	}
}

func TestStops(t *testing.T) {
	t.Parallel()
	call := `{"functionCall":{"name":"t","args":{}}}`
	tests := []struct {
		reason, parts string
		want          chela.StopReason
	}{
		{"STOP", "", chela.StopEnd},
		{"STOP", call, chela.StopCalls},
		{"MAX_TOKENS", `{"text":"It is"}`, chela.StopLength},
		{"MAX_TOKENS", call, chela.StopLength},
		{"CONTINUATION", "", chela.StopLength},
		{"SAFETY", "", chela.StopRefusal},
		{"RECITATION", "", chela.StopRefusal},
		{"PROHIBITED_CONTENT", "", chela.StopRefusal},
		{"IMAGE_SAFETY", "", chela.StopRefusal},
		{"OTHER", "", chela.StopRefusal},
		{"SOMETHING_NEW", "", chela.StopEnd},
	}
	for _, tt := range tests {
		got, err := providertest.Ask(t, reach(t, providertest.Stream(piece(tt.parts, `,"finishReason":"`+tt.reason+`"`))), hello())
		if err != nil || got.Stop != tt.want {
			t.Errorf("%s: got %v and %v, want %v", tt.reason, got, err, tt.want)
		}
	}
	for _, plain := range []bool{false, true} {
		c := providertest.Stream(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":9}}`)
		if plain {
			c = &providertest.CannedAnswer{Kind: "application/json", Body: strings.TrimPrefix(c.Body, "data: ")}
		}
		req := hello()
		req.Plain = plain
		got, err := providertest.Ask(t, reach(t, c), req)
		if err != nil || got.Stop != chela.StopRefusal || got.Usage.Input != 9 {
			t.Errorf("blocked prompt: got %+v and %v, want a refusal", got, err)
		}
	}
}

// TestCallsThatCannotBeRead has what the server says instead of a call that is
// none.
func TestCallsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE"} {
		_, err := providertest.Ask(t, reach(t, providertest.Stream(word, piece("", `,"finishReason":"`+reason+`","finishMessage":"Malformed function call: print(x"`))), hello())
		var pe *chela.ProviderError
		if !errors.As(err, &pe) || pe.Kind != chela.Unavailable || !pe.Retryable || pe.Cut || !strings.Contains(pe.Msg, "print(x") {
			t.Errorf("%s: got %+v, want a retryable error with the server's words", reason, pe)
		}
	}
}

func TestBadAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		wire  *providertest.CannedAnswer
		plain bool
		want  chela.ProviderError
	}{
		{"overloaded", providertest.Stream(word, `{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}`), false, chela.ProviderError{Kind: chela.Unavailable, Retryable: true}},
		{"rate", providertest.Stream(word, `{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"36.5s"}]}}`), false, chela.ProviderError{Kind: chela.Exhausted, Retryable: true, After: 36500 * time.Millisecond}},
		{"rate with a delay in the body", &providertest.CannedAnswer{Status: 429, Kind: "application/json", Body: `{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"7s"}]}}`}, false, chela.ProviderError{Kind: chela.Exhausted, Retryable: true, After: 7 * time.Second, Unpaid: true}},
		{"no reason to stop", providertest.Stream(word), false, chela.ProviderError{Kind: chela.Unavailable, Retryable: true, Cut: true}},
		{"no stream", &providertest.CannedAnswer{Kind: "application/json", Body: `[{}]`}, false, chela.ProviderError{Kind: chela.Unsupported}},
		{"no answer", &providertest.CannedAnswer{Kind: "application/json", Body: `{}`}, true, chela.ProviderError{Kind: chela.Unavailable, Retryable: true}},
		{"half an answer", &providertest.CannedAnswer{Kind: "application/json", Body: `{"candidates`}, true, chela.ProviderError{Kind: chela.Unavailable, Retryable: true}},
		{"no credit", &providertest.CannedAnswer{Status: 402, Kind: "application/json", Body: `{"error":{"code":402,"message":"Your prepayment credits are depleted.","status":"RESOURCE_EXHAUSTED"}}`}, false, chela.ProviderError{Kind: chela.Exhausted, Unpaid: true}},
		{"too many bytes", &providertest.CannedAnswer{Status: 400, Kind: "application/json", Body: `{"error":{"code":400,"message":"Request payload size exceeds the limit: 20971520 bytes.","status":"INVALID_ARGUMENT"}}`}, false, chela.ProviderError{Kind: chela.Invalid, Overflow: true, Unpaid: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			req := hello()
			req.Plain = tt.plain
			_, err := providertest.Ask(t, reach(t, tt.wire), req)
			var pe *chela.ProviderError
			if !errors.As(err, &pe) {
				t.Fatalf("got %v, want a provider error", err)
			}
			tt.want.Provider, tt.want.Status, tt.want.Msg, tt.want.Err = pe.Provider, pe.Status, pe.Msg, pe.Err
			if *pe != tt.want {
				t.Errorf("got  %+v\nwant %+v", *pe, tt.want)
			}
		})
	}
}

// TestUnreadableSignatures shows that a conversation goes on where the server
// cannot read its signatures, as after a change of the key.
func TestUnreadableSignatures(t *testing.T) {
	t.Parallel()
	refusal := &providertest.CannedAnswer{Status: 400, Kind: "application/json", Body: `{"error":{"code":400,"message":"Corrupted thought signature.","status":"INVALID_ARGUMENT"}}`}
	good := providertest.Stream(over)
	p := reach(t, refusal)
	req := hello()
	req.Model = "gemini-3.8-flash"
	req.Messages = append(req.Messages, chela.Message{
		Role:     chela.RoleAssistant,
		Thinking: []chela.Thinking{{Signature: "gemini-3.8-flash 0 old", Provider: "gemini"}},
		Calls:    []chela.CallSpec{{Ref: "r", Tool: "t", Args: json.RawMessage(`{}`)}},
	})
	refusal.Then = good
	if _, err := providertest.Ask(t, p, req); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(refusal.Sent, `"thoughtSignature":"old"`) || !strings.Contains(good.Sent, `"thoughtSignature":"skip_thought_signature_validator"`) {
		t.Errorf("sent %s\nthen %s", refusal.Sent, good.Sent)
	}
}

// TestAddresses has names of models and addresses of servers. None leads
// outside the models.
func TestAddresses(t *testing.T) {
	t.Parallel()
	const local = "http://127.0.0.1:1"
	tests := []struct{ base, model, want string }{
		{local, "gemini-2.5-flash", local + "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"},
		{local + "/", "models/m", local + "/v1beta/models/m:streamGenerateContent?alt=sse"},
		{local + "/v1beta", "tunedModels/m", local + "/v1beta/tunedModels/m:streamGenerateContent?alt=sse"},
		{local + "/gemini/v1alpha/", "m", local + "/gemini/v1alpha/models/m:streamGenerateContent?alt=sse"},
		{local + "/gemini", "../x?y#z", local + "/gemini/v1beta/models/..%2Fx%3Fy%23z:streamGenerateContent?alt=sse"},
	}
	for _, tt := range tests {
		c := providertest.Stream(over)
		p, err := gemini.New(gemini.Config{BaseURL: tt.base, HTTPClient: &http.Client{Transport: c}})
		if err != nil {
			t.Fatal(err)
		}
		req := hello()
		req.Model = tt.model
		if _, err := providertest.Ask(t, p, req); err != nil || c.URL != tt.want {
			t.Errorf("asked %s (%v)\nwant  %s", c.URL, err, tt.want)
		}
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	c := &providertest.CannedAnswer{Kind: "application/json", Body: `{"models":[{"name":"models/a","inputTokenLimit":1048576,"outputTokenLimit":65536,"supportedGenerationMethods":["countTokens","generateContent"]},{"name":"models/embedding","supportedGenerationMethods":["embedContent"]}],"nextPageToken":"p 2"}`}
	c.Then = &providertest.CannedAnswer{Kind: "application/json", Body: `{"models":[{"name":"tunedModels/b","supportedGenerationMethods":["generateContent"]}]}`}
	got, err := reach(t, c).Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []chela.Model{{Provider: "fake", Name: "a", Window: 1048576, MaxOutput: 65536}, {Provider: "fake", Name: "tunedModels/b"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if c.Then.URL != "http://127.0.0.1:1/v1beta/models?pageSize=1000&pageToken=p+2" {
		t.Errorf("asked %s for the second page", c.Then.URL)
	}
	c = &providertest.CannedAnswer{Status: 400, Kind: "application/json", Body: `{"error":{"code":400,"message":"bad key sk-12345","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`}
	if _, err := reach(t, c).Models(t.Context()); chela.KindOf(err) != chela.Denied || strings.Contains(err.Error(), "sk-12345") {
		t.Errorf("got %v, want a denial that does not tell the key", err)
	}
	endless := &providertest.CannedAnswer{Kind: "application/json", Body: `{"nextPageToken":"again"}`}
	if got, err := reach(t, endless).Models(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("a list without an end: got %v and %v", got, err)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	tests := []struct {
		cfg  gemini.Config
		want chela.Kind
	}{
		{gemini.Config{}, chela.Denied},
		{gemini.Config{BaseURL: "localhost"}, chela.Invalid},
		{gemini.Config{BaseURL: "http://127.0.0.1:1"}, ""},
		{gemini.Config{APIKey: "k"}, ""},
	}
	for _, tt := range tests {
		if _, err := gemini.New(tt.cfg); chela.KindOf(err) != tt.want {
			t.Errorf("%+v: got %v, want kind %q", tt.cfg, err, tt.want)
		}
	}
}

// TestEnvironment shows that nothing is taken from the environment, which only
// the configuration reads.
func TestEnvironment(t *testing.T) {
	for _, name := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_CLOUD_PROJECT"} {
		t.Setenv(name, "http://stray:stray")
	}
	c := providertest.Stream(over)
	p, err := gemini.New(gemini.Config{BaseURL: "http://127.0.0.1:1", HTTPClient: &http.Client{Transport: c}})
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
		if strings.Contains(strings.Join(values, " "), "stray") || name == "Authorization" || name == "X-Goog-Api-Key" {
			t.Errorf("sent %s: %q", name, values)
		}
	}
}

// TestUnseen tells of the bytes of calls, and of reasoning that nobody can read.
func TestUnseen(t *testing.T) {
	t.Parallel()
	c := providertest.Stream(`{"candidates":[{"content":{"parts":[{"text":"a","thought":true},{"text":"b"},` +
		`{"functionCall":{"name":"12","args":{}},"thoughtSignature":"567"},{"text":"","thoughtSignature":"89"}]},"finishReason":"STOP"}]}`)
	providertest.CheckUnseen(t, reach(t, c), hello(), 9)
}
