package gemini_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/model/provider/gemini"
	"chela/internal/model/provider/gemini/geminitest"
	"chela/internal/model/provider/providertest"
)

// TestContract runs the contract for both ways to think: within a budget, and
// by level, where calls are signed too.
func TestContract(t *testing.T) {
	for _, model := range []string{"gemini-2.5-flash", "gemini-3.8-flash"} {
		t.Run(model, func(t *testing.T) {
			providertest.Run(t, providertest.Harness{
				Wire: true, Model: model, New: serve,
				Skip: map[string]string{
					"usage totals":     "the server does not count what it writes to its cache; TestUsage has the rest",
					"broken arguments": "the server sends arguments as an object; a call that is none is TestCallsThatCannotBeRead",
					"length stop":      "the server sends no call that was cut off; the rest is in TestStops",
				},
			})
		})
	}
}

func serve(t *testing.T, c providertest.Case) chela.Provider {
	srv := geminitest.Serve(t, c)
	p, err := gemini.New(gemini.Config{
		Name: "fake", BaseURL: srv.URL, APIKey: providertest.Key, HTTPClient: srv.Client(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSignaturesGoBack has a model call two tools, looks at what is kept, and
// goes on with the same model and with others.
func TestSignaturesGoBack(t *testing.T) {
	t.Parallel()
	two := []providertest.Call{{Ref: "r1", Tool: "clock", Args: `{}`}, {Ref: "r2", Tool: "file_read", Args: `{}`}}
	c := providertest.NewCase("signatures go back",
		providertest.Answer{Thinking: "Both.", Text: []string{"Wait."}, Calls: two},
		providertest.Answer{Text: []string{"Half ", "done."}}, providertest.Answer{Text: []string{"ok"}})
	p := serve(t, c)
	req := &chela.Request{Model: "gemini-3.8-flash", Thinking: chela.ThinkingLow, Messages: []chela.Message{{Role: chela.RoleUser, Text: "q"}}}
	first, err := providertest.Ask(t, p, req)
	if err != nil {
		t.Fatal(err)
	}
	want := []chela.Thinking{
		{Text: "Both.", Provider: "gemini"},
		{Signature: "gemini-3.8-flash 0 " + geminitest.Sign("clock"), Provider: "gemini"},
	}
	if diff := cmp.Diff(want, first.Thinking); diff != "" {
		t.Errorf("thinking (-want +got)\n%s", diff)
	}
	said := chela.Message{Role: chela.RoleAssistant, Text: first.Text, Thinking: first.Thinking, Calls: first.Calls}
	req.Messages = append(req.Messages, said)
	for i, call := range said.Calls {
		call.ID = chela.CallID([]string{"call_a", "call_b"}[i])
		said.Calls[i] = call
		req.Messages = append(req.Messages, chela.Message{Role: chela.RoleTool, Call: call.ID, Ref: call.Ref, Tool: call.Tool, Text: "no", Failed: i == 1})
	}
	second, err := providertest.Ask(t, p, req)
	if err != nil {
		t.Fatal(err)
	}
	req.Messages = append(req.Messages, chela.Message{Role: chela.RoleAssistant, Text: second.Text, Thinking: second.Thinking}, chela.Message{Role: chela.RoleUser, Text: "go on"})
	for _, model := range []string{"gemini-3.8-flash", "gemini-4-argon", "gemini-2.5-pro"} {
		req.Model = model
		if _, err := providertest.Ask(t, p, req); err != nil {
			t.Fatal(err)
		}
	}
	texts := []string{"q", "Wait.", "no", "no", "Half done.", "go on"}
	got := c.Received()[1:]
	all := []providertest.ReceivedRequest{
		{Texts: texts[:4], Failed: 1, Thinking: []string{"clock"}},
		{Texts: texts, Failed: 1, Thinking: []string{"clock", "Half done."}},
		{Texts: texts, Failed: 1},
		{Texts: texts, Failed: 1},
	}
	if diff := cmp.Diff(all, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestSignedThought has a thought that is signed itself, which goes back.
func TestSignedThought(t *testing.T) {
	t.Parallel()
	c := providertest.Stream(`{"candidates":[{"content":{"parts":[{"text":"a","thought":true},{"text":"b","thought":true,"thoughtSignature":"s1"},{"text":"c","thought":true}]},"finishReason":"STOP"}]}`)
	p := reach(t, c)
	got, err := providertest.Ask(t, p, hello())
	if err != nil {
		t.Fatal(err)
	}
	want := []chela.Thinking{
		{Text: "ab", Signature: "gemini-2.5-flash thought s1", Provider: "gemini"},
		{Text: "c", Provider: "gemini"},
	}
	if diff := cmp.Diff(want, got.Thinking); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	req := hello()
	req.Messages = append(req.Messages, chela.Message{Role: chela.RoleAssistant, Text: "x", Thinking: append(got.Thinking, chela.Thinking{Text: "d", Signature: "gemini-2.5-flash thought s2", Provider: "else"})})
	if _, err := providertest.Ask(t, p, req); err != nil {
		t.Fatal(err)
	}
	var sent struct {
		Contents []struct {
			Parts []json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(c.Sent), &sent); err != nil {
		t.Fatal(err)
	}
	if got := string(sent.Contents[1].Parts[0]); len(sent.Contents[1].Parts) != 2 || got != `{"thought":true,"text":"ab","thoughtSignature":"s1"}` {
		t.Errorf("sent %s", sent.Contents[1].Parts)
	}
}

// TestUserHasFirstAndLastWord sends what a compaction may leave: a conversation
// that begins and ends with the model. The server refuses both.
func TestUserHasFirstAndLastWord(t *testing.T) {
	t.Parallel()
	c := providertest.NewCase("first and last word", providertest.Answer{Text: []string{"ok"}})
	req := &chela.Request{Model: "m", Messages: []chela.Message{{Role: chela.RoleAssistant, Text: "a"}}}
	if _, err := providertest.Ask(t, serve(t, c), req); err != nil {
		t.Fatal(err)
	}
	want := []string{"(the conversation goes on)", "a", "(go on)"}
	if diff := cmp.Diff(want, c.Received()[0].Texts); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
