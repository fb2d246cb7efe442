package ollama_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/model/provider/ollama"
	"chela/internal/model/provider/providertest"
)

var all = []string{"completion", "tools", "vision", "thinking"}

func TestAnswers(t *testing.T) {
	t.Parallel()
	usage := chela.TokenUsage{Input: 9, Output: 7}
	call := func(ref, args string) chela.CallSpec {
		return chela.CallSpec{Ref: ref, Tool: "t", Args: json.RawMessage(args)}
	}
	tests := []struct {
		name string
		body string
		want chela.Finish
	}{
		{"calls without ids", `{"message":{"tool_calls":[{"function":{"name":"t","arguments":{"a":1}}},{"function":{"name":"t","arguments":{}}}]}}` + "\n" + over, chela.Finish{
			Stop: chela.StopCalls, Calls: []chela.CallSpec{call("call_0", `{"a":1}`), call("call_1", `{}`)},
		}},
		{"arguments in a string", `{"message":{"tool_calls":[{"id":"x","function":{"name":"t","arguments":"{\"a\":1}"}}]}}` + "\n" + over, chela.Finish{
			Stop: chela.StopCalls, Calls: []chela.CallSpec{call("x", `{"a":1}`)},
		}},
		{"length", strings.Replace(over, "stop", "length", 1), chela.Finish{Stop: chela.StopLength}},
		{"model that was only loaded", strings.Replace(over, "stop", "load", 1), chela.Finish{Stop: chela.StopEnd}},
		{"last piece says something", `{"message":{"content":"a"}}` + "\n\n" + strings.Replace(over, `"content":""`, `"content":"b"`, 1), chela.Finish{Text: "ab", Stop: chela.StopEnd}},
		{"no newline at the end", strings.TrimSpace(over), chela.Finish{Stop: chela.StopEnd}},
		{"thinking", `{"message":{"thinking":"a","content":""}}` + "\n" + over, chela.Finish{Stop: chela.StopEnd, Thinking: []chela.Thinking{{Text: "a", Provider: "ollama"}}}},
		{"what follows the end", over + "{", chela.Finish{Stop: chela.StopEnd}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := providertest.Ask(t, reach(t, talking("llama", 8192, all, tt.body), ollama.Config{}), hello())
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Model, tt.want.Usage = "m:1", usage
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestBadAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		body  string
		plain bool
		want  chela.Kind
		cut   bool
	}{
		{"half a line", `{"message":{"content":"a"}}` + "\n" + `{"mess`, false, chela.Unavailable, true},
		{"list", "[]\n", false, chela.Unavailable, false},
		{"trouble in a line", `{"error":"an error was encountered"}` + "\n", false, chela.Unavailable, false},
		{"half a message", `{"mess`, true, chela.Unavailable, false},
		{"not done", `{"message":{"content":"a"}}`, true, chela.Unavailable, false},
		{"trouble in one piece", `{"error":"an error was encountered"}`, true, chela.Unavailable, false},
		{"model without tools", `400 {"error":"registry.ollama.ai/library/m:latest does not support tools"}`, false, chela.Unsupported, false},
		{"model that does not talk", `400 {"error":"\"m\" does not support chat"}`, false, chela.Unsupported, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			req := hello()
			req.Plain = tt.plain
			_, err := providertest.Ask(t, reach(t, talking("llama", 8192, all, tt.body), ollama.Config{}), req)
			pe, ok := errors.AsType[*chela.ProviderError](err)
			if !ok || pe.Kind != tt.want || pe.Cut != tt.cut {
				t.Errorf("got %+v, want kind %q, cut %v", pe, tt.want, tt.cut)
			}
		})
	}
}

// TestThinking has one model for each way to think.
func TestThinking(t *testing.T) {
	t.Parallel()
	tests := []struct {
		family string
		able   []string
		level  chela.ThinkingLevel
		want   string // think as sent
	}{
		{"qwen3", all, "", ""},
		{"qwen3", all, chela.ThinkingOff, "false"},
		{"qwen3", all, chela.ThinkingMinimal, "true"},
		{"qwen3", all, chela.ThinkingXHigh, "true"},
		{"gptoss", all, "", ""},
		{"gptoss", all, chela.ThinkingOff, `"low"`},
		{"gptoss", all, chela.ThinkingMinimal, `"low"`},
		{"gptoss", all, chela.ThinkingLow, `"low"`},
		{"gpt-oss", all, chela.ThinkingMedium, `"medium"`},
		{"gptoss", all, chela.ThinkingHigh, `"high"`},
		{"gptoss", all, chela.ThinkingXHigh, `"high"`},
		{"llama", []string{"completion", "tools"}, chela.ThinkingHigh, ""},
		{"llama", nil, chela.ThinkingOff, ""},
	}
	for _, tt := range tests {
		t.Run(tt.family+" "+string(tt.level), func(t *testing.T) {
			t.Parallel()
			c := talking(tt.family, 8192, tt.able, over)
			req := hello()
			req.Thinking = tt.level
			if _, err := providertest.Ask(t, reach(t, c, ollama.Config{}), req); err != nil {
				t.Fatal(err)
			}
			var sent struct{ Think json.RawMessage }
			if err := json.Unmarshal([]byte(c.sent[0]), &sent); err != nil || string(sent.Think) != tt.want {
				t.Errorf("sent %s (%v), want %s", sent.Think, err, tt.want)
			}
		})
	}
}

// TestTranscript looks at what only this protocol has: thinking without a
// signature, calls by id and name, and images beside the text.
func TestTranscript(t *testing.T) {
	t.Parallel()
	req := func() *chela.Request {
		image := []chela.Attachment{{Name: "a.png", MediaType: "image/png", SHA256: "x", Size: 1}}
		return &chela.Request{
			Model: "m", System: "s",
			Messages: []chela.Message{
				{Role: chela.RoleUser, Text: "q", Attachments: image},
				{
					Role: chela.RoleAssistant, Text: "t", Calls: []chela.CallSpec{{ID: "call_1", Ref: "r1", Tool: "look", Args: json.RawMessage(`{}`)}},
					Thinking: []chela.Thinking{{Text: "hm", Provider: "ollama"}, {Text: "foreign", Provider: "openai"}},
				},
				{Role: chela.RoleTool, Call: "call_1", Ref: "r1", Tool: "look", Text: "seen", Attachments: image},
				{Role: chela.RoleAssistant, Text: "a"},
			},
			Load: func(context.Context, chela.Attachment) ([]byte, error) { return []byte("PNG"), nil },
		}
	}
	call := `,"thinking":"hm","tool_calls":[{"id":"r1","function":{"name":"look","arguments":{}}}]},`
	tests := []struct {
		name string
		able []string
		want string
	}{
		{"sees", all, `{"role":"user","content":"q","images":["UE5H"]},{"role":"assistant","content":"t"` + call +
			`{"role":"tool","content":"seen","tool_name":"look","tool_call_id":"r1"},` +
			`{"role":"user","content":"Image in the result of look (r1):","images":["UE5H"]},{"role":"assistant","content":"a"},{"role":"user","content":"(go on)"}]`},
		{"sees nothing", []string{"completion"}, `{"role":"user","content":"q\n<attachment type=\"image/png\"/> (an image, which this model cannot see)"},` +
			`{"role":"assistant","content":"t"` + call + `{"role":"tool","content":"seen\n<attachment type=\"image/png\"/> (an image, which this model cannot see)",` +
			`"tool_name":"look","tool_call_id":"r1"},{"role":"assistant","content":"a"},{"role":"user","content":"(go on)"}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := talking("llama", 8192, tt.able, over)
			if _, err := providertest.Ask(t, reach(t, c, ollama.Config{}), req()); err != nil {
				t.Fatal(err)
			}
			if want := `"messages":[{"role":"system","content":"s"},` + tt.want; !strings.Contains(c.sent[0], want) {
				t.Errorf("sent %s\nwant %s", c.sent[0], want)
			}
		})
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]chela.Kind{"": "", "http://127.0.0.1:1/": "", "localhost": chela.Invalid, "http://u:p@h": chela.Invalid} {
		if _, err := ollama.New(ollama.Config{BaseURL: address}); chela.KindOf(err) != want {
			t.Errorf("%q: got %v, want kind %q", address, err, want)
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	c := talking("llama", 8192, all, over)
	if _, err := providertest.Ask(t, reach(t, c, ollama.Config{APIKey: "key-12345"}), hello()); err != nil {
		t.Fatal(err)
	}
	if c.header.Get("Authorization") != "Bearer key-12345" {
		t.Errorf("sent %v", c.header)
	}
}

// TestUnseen tells of the bytes of calls, and of reasoning that nobody can read.
func TestUnseen(t *testing.T) {
	t.Parallel()
	body := `{"message":{"thinking":"a","content":"b","tool_calls":[{"function":{"name":"12","arguments":{"a":1}}}]}}` + "\n" + over
	providertest.CheckUnseen(t, reach(t, talking("llama", 8192, all, body), ollama.Config{}), hello(), 9)
}
