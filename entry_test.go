package chela_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
)

// goldenBodies returns a body of each kind with every field set.
func goldenBodies() []chela.Body {
	picture := []chela.Attachment{{Name: "a.png", MediaType: "image/png", SHA256: "00ff", Size: 3}}
	offers := []chela.ToolSpec{{Name: "look", Description: "looks <here> & there", Input: json.RawMessage(`{"type":"object"}`)}}
	outside := chela.Provenance{Integrity: chela.IntegrityOutside, Source: "https://x.example"}
	return []chela.Body{
		chela.UserBody{
			Text: "what is <b> & \"c\"?\u2028", Attachments: picture, From: "ann", Inbox: "in_1", Command: chela.CommandCompact, Offers: offers, Provenance: outside,
		},
		chela.AnswerBody{
			Text: "let me look", Attachments: picture, Thinking: []chela.Thinking{{Text: "hm", Signature: "s", Redacted: "r", Provider: "p"}},
			Calls: []chela.CallSpec{{ID: "call_1", Ref: "t1", Tool: "look", Args: json.RawMessage(`{"a":"<"}`)}, {ID: "call_2", Ref: "t2", Tool: "look", Raw: "{not"}},
			Model: "p/m", Stop: chela.StopCalls, Usage: &chela.TokenUsage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 5}, Interrupted: true,
			Provenance: outside, Mark: chela.Mark{Hidden: true, Note: chela.NoteFlush}, Ratio: 1.25,
		},
		chela.ResultBody{
			Text: "42", Attachments: picture, Inbox: "in_2", Offers: offers, Call: "call_1", Ref: "t1", Tool: "look", Status: chela.CallDone, Whole: &picture[0],
			Provenance: outside, Mark: chela.Mark{Hidden: true, Note: chela.NoteFlush},
		},
		chela.NoteBody{Text: "be quick", Attachments: picture, Provenance: outside, Mark: chela.Mark{Hidden: true, Note: chela.NoteLoop}},
		chela.CompactionBody{
			Text: "they talked", Provenance: outside, FirstKept: "ent_3", Pinned: []chela.EntryID{"ent_1"}, Strategy: chela.StrategySummarize,
			TokensBefore: 100, TokensAfter: 10, Ratio: 1.5,
		},
		chela.BranchSummaryBody{Text: "a branch", Provenance: outside},
		chela.CustomBody{Text: `{"name":"todo","data":{"n":1}}`, Provenance: outside},
	}
}

// TestEntriesAsJSON compares entries with testdata/entries.golden, in which
// version 0.1 wrote one of each kind, full and empty: as JSON, as JSON without
// HTML escapes, and the body alone as the store keeps it. Both directions must
// work, as journals of that version are read.
func TestEntriesAsJSON(t *testing.T) {
	t.Parallel()
	golden, err := os.ReadFile("testdata/entries.golden")
	if err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	plain := json.NewEncoder(&written)
	plain.SetEscapeHTML(false)
	var want []chela.Entry
	for i, full := range goldenBodies() {
		for _, b := range []chela.Body{full, chela.Bodies()[i]} {
			e := chela.Entry{ID: "ent_9", Thread: "thr_1", Turn: "turn_1", Seq: 9, Body: b, Tokens: 7, CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)}
			if !reflect.ValueOf(b).IsZero() {
				e.Parent = "ent_8"
			}
			raw, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			written.Write(append(raw, '\n'))
			for _, v := range []any{e, b} {
				if err := plain.Encode(v); err != nil {
					t.Fatal(err)
				}
			}
			want = append(want, e)
		}
	}
	if diff := cmp.Diff(string(golden), written.String()); diff != "" {
		t.Errorf("written (-golden +got):\n%s", diff)
	}
	lines := bytes.Split(bytes.TrimSpace(golden), []byte("\n"))
	for i, e := range want {
		var read chela.Entry
		if err := json.Unmarshal(lines[3*i+1], &read); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e, read); diff != "" {
			t.Errorf("entry (-want +got):\n%s", diff)
		}
		got, err := chela.DecodeBody(e.Kind(), lines[3*i+2])
		if diff := cmp.Diff(e.Body, got); diff != "" || err != nil {
			t.Errorf("body, error %v (-want +got):\n%s", err, diff)
		}
	}
}

func TestEntryOfUnknownKind(t *testing.T) {
	t.Parallel()
	var e chela.Entry
	err := json.Unmarshal([]byte(`{"id":"ent_1","kind":"dream","body":{"text":"x"}}`), &e)
	if want := "the kind of an entry is unknown: dream"; chela.KindOf(err) != chela.Internal || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
	if _, err := chela.DecodeBody("", []byte(`{}`)); chela.KindOf(err) != chela.Internal {
		t.Errorf("without a kind: error %v", err)
	}
}

func TestEntryAccessors(t *testing.T) {
	t.Parallel()
	for _, b := range goldenBodies() {
		e := chela.Entry{Body: b}
		v := reflect.ValueOf(b)
		if got := e.Text(); got != v.FieldByName("Text").String() {
			t.Errorf("%s: text %q", e.Kind(), got)
		}
		if diff := cmp.Diff(v.FieldByName("Provenance").Interface(), any(e.Provenance())); diff != "" {
			t.Errorf("%s: provenance (-want +got):\n%s", e.Kind(), diff)
		}
		if f := v.FieldByName("Attachments"); f.IsValid() != (len(e.Attachments()) > 0) {
			t.Errorf("%s: attachments %v", e.Kind(), e.Attachments())
		}
		if f := v.FieldByName("Mark"); f.IsValid() != e.Mark().Hidden {
			t.Errorf("%s: mark %v", e.Kind(), e.Mark())
		}
		if f := v.FieldByName("Inbox"); f.IsValid() != (e.Inbox() != "") {
			t.Errorf("%s: inbox %v", e.Kind(), e.Inbox())
		}
		var bodies []chela.Body
		for _, one := range []chela.Body{e.User(), e.Answer(), e.Result(), e.Compaction()} {
			if !reflect.ValueOf(one).IsZero() {
				bodies = append(bodies, one)
			}
		}
		if len(bodies) > 1 || len(bodies) == 1 && reflect.TypeOf(bodies[0]) != v.Type() {
			t.Errorf("%s: accessors return %+v", e.Kind(), bodies)
		}
	}
	var none chela.Entry
	if none.Kind() != "" || none.Text() != "" || none.Answer().Model != "" {
		t.Errorf("an entry without a body: %+v", none)
	}
}
