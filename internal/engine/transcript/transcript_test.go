package transcript_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/engine/transcript"
)

// foreign is a file as other programs write them: with ids of their own, the
// message in a field, and lines of kinds that chela does not know.
const foreign = `{"type":"session","version":3,"id":"5f2","timestamp":"2026-01-22T10:00:00.000Z","cwd":"/work"}
{"type":"model_change","id":"a0","parentId":null,"timestamp":"2026-01-22T10:00:01.000Z","provider":"anthropic","modelId":"m"}
{"type":"message","id":"a1","parentId":"a0","timestamp":"2026-01-22T10:00:02.000Z","message":{"role":"user","content":"look","timestamp":1769076002000}}

{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-01-22T10:00:03.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"s"},{"type":"text","text":"I look."},{"type":"toolCall","id":"t1","name":"read","arguments":{"path": "x"}},{"type":"toolCall","id":"t2","name":"read","arguments":{}}],"provider":"anthropic","model":"m","usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"totalTokens":10,"cost":{"total":0.1}},"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"t1","toolName":"read","content":[{"type":"text","text":"one"},{"type":"image","data":"aGk=","mimeType":"image/png"}],"isError":true}}
{"type":"message","id":"a4","parentId":"a3","role":"user","content":[{"type":"text","text":"stop"}],"timestamp":1769076005000}
{"type":"custom_message","id":"a5","parentId":"a4","role":"user","content":"a note","hidden":true}
{"type":"custom","id":"a6","parentId":"a5","name":"todo","data":{"n":1}}
{"type":"branch_summary","id":"a7","parentId":"a6","summary":"went there"}
{"type":"compaction","id":"a8","parentId":"a7","summary":"all","firstKeptEntryId":"a4","tokensBefore":9,"details":{}}
`

func TestReadForeign(t *testing.T) {
	t.Parallel()
	got, err := transcript.Read(strings.NewReader(foreign))
	if err != nil {
		t.Fatal(err)
	}
	again, err := transcript.Read(strings.NewReader(foreign))
	if diff := cmp.Diff(got, again); diff != "" || err != nil {
		t.Errorf("read again it differs, error %v (-want +got):\n%s", err, diff)
	}
	e := got.Entries
	kinds := make([]chela.EntryKind, len(e))
	for i := range e {
		kinds[i] = e[i].Kind()
		if i > 0 && e[i].Parent != e[i-1].ID {
			t.Errorf("entry %d hangs under %s, want %s", i, e[i].Parent, e[i-1].ID)
		}
	}
	want := []chela.EntryKind{
		"custom", "user", "assistant", "tool_result", "tool_result", "user", "note", "custom", "branch_summary", "compaction",
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Fatalf("kinds (-want +got):\n%s", diff)
	}
	calls := e[2].Answer().Calls
	assistant := chela.AnswerBody{
		Text: "I look.", Thinking: []chela.Thinking{{Text: "hm", Signature: "s"}}, Calls: calls, Model: "anthropic/m", Stop: chela.StopCalls,
		Usage: &chela.TokenUsage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4},
	}
	result := chela.ResultBody{
		Text: "one", Call: calls[0].ID, Ref: "t1", Tool: "read", Status: chela.CallFailed, Attachments: []chela.Attachment{got.Attached[0].Attachment},
	}
	skipped := chela.ResultBody{Text: e[4].Text(), Call: calls[1].ID, Ref: "t2", Tool: "read", Status: chela.CallSkipped}
	for i, body := range map[int]chela.Body{2: assistant, 3: result, 4: skipped, 6: chela.NoteBody{Text: "a note", Mark: chela.Mark{Hidden: true}}, 7: chela.CustomBody{Text: `{"name":"todo","data":{"n":1}}`}} {
		if diff := cmp.Diff(body, e[i].Body); diff != "" {
			t.Errorf("entry %d (-want +got):\n%s", i, diff)
		}
	}
	if e[9].Compaction().FirstKept != e[5].ID || calls[0].ID == calls[1].ID || !strings.HasPrefix(string(calls[0].ID), "call_") || string(got.Attached[0].Content) != "hi" {
		t.Errorf("kept %s, calls %+v, attached %+v", e[9].Compaction().FirstKept, calls, got.Attached)
	}
	turns := []chela.TurnID{}
	for _, turn := range got.Turns {
		turns = append(turns, turn.ID)
	}
	if len(turns) != 3 || e[1].Turn != turns[1] || e[4].Turn != turns[1] || e[5].Turn != turns[2] || e[9].Turn != turns[2] || got.Turns[2].Base != e[4].ID {
		t.Errorf("turns %+v", got.Turns)
	}
	if got.Head != e[9].ID || got.Session != "" || !e[1].CreatedAt.Equal(time.Date(2026, 1, 22, 10, 0, 2, 0, time.UTC)) {
		t.Errorf("head %s, session %s, at %s", got.Head, got.Session, e[1].CreatedAt)
	}
}

// TestTurnThatHadNotEnded reads a thread that was written down while a turn
// waited for its call.
func TestTurnThatHadNotEnded(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	written := transcript.Transcript{
		Session: "agent:main:main", Thread: "thr_1", CreatedAt: at, Head: "ent_2",
		Turns: []chela.Turn{{ID: "turn_1", State: chela.TurnAwaiting, Stop: true, CreatedAt: at}},
		Entries: []chela.Entry{
			{ID: "ent_1", Turn: "turn_1", Body: chela.UserBody{Text: "go"}, CreatedAt: at},
			{ID: "ent_2", Parent: "ent_1", Turn: "turn_1", CreatedAt: at, Body: chela.AnswerBody{Calls: []chela.CallSpec{{ID: "call_1", Tool: "x"}}}},
		},
	}
	var file bytes.Buffer
	if err := transcript.Write(t.Context(), &file, written, nil); err != nil {
		t.Fatal(err)
	}
	got, err := transcript.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	last := got.Entries[len(got.Entries)-1]
	if len(got.Entries) != 3 || got.Head != last.ID || last.Result().Status != chela.CallSkipped || last.Result().Call != "call_1" || last.Turn != "turn_1" {
		t.Errorf("head %s, entries %+v", got.Head, got.Entries)
	}
	turn := got.Turns[0]
	if len(got.Turns) != 1 || turn.State != chela.TurnInterrupted || turn.Failure == nil || turn.Stop || !turn.FinishedAt.Equal(at) {
		t.Errorf("turns %+v", got.Turns)
	}
}
