package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chela"
	"chela/internal/model/provider"
)

// TestPlay plays what was recorded: the pieces as they came, and how it ended.
func TestPlay(t *testing.T) {
	t.Parallel()
	whole := chela.Finish{
		Thinking: []chela.Thinking{{Text: "hm", Signature: "s", Provider: "anthropic"}}, Model: "m-2026", Stop: chela.StopCalls,
		Calls: []chela.CallSpec{{Ref: "r1", Tool: "clock", Args: json.RawMessage(`{"b":1,"a":[2]}`)}, {Ref: "r2", Tool: "x", Raw: "{"}},
		Usage: chela.TokenUsage{Input: 3, Output: 4},
	}
	played := whole
	played.Text, played.Served = "Hello.", "p/m"
	played.Calls = []chela.CallSpec{{Ref: "r1", Tool: "clock", Args: json.RawMessage(`{"a":[2],"b":1}`)}, {Ref: "r2", Tool: "x", Raw: "{"}}
	answered := answerOf(whole, "Hel", "lo.")
	answered.chunks = append([]chela.Chunk{{Thinking: "h"}, {Thinking: "m"}, {Text: "Ha"}, {Unseen: 3}, {Anew: true}}, answered.chunks...)
	want := answered
	want.chunks = append(append([]chela.Chunk{}, answered.chunks[:7]...), chela.Chunk{Finish: &played})
	refused := &chela.ProviderError{
		Provider: "p", Kind: chela.Exhausted, Status: 429, Retryable: true, After: 1500 * time.Millisecond, Unpaid: true, Msg: "slow down",
	}
	limit := &chela.Error{Kind: chela.Exhausted, Msg: "no money left", Hint: "earn some", Limit: chela.LimitDay}

	dir := recorded(t, "p/m", []*chela.Request{ask("one"), ask("two"), ask("three"), ask("four")},
		answered, said{err: refused}, said{chunks: []chela.Chunk{{Text: "x"}}, err: refused}, said{err: limit})
	p := open(t, dir, "offline/rules")
	checkSame(t, want, drainRecording(p.Stream(t.Context(), ask("one"))))
	checkSame(t, said{err: refused}, drainRecording(p.Stream(t.Context(), ask("two"))))
	checkSame(t, said{chunks: []chela.Chunk{{Text: "x"}}, err: refused}, drainRecording(p.Stream(t.Context(), ask("three"))))
	got := drainRecording(p.Stream(t.Context(), ask("four")))
	if e, ok := errors.AsType[*chela.Error](got.err); !ok || e.Limit != chela.LimitDay || e.Hint != "earn some" {
		t.Errorf("got %v", got.err)
	}
	played.Served = "" // the model that was asked is the one that was recorded
	checkSame(t, want, drainRecording(open(t, dir, "p/m").Stream(t.Context(), ask("one"))))
	if files := filesOf(t, dir); len(files) != 4 {
		t.Errorf("%d files", len(files))
	}
}

// TestPlayInOrder plays what was recorded several times one after the other, and
// the last of it from then on.
func TestPlayInOrder(t *testing.T) {
	t.Parallel()
	same := []*chela.Request{ask("hi"), ask("hi"), ask("hi")}
	dir := recorded(t, "p/m", same, answerOf(chela.Finish{}, "one"), said{err: chela.E(chela.Denied, "two")}, answerOf(chela.Finish{}, "three"))
	p := open(t, dir, "p/m")
	for _, want := range []string{"one", "two", "three", "three"} {
		got := drainRecording(p.Stream(t.Context(), ask("hi")))
		if got.err == nil && got.chunks[0].Text != want || got.err != nil && got.err.Error() != want {
			t.Errorf("got %+v, want %s", got, want)
		}
	}
}

// conversation is a request after a call, with the names that one run gave.
func conversation(call, ref string, args string) *chela.Request {
	req := ask("what time is it")
	req.Tools = []chela.ToolSpec{{Name: "clock", Input: json.RawMessage(`{"type": "object"}`)}}
	req.Messages = append(req.Messages,
		chela.Message{Role: chela.RoleAssistant, Calls: []chela.CallSpec{{ID: chela.CallID(call), Ref: ref, Tool: "clock", Args: json.RawMessage(args)}}},
		chela.Message{Role: chela.RoleTool, Call: chela.CallID(call), Ref: ref, Tool: "clock", Text: "noon"})
	return req
}

// TestSameRequest knows a request again though calls have other names, another
// model is asked, and JSON is written differently.
func TestSameRequest(t *testing.T) {
	t.Parallel()
	dir := recorded(t, "p/m", []*chela.Request{conversation("call_1", "call_1", `{"a":1,"b":2}`)}, answerOf(chela.Finish{}, "noon"))
	again := conversation("call_2", "toolu_9", `{"b": 2, "a": 1}`)
	again.Model, again.Session, again.Hasty, again.Plain = "other", "agent:main:main", true, true
	if got := drainRecording(open(t, dir, "p/m").Stream(t.Context(), again)); got.err != nil {
		t.Error(got.err)
	}
}

// TestOtherRequest says what is different in the nearest request.
func TestOtherRequest(t *testing.T) {
	t.Parallel()
	dir := recorded(t, "p/m", []*chela.Request{ask("something else"), conversation("c", "c", `{"a":1}`)},
		answerOf(chela.Finish{}, "noon"), answerOf(chela.Finish{}, "noon"))
	for _, tt := range []struct {
		want   string
		change func(*chela.Request)
	}{
		{`message 3 (tool): "noon" recorded, "midnight" asked`, func(r *chela.Request) { r.Messages[2].Text = "midnight" }},
		{`message 2 (assistant): "…`, func(r *chela.Request) { r.Messages[1].Calls[0].Args = json.RawMessage(`{"a":2}`) }},
		{`number of messages: 3 recorded, 2 asked`, func(r *chela.Request) { r.Messages = r.Messages[:2] }},
		{`system text: "Be kind." recorded, "Be kind!" asked`, func(r *chela.Request) { r.System = "Be kind!" }},
		{`thinking level: "" recorded, "low" asked`, func(r *chela.Request) { r.Thinking = chela.ThinkingLow }},
		{`limit of the answer: 0 recorded, 9 asked`, func(r *chela.Request) { r.MaxTokens = 9 }},
		{`list of tools: "clock `, func(r *chela.Request) { r.Tools[0].Name = "watch" }},
		{`message 1 (user): `, func(r *chela.Request) { r.Messages[0].Attachments = []chela.Attachment{{Name: "a", SHA256: "1"}} }},
	} {
		req := conversation("c", "c", `{"a":1}`)
		tt.change(req)
		got := messageOf(t, drainRecording(open(t, dir, "p/m").Stream(t.Context(), req)).err, chela.Invalid)
		if !strings.Contains(got, "with another "+tt.want) || strings.Contains(got, dir) {
			t.Errorf("got %q\nwant …%q", got, tt.want)
		}
	}
}

// TestCancelled records no request that did not come to its end.
func TestCancelled(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tape")
	p := recorder(t, dir).Record(&fakeAnswers{answers: []said{answerOf(chela.Finish{}, "a", "b"), {err: context.Canceled}}}, "p/m")
	for _, err := range p.Stream(t.Context(), ask("hi")) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := drainRecording(p.Stream(ctx, ask("hi"))); !errors.Is(got.err, context.Canceled) {
		t.Error(got.err)
	}
	if files := filesOf(t, dir); len(files) != 0 {
		t.Errorf("recorded %v", files)
	}
}

// TestRecordPassesOn passes everything on, though nothing can be written.
func TestRecordPassesOn(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tape")
	p := recorder(t, dir).Record(&fakeAnswers{answers: []said{answerOf(chela.Finish{}, "a")}}, "p/m")
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	checkSame(t, answerOf(chela.Finish{}, "a"), drainRecording(p.Stream(t.Context(), ask("hi"))))
}

func TestFolders(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := provider.NewRecorder(file, provider.RecorderConfig{}); !strings.Contains(messageOf(t, err, chela.Unavailable), file) {
		t.Error(err)
	}
	empty := t.TempDir()
	for _, dir := range []string{empty, filepath.Join(empty, "none")} {
		_, err := provider.OpenRecording(dir, provider.NewScrubber())
		if !strings.Contains(messageOf(t, err, chela.NotFound), "CHELA_RECORD="+dir) {
			t.Error(err)
		}
	}
	for i, text := range []string{`{`, `{}`, `{"finish":{},"failure":{}}`, `[]`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "1.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := provider.OpenRecording(dir, provider.NewScrubber())
		if !strings.Contains(messageOf(t, err, chela.Invalid), "1.json is not part of a recording") {
			t.Errorf("%d: %v", i, err)
		}
	}
	dir := recorded(t, "p/m", []*chela.Request{ask("hi")}, answerOf(chela.Finish{}, "a"))
	if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v", st.Mode(), err)
	}
}
