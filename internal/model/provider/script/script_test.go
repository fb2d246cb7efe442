package script_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"chela"
	"chela/internal/model/provider/script"
)

func user(text string) chela.Message {
	return chela.Message{Role: chela.RoleUser, Text: text}
}

func assistant(text string, calls ...chela.CallSpec) chela.Message {
	return chela.Message{Role: chela.RoleAssistant, Text: text, Calls: calls}
}

func result(text string) chela.Message {
	return chela.Message{Role: chela.RoleTool, Text: text}
}

func failed(text string) chela.Message {
	return chela.Message{Role: chela.RoleTool, Text: text, Failed: true}
}

func ask(messages ...chela.Message) *chela.Request {
	return &chela.Request{Model: "m", Messages: messages}
}

func parse(t *testing.T, text string) *script.Scenario {
	t.Helper()
	s, err := script.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func setup(t *testing.T, text string) *script.Provider {
	t.Helper()
	return script.New(parse(t, text), script.Config{})
}

// play reads a stream to its end and checks that it keeps the promises of the
// port: a finish or an error, once, last, and text equal to the chunks.
func play(t *testing.T, p chela.Provider, req *chela.Request) (chunks []string, f *chela.Finish, err error) {
	t.Helper()
	var text string
	for c, e := range p.Stream(t.Context(), req) {
		if f != nil || err != nil {
			t.Fatal("the stream goes on after its end")
		}
		switch {
		case e != nil:
			err = e
		case c.Finish != nil:
			f = c.Finish
		case c.Thinking != "":
			chunks = append(chunks, "("+c.Thinking+")")
		case c.Unseen == 0:
			text += c.Text
			chunks = append(chunks, c.Text)
		}
	}
	if (f == nil) == (err == nil) {
		t.Fatalf("finish %v and error %v: want exactly one", f, err)
	}
	if f != nil && f.Text != text {
		t.Fatalf("finish has text %q, the chunks %q", f.Text, text)
	}
	return chunks, f, err
}

func text(t *testing.T, p chela.Provider, messages ...chela.Message) string {
	t.Helper()
	_, f, err := play(t, p, ask(messages...))
	if err != nil {
		return "error: " + err.Error()
	}
	return f.Text
}

func TestFinish(t *testing.T) {
	t.Parallel()
	p := setup(t, `
turns:
  - steps:
      - thinking: Two things.
        text: Let me look.
        calls:
          - {tool: time, args: {operation: now, count: 2, deep: [{a: null}]}}
          - {tool: echo, ref: mine, args: {message: "you said {{user}}"}}
          - {tool: calc}
          - {tool: json, args_raw: '{"a": [1'}
          - {tool: json, args_raw: '{"a": [1]}'}
        usage: {input: 10, output: 7, cache_read: 5, cache_write: 3, reasoning: 2}
`)
	_, got, err := play(t, p, ask(user(`say "hi"`)))
	if err != nil {
		t.Fatal(err)
	}
	want := &chela.Finish{
		Text:     "Let me look.",
		Thinking: []chela.Thinking{{Text: "Two things.", Provider: "script"}},
		Calls: []chela.CallSpec{
			{Ref: "call_0_0", Tool: "time", Args: []byte(`{"count":2,"deep":[{"a":null}],"operation":"now"}`)},
			{Ref: "mine", Tool: "echo", Args: []byte(`{"message":"you said say \"hi\""}`)},
			{Ref: "call_0_2", Tool: "calc", Args: []byte(`{}`)},
			{Ref: "call_0_3", Tool: "json", Raw: `{"a": [1`},
			{Ref: "call_0_4", Tool: "json", Args: []byte(`{"a": [1]}`)},
		},
		Stop:  chela.StopCalls,
		Model: "m",
		Usage: chela.TokenUsage{Input: 10, Output: 7, CacheRead: 5, CacheWrite: 3, Reasoning: 2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("finish (-want +got)\n%s", diff)
	}
}

func TestRefsDifferBetweenSteps(t *testing.T) {
	t.Parallel()
	p := setup(t, `
past_end: repeat
turns: [{steps: [{calls: [{tool: a}, {tool: b}]}]}]
`)
	seen := map[string]bool{}
	messages := []chela.Message{user("go")}
	for range 3 {
		_, f, err := play(t, p, ask(messages...))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range f.Calls {
			if seen[c.Ref] {
				t.Errorf("ref %s twice", c.Ref)
			}
			seen[c.Ref] = true
		}
		messages = append(messages, assistant("", f.Calls...), result("1"), result("2"), user("again"))
	}
}

func TestStopAndEstimatedUsage(t *testing.T) {
	t.Parallel()
	p := setup(t, `
turns:
  - steps:
      - {text: cut off he, stop: length}
      - {text: no, stop: refusal}
      - {text: done}
`)
	for i, want := range []chela.Finish{
		{Text: "cut off he", Stop: chela.StopLength, Usage: chela.TokenUsage{Input: 2, Output: 3}},
		{Text: "no", Stop: chela.StopRefusal, Usage: chela.TokenUsage{Input: 3, Output: 1}},
		{Text: "done", Stop: chela.StopEnd, Usage: chela.TokenUsage{Input: 4, Output: 1}},
	} {
		messages := []chela.Message{user("12345678")}
		for range i {
			messages = append(messages, assistant("1234"))
		}
		_, got, err := play(t, p, ask(messages...))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&want, got, cmpopts.IgnoreFields(chela.Finish{}, "Model")); diff != "" {
			t.Errorf("step %d (-want +got)\n%s", i+1, diff)
		}
	}
}

func TestChunks(t *testing.T) {
	t.Parallel()
	const answer = "h€llo wörld 👋"
	for _, tt := range []struct {
		size  int
		plain bool
		want  []string
	}{
		{1, false, strings.Split(answer, "")},
		{4, false, []string{"h€", "llo ", "wör", "ld ", "👋"}},
		{0, false, []string{"h€llo wörld ", "👋"}},
		{1000, false, []string{answer}},
		{1, true, []string{answer}},
	} {
		t.Run(fmt.Sprintf("%d plain %t", tt.size, tt.plain), func(t *testing.T) {
			t.Parallel()
			p := setup(t, fmt.Sprintf("turns: [{steps: [{chunk_bytes: %d, thinking: hm, text: %q}]}]", tt.size, answer))
			req := ask(user("x"))
			req.Plain = tt.plain
			got, _, err := play(t, p, req)
			if err != nil {
				t.Fatal(err)
			}
			if tt.size == 1 && !tt.plain {
				tt.want = append([]string{"(h)", "(m)"}, tt.want...)
			} else {
				tt.want = append([]string{"(hm)"}, tt.want...)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("chunks (-want +got)\n%s", diff)
			}
		})
	}
}

func TestBreakEndsTheStream(t *testing.T) {
	t.Parallel()
	p := setup(t, "turns: [{steps: [{chunk_bytes: 1, text: abc}]}]")
	n := 0
	for _, err := range p.Stream(t.Context(), ask(user("x"))) {
		if err != nil {
			t.Error(err)
		}
		n++
		break
	}
	if n != 1 {
		t.Errorf("got %d chunks, want 1", n)
	}
}

func TestEndedContextComesFirst(t *testing.T) {
	t.Parallel()
	p := setup(t, "turns: [{steps: [{text: abc}]}]")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for c, err := range p.Stream(ctx, ask(user("x"))) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, %v; want a cancelled context", c, err)
		}
	}
}
