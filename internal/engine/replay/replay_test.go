package replay_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/prompt"
	"chela/internal/engine/replay"
	"chela/internal/engine/turn"
	"chela/internal/engine/turn/machine"
	"chela/internal/platform/local"
	"chela/internal/safety"
	"chela/internal/tool"
)

// opened is when the turn of these tests began.
var opened = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// record returns a turn that read a file, asked before it wrote one, and was
// told more on the way.
func record() replay.Record {
	const model = "test/model"
	args := json.RawMessage(`{"path":"a"}`)
	usage := &chela.TokenUsage{Input: 7, Output: 2}
	r := replay.Record{
		Turn: chela.Turn{
			ID: "turn_2", Session: "agent:main:main", Thread: "thr_1", State: chela.TurnCompleted, Model: model, Base: "ent_0", Steps: 2,
			Origin: chela.Origin{Channel: "terminal", Owner: true}, CreatedAt: opened,
		},
		Before: []chela.Entry{{ID: "ent_0", Thread: "thr_1", Turn: "turn_1", Seq: 1, Body: chela.UserBody{Text: "before"}}},
		Calls: []chela.ToolCall{
			{ID: "call_1", Step: 1, Ref: "r1", Tool: "read", Args: args, Effect: chela.EffectRead, State: chela.CallDone},
			{
				ID: "call_2", Step: 1, Index: 1, Ref: "r2", Tool: "write", Args: args, Effect: chela.EffectWrite, State: chela.CallDone,
				Why: "it writes", Intent: json.RawMessage(`{"was":"b"}`), StartedAt: opened.Add(time.Minute),
			},
		},
		Approvals: []chela.Approval{{
			ID: "apr_1", Call: "call_2", State: chela.ApprovalGranted, Tool: "write", Effect: chela.EffectWrite,
			ArgsHash: tool.Hash("write", args), Preview: "write a", Reason: "it writes", Answer: chela.AnswerOnce,
		}},
		Usage: []chela.Usage{
			{Payer: chela.Payer{Step: 1, Purpose: "turn"}, Model: model, Tokens: *usage},
			{Payer: chela.Payer{Step: 2, Purpose: "turn"}, Model: model, Tokens: *usage},
		},
	}
	calls := []chela.CallSpec{{ID: "call_1", Ref: "r1", Tool: "read", Args: args}, {ID: "call_2", Ref: "r2", Tool: "write", Args: args}}
	for i, b := range []chela.Body{
		chela.UserBody{Text: "do it", Inbox: "in_1"},
		chela.AnswerBody{Text: "I will.", Calls: calls, Model: model, Stop: chela.StopCalls, Usage: usage},
		chela.ResultBody{Text: "old", Call: "call_1", Ref: "r1", Tool: "read", Status: chela.CallDone},
		chela.ResultBody{Text: "written", Call: "call_2", Ref: "r2", Tool: "write", Status: chela.CallDone},
		chela.UserBody{Text: "and say so", Inbox: "in_2"},
		chela.AnswerBody{Text: "Done.", Model: model, Stop: chela.StopEnd, Usage: usage},
	} {
		e := chela.Entry{ID: chela.EntryID("ent_" + string(rune('a'+i))), Thread: "thr_1", Turn: "turn_2", Seq: int64(i + 2), Body: b}
		e.CreatedAt = opened.Add(time.Duration(i) * time.Minute)
		r.Entries = append(r.Entries, e)
	}
	return r
}

func turns() turn.Config {
	return turn.Config{
		Process: local.Process{IDs: chela.NewIDs(time.Now, rand.Reader), Now: time.Now, Log: slog.New(slog.DiscardHandler)},
		Limits:  machine.TurnLimits{Steps: 10},
		Expires: time.Hour, Prompt: prompt.DefaultSettings(),
	}
}

func run(t *testing.T, rec replay.Record) api.Replay {
	t.Helper()
	got, err := replay.Run(t.Context(), rec, replay.Config{
		Agent: "main", Frame: prompt.Frame{System: "You are a test."}, Turns: turns(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestSame(t *testing.T) {
	t.Parallel()
	got := run(t, record())
	for i := range got.Prompts {
		if got.Prompts[i].Bytes < 50 {
			t.Errorf("prompt %d has %d bytes", i, got.Prompts[i].Bytes)
		}
		got.Prompts[i].Bytes = 0
	}
	want := api.Replay{
		Turn: "turn_2", Recorded: api.Ending{State: chela.TurnCompleted, Answer: "Done.", Steps: 2}, Same: true, Entries: 6,
		Prompts: []api.StepSize{{Step: 1, Messages: 2}, {Step: 2, Messages: 6}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("replay (-want +got):\n%s", diff)
	}
}

// A record that the machine would not have made is told from one that it would.
func TestFirstDifference(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		bend func(r *replay.Record)
		want api.Difference
	}{
		{
			"another state of a result", func(r *replay.Record) {
				b := r.Entries[2].Result()
				b.Status = chela.CallDenied
				r.Entries[2].Body = b
			},
			api.Difference{Place: "entry 3 (tool_result): status", Recorded: "denied", Replayed: "failed"},
		},
		{
			"a call without a result", func(r *replay.Record) { r.Entries = append(r.Entries[:3:3], r.Entries[4:]...) },
			api.Difference{Place: "entry 4", Recorded: "user: and say so", Replayed: "(the replay deviates from the record)"},
		},
		{
			"an entry that nobody wrote", func(r *replay.Record) {
				r.Entries = append(r.Entries, chela.Entry{Body: chela.NoteBody{Text: "x"}})
			},
			api.Difference{Place: "entry 7", Recorded: "note: x"},
		},
		{
			"another ending", func(r *replay.Record) { r.Turn.Steps = 3 },
			api.Difference{Place: "ending: steps", Recorded: "3", Replayed: "2"},
		},
		{
			"a question that was not asked", func(r *replay.Record) { r.Approvals[0].Reason = "it hurts" },
			api.Difference{Place: "call 2: why", Recorded: "it writes", Replayed: "it hurts"},
		},
		{
			"arguments that nobody allowed", func(r *replay.Record) { r.Approvals[0].ArgsHash = "00" },
			api.Difference{Place: "approval 1: args_hash", Recorded: "00", Replayed: record().Approvals[0].ArgsHash},
		},
		{
			"a step that was not paid", func(r *replay.Record) { r.Usage[1].Tokens.Output = 9 },
			api.Difference{Place: "usage 2: tokens.output", Recorded: "9", Replayed: "2"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rec := record()
			c.bend(&rec)
			got := run(t, rec)
			if got.Same || got.Difference == nil {
				t.Fatalf("nothing is different: %+v", got)
			}
			if diff := cmp.Diff(c.want, *got.Difference); diff != "" {
				t.Errorf("difference (-want +got):\n%s", diff)
			}
		})
	}
}

// TestProvenanceIsPlayed: an entry has the provenance that was recorded, and one
// that an earlier version recorded without any does not differ.
func TestProvenanceIsPlayed(t *testing.T) {
	t.Parallel()
	page, guest, document := safety.Outside("https://x.example"), safety.Outside("a message of 7 on telegram"), safety.Outside("a document")
	for name, change := range map[string]func(r *replay.Record){
		"own":      func(*replay.Record) {},
		"no owner": func(r *replay.Record) { r.Turn.Origin = chela.Origin{} },
		"a group of an earlier version": func(r *replay.Record) {
			r.Turn.Session, r.Turn.Origin.Channel = "agent:main:slack:group:7", "slack"
			by(r, "U1", 0, 4)
		},
		"a page":                   func(r *replay.Record) { from(r, page, 2, 3, 5) },
		"a page after own results": func(r *replay.Record) { from(r, page, 3, 5) },
		"a guest steers": func(r *replay.Record) {
			by(r, "7", 4)
			from(r, guest, 4, 5)
		},
		"a page after the owner steers": func(r *replay.Record) { readPage(r, page) },
		"a page after a message for the owner": func(r *replay.Record) {
			by(r, "7", 4)
			readPage(r, page)
		},
		"a document in the system text": func(r *replay.Record) { from(r, document, 1, 2, 3, 5) },
		"a page that was read before": func(r *replay.Record) {
			r.Before[0].Body = chela.UserBody{Text: "before", Provenance: page}
			from(r, page, 1, 2, 3, 5)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := record()
			change(&rec)
			if got := run(t, rec); !got.Same {
				t.Errorf("difference: %+v", got.Difference)
			}
		})
	}
	rec := record()
	from(&rec, page, 2, 3)
	from(&rec, guest, 5)
	want := &api.Difference{Place: "entry 6 (assistant): provenance.source", Recorded: guest.Source, Replayed: page.Source}
	if diff := cmp.Diff(want, run(t, rec).Difference); diff != "" {
		t.Errorf("another source (-want +got):\n%s", diff)
	}
}

// from gives entries of a record a provenance.
func from(r *replay.Record, p chela.Provenance, entries ...int) {
	for _, i := range entries {
		switch b := r.Entries[i].Body.(type) {
		case chela.UserBody:
			b.Provenance = p
			r.Entries[i].Body = b
		case chela.AnswerBody:
			b.Provenance = p
			r.Entries[i].Body = b
		case chela.ResultBody:
			b.Provenance = p
			r.Entries[i].Body = b
		}
	}
}

// by gives messages of a record a sender.
func by(r *replay.Record, sender string, entries ...int) {
	for _, i := range entries {
		b := r.Entries[i].User()
		b.From = sender
		r.Entries[i].Body = b
	}
}

// readPage puts a step that reads a page before the last one.
func readPage(r *replay.Record, page chela.Provenance) {
	answer, args := r.Entries[5], json.RawMessage(`{"url":"x"}`)
	reading, said := answer, answer.Answer()
	said.Text, said.Stop = "I read.", chela.StopCalls
	said.Calls = []chela.CallSpec{{ID: "call_3", Ref: "r3", Tool: "web_fetch", Args: args}}
	reading.ID, reading.Body = "ent_p", said
	result := chela.Entry{ID: "ent_q", Thread: "thr_1", Turn: "turn_2", Seq: 8, CreatedAt: answer.CreatedAt, Body: chela.ResultBody{
		Text: "a page", Call: "call_3", Ref: "r3", Tool: "web_fetch", Status: chela.CallDone, Provenance: page,
	}}
	said = answer.Answer()
	said.Provenance = page
	answer.Seq, answer.Body = 9, said
	r.Entries = append(r.Entries[:5:5], reading, result, answer)
	r.Calls = append(r.Calls, chela.ToolCall{ID: "call_3", Step: 2, Ref: "r3", Tool: "web_fetch", Args: args, Effect: chela.EffectNetwork, State: chela.CallDone})
	last := r.Usage[1]
	last.Step = 3
	r.Usage, r.Turn.Steps = append(r.Usage, last), 3
}

// What is done with a turn outside of its entries is not compared.
func TestDiffersByNature(t *testing.T) {
	t.Parallel()
	rec := record()
	rec.Turn.Crashes = 2
	rec.Entries[3].Tokens = 1_000
	rec.Calls[1].FinishedAt = opened.Add(time.Hour)
	if got := run(t, rec); !got.Same {
		t.Errorf("difference: %+v", got.Difference)
	}
}

// A turn that was given up ends where it was given up.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	rec := record()
	rec.Entries, rec.Usage = rec.Entries[:len(rec.Entries)-1], rec.Usage[:1]
	rec.Turn.State, rec.Turn.Steps = chela.TurnFailed, 1
	rec.Turn.Failure = &chela.Failure{Kind: chela.Exhausted, Message: machine.GaveUp + "the disk is full"}
	if got := run(t, rec); !got.Same || got.Recorded.State != chela.TurnFailed {
		t.Errorf("replay: %+v, difference %+v", got, got.Difference)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := replay.Run(ctx, record(), replay.Config{Turns: turns()})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
