package geminitest_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"chela"
	"chela/internal/model/provider/gemini"
	"chela/internal/model/provider/gemini/geminitest"
	"chela/internal/model/provider/providertest"
)

const model = "gemini-3.8-flash"

// connect returns Google's SDK at a server. Its retries are off, as they would
// hide what the server says.
func connect(t *testing.T, url string, client *http.Client) *genai.Client {
	t.Helper()
	c, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		APIKey: providertest.Key, Backend: genai.BackendGeminiAPI, HTTPClient: client,
		HTTPOptions: genai.HTTPOptions{BaseURL: url},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestSDKReads has Google's SDK read what the server says: it understands all
// of it.
func TestSDKReads(t *testing.T) {
	t.Parallel()
	a := providertest.Answer{
		Thinking: "Both.", Text: []string{"Wait", "."}, Usage: chela.TokenUsage{Input: 10, Output: 5, CacheRead: 3, Reasoning: 2},
		Calls: []providertest.Call{{Ref: "r1", Tool: "clock", Args: `{"zone":"UTC"}`}, {Ref: "r2", Tool: "file_read", Args: `{}`}},
	}
	srv := geminitest.Serve(t, providertest.NewCase("sdk", a))
	client := connect(t, srv.URL, srv.Client())
	plain, err := client.Models.GenerateContent(t.Context(), model, genai.Text("hello"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var streamed []*genai.Part
	var last *genai.GenerateContentResponse
	for res, err := range client.Models.GenerateContentStream(t.Context(), model, genai.Text("hello"), nil) {
		if err != nil {
			t.Fatal(err)
		}
		last = res
		streamed = append(streamed, res.Candidates[0].Content.Parts...)
	}
	signature, err := base64.StdEncoding.DecodeString(geminitest.Sign("clock"))
	if err != nil {
		t.Fatal(err)
	}
	want := []*genai.Part{
		{Text: "Both.", Thought: true},
		{Text: "Wait."},
		{FunctionCall: &genai.FunctionCall{ID: "r1", Name: "clock", Args: map[string]any{"zone": "UTC"}}, ThoughtSignature: signature},
		{FunctionCall: &genai.FunctionCall{ID: "r2", Name: "file_read", Args: map[string]any{}}},
	}
	for name, got := range map[string][]*genai.Part{"plain": plain.Candidates[0].Content.Parts, "streamed": joined(streamed)} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
	u := last.UsageMetadata
	if last.Candidates[0].FinishReason != genai.FinishReasonStop || u.PromptTokenCount != 13 || u.CandidatesTokenCount != 3 || u.ThoughtsTokenCount != 2 || u.CachedContentTokenCount != 3 {
		t.Errorf("the end is %+v with %+v", last.Candidates[0], u)
	}
}

// joined joins the texts of neighbours and leaves out what is empty.
func joined(parts []*genai.Part) []*genai.Part {
	var out []*genai.Part
	for _, p := range parts {
		n := len(out)
		switch {
		case p.FunctionCall == nil && p.Text == "":
		case p.FunctionCall == nil && n > 0 && out[n-1].FunctionCall == nil && out[n-1].Thought == p.Thought:
			out[n-1].Text += p.Text
		default:
			out = append(out, p)
		}
	}
	return out
}

// TestSDKIsRefused has Google's SDK read a refusal with its details.
func TestSDKIsRefused(t *testing.T) {
	t.Parallel()
	srv := geminitest.Serve(t, providertest.NewCase("refused", providertest.Answer{Fault: providertest.FaultQuota}))
	_, err := connect(t, srv.URL, srv.Client()).Models.GenerateContent(t.Context(), model, genai.Text("hello"), nil)
	var refused genai.APIError
	if !errors.As(err, &refused) || refused.Code != 429 || refused.Status != "RESOURCE_EXHAUSTED" || len(refused.Details) != 2 {
		t.Errorf("got %v, want the refusal with two details", err)
	}
}

// A tap keeps the body of the last request.
type tap struct {
	next http.RoundTripper
	body []byte
}

func (p *tap) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	p.body = body
	r.Body = io.NopCloser(bytes.NewReader(body))
	return p.next.RoundTrip(r)
}

// TestSDKSendsTheSame sends one conversation with the provider and with Google's
// SDK. The server takes both, and they are alike.
func TestSDKSendsTheSame(t *testing.T) {
	t.Parallel()
	c := providertest.NewCase("same", providertest.Answer{Text: []string{"ok"}})
	srv := geminitest.Serve(t, c)
	heard := &tap{next: srv.Client().Transport}
	client := &http.Client{Transport: heard}
	p, err := gemini.New(gemini.Config{BaseURL: srv.URL, APIKey: providertest.Key, HTTPClient: client})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range p.Stream(t.Context(), request()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	ours := heard.body
	contents, config := sdkRequest(t)
	for _, err := range connect(t, srv.URL, client).Models.GenerateContentStream(t.Context(), model, contents, config) {
		if err != nil {
			t.Fatal(err)
		}
	}
	var want, got map[string]any
	if err := errors.Join(json.Unmarshal(heard.body, &want), json.Unmarshal(ours, &got)); err != nil {
		t.Fatal(err)
	}
	if system, ok := want["systemInstruction"].(map[string]any); ok {
		delete(system, "role") // which the server does not look at there
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-sdk +provider)\n%s", diff)
	}
	if all := c.Received(); len(all) != 2 || !cmp.Equal(all[0], all[1]) {
		t.Errorf("the server received %+v", all)
	}
}

const (
	schema  = `{"type":"object","properties":{"zone":{"type":"string","description":"where"},"n":{"type":["integer","null"]}},"required":["zone"],"additionalProperties":false}`
	picture = "\x89PNG\r\n\x1a\n"
)

func request() *chela.Request {
	dot := []chela.Attachment{{Name: "dot.png", MediaType: "image/png"}}
	calls := []chela.CallSpec{{ID: "call_1", Ref: "r1", Tool: "clock", Args: json.RawMessage(`{"zone":"UTC"}`)}, {ID: "call_2", Ref: "r2", Tool: "clock", Args: json.RawMessage(`{"zone":"?"}`)}}
	signed := []chela.Thinking{{Signature: model + " 0 " + geminitest.Sign("clock"), Provider: "gemini"}}
	return &chela.Request{
		Model: model, System: "Be terse.", MaxTokens: 500, Thinking: chela.ThinkingLow,
		Tools: []chela.ToolSpec{{Name: "clock", Description: "Tells the time.", Input: json.RawMessage(schema)}},
		Load:  func(context.Context, chela.Attachment) ([]byte, error) { return []byte(picture), nil },
		Messages: []chela.Message{
			{Role: chela.RoleUser, Text: "What time is it here?", Attachments: dot},
			{Role: chela.RoleAssistant, Text: "I look.", Thinking: signed, Calls: calls},
			{Role: chela.RoleTool, Call: "call_1", Ref: "r1", Tool: "clock", Text: "noon", Attachments: dot},
			{Role: chela.RoleTool, Call: "call_2", Ref: "r2", Tool: "clock", Text: "no such zone", Failed: true},
			{Role: chela.RoleUser, Text: "Thanks."},
		},
	}
}

// sdkRequest is request in the words of the SDK.
func sdkRequest(t *testing.T) ([]*genai.Content, *genai.GenerateContentConfig) {
	t.Helper()
	signature, err := base64.StdEncoding.DecodeString(geminitest.Sign("clock"))
	if err != nil {
		t.Fatal(err)
	}
	dot := &genai.Blob{MIMEType: "image/png", Data: []byte(picture)}
	results := []*genai.Part{
		genai.NewPartFromFunctionResponse("clock", map[string]any{"output": "noon"}),
		genai.NewPartFromFunctionResponse("clock", map[string]any{"error": "no such zone"}),
	}
	results[0].FunctionResponse.ID, results[1].FunctionResponse.ID = "r1", "r2"
	results[0].FunctionResponse.Parts = []*genai.FunctionResponsePart{genai.NewFunctionResponsePartFromBytes(dot.Data, dot.MIMEType)}
	calls := []*genai.Part{
		{Text: "I look."},
		{FunctionCall: &genai.FunctionCall{ID: "r1", Name: "clock", Args: map[string]any{"zone": "UTC"}}, ThoughtSignature: signature},
		{FunctionCall: &genai.FunctionCall{ID: "r2", Name: "clock", Args: map[string]any{"zone": "?"}}},
	}
	contents := []*genai.Content{
		genai.NewContentFromParts([]*genai.Part{{Text: "What time is it here?"}, {InlineData: dot}}, genai.RoleUser),
		genai.NewContentFromParts(calls, genai.RoleModel),
		genai.NewContentFromParts(results, genai.RoleUser),
		genai.NewContentFromText("Thanks.", genai.RoleUser),
	}
	return contents, &genai.GenerateContentConfig{
		SystemInstruction: &genai.Content{Parts: []*genai.Part{{Text: "Be terse."}}},
		MaxOutputTokens:   500,
		ThinkingConfig:    &genai.ThinkingConfig{ThinkingLevel: genai.ThinkingLevelLow, IncludeThoughts: true},
		Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{
			Name: "clock", Description: "Tells the time.", ParametersJsonSchema: json.RawMessage(schema),
		}}}},
	}
}
