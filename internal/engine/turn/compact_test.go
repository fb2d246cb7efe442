package turn_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/engine/prompt"
	"chela/internal/engine/turn"
)

// shelf keeps what is written into documents, by path and key.
type shelf struct {
	mu    sync.Mutex
	texts map[string]string // guarded by mu
	err   error
}

// Note implements prompt.Documents.
func (s *shelf) Edit(_ context.Context, e chela.DocumentEdit) (chela.Document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return chela.Document{}, s.err
	}
	s.texts[e.Path+" "+e.Key] = e.Text
	return chela.Document{Path: e.Path}, nil
}

// pastRig is a rig with twenty turns before the open one, which together with
// the frame take so many hundredths of the room.
func pastRig(t *testing.T, percent int, steps ...step) *rig {
	r := newRig(t, steps...)
	r.model.inOrder = true
	r.window = 12_000
	r.shelf = &shelf{texts: map[string]string{}}
	r.cfg.Prompt = prompt.Settings{KeepRecent: 4000, Soft: 600}
	r.cfg.Compact = prompt.NewCompactor(r.shelf, time.UTC).Compact
	left := r.window*percent/100 - r.frameTokens()
	var past []chela.Entry
	for i := range 40 {
		n, text := left/(40-i), fmt.Sprint("said ", i)
		left -= n
		var body chela.Body = chela.UserBody{Text: text}
		if i%2 == 1 {
			body = chela.AnswerBody{Text: text}
		}
		past = append(past, chela.Entry{
			ID: chela.EntryID(fmt.Sprint("past_", i)), Thread: "thr_1", Turn: chela.TurnID(fmt.Sprint("turn_past_", i/2)),
			Seq: int64(i + 1), Tokens: n, Body: body,
		})
		if i > 0 {
			past[i].Parent = past[i-1].ID
		}
	}
	first := r.book.entries[0]
	first.Parent, first.Seq = past[39].ID, 41
	r.book.entries = append(past, first)
	r.book.thread.Seq = 41
	return r
}

func (r *rig) frameTokens() int {
	f := r.frame()
	return f.SystemTokens + f.ToolTokens
}

// compactions returns the compactions in the book.
func (r *rig) compactions() (found []chela.CompactionBody) {
	for _, e := range r.book.entries {
		if b, ok := e.Body.(chela.CompactionBody); ok {
			found = append(found, b)
		}
	}
	return found
}

// asked returns the text of the first and the last message of each request.
func (r *rig) asked() (lines []string) {
	for _, req := range r.model.requests {
		m := req.Messages
		lines = append(lines, fmt.Sprintf("%d: %.20s … %.20s", len(m), m[0].Text, m[len(m)-1].Text))
	}
	return lines
}

func TestCompaction(t *testing.T) {
	t.Parallel()
	summary := say("What it came to.")
	for _, c := range []struct {
		name    string
		percent int
		steps   []step
		want    string // the strategies
		asked   []string
	}{
		{"it fits", 79, []step{say("ok")}, "", []string{"41: said 0 … hi"}},
		{"archive", 82, []step{say("ok")}, "archive", []string{"18: [note from the host] … hi"}},
		{"summarize", 90, []step{summary, say("ok")}, "summarize", []string{"1: Summarize the beginn … Summarize the beginn", "10: [note from the host] … hi"}},
		{"truncate", 98, []step{say("ok")}, "truncate", []string{"6: [note from the host] … hi"}},
		{
			"no summary to be had", 90,
			[]step{fails(&chela.ProviderError{Kind: chela.Unavailable}), say("ok")},
			"truncate",
			[]string{"1: Summarize the beginn … Summarize the beginn", "6: [note from the host] … hi"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := pastRig(t, c.percent, c.steps...)
			s := r.mustRun(chela.TurnCompleted)
			var got []string
			for _, b := range r.compactions() {
				got = append(got, string(b.Strategy))
				if used := b.TokensBefore * 100 / r.window; used < 80 || b.TokensAfter*100/r.window > 50 || b.FirstKept == "" || !strings.Contains(b.Text, "Archived in context/archive/") {
					t.Errorf("compaction %+v at %d of a hundred", b, used)
				}
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("strategies (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.asked, r.asked()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(r.book.state(), s); diff != "" {
				t.Errorf("state (-read +ran):\n%s", diff)
			}
			if (c.want == "") != (len(r.shelf.texts) == 0) {
				t.Errorf("documents %v", r.shelf.texts)
			}
		})
	}
}

// The ledger says what a summary was paid for, and the daily log has it.
func TestSummaryIsCharged(t *testing.T) {
	t.Parallel()
	r := pastRig(t, 90, finish(chela.Finish{Text: "What it came to.", Usage: chela.TokenUsage{Input: 7}}), say("ok"))
	r.mustRun(chela.TurnCompleted)
	if u := r.book.usage[0]; u.Purpose != "compaction" || u.Step != 1 || u.Tokens.Input != 7 || len(r.book.usage) != 2 {
		t.Errorf("usage %+v", r.book.usage)
	}
	daily := ""
	for name, text := range r.shelf.texts {
		if strings.HasPrefix(name, "daily/") {
			daily = text
		}
	}
	if !strings.Contains(daily, "What it came to.") {
		t.Errorf("documents %v", r.shelf.texts)
	}
}

// An agent with a cheap model has its summaries from there.
func TestSummaryByTheCheapModel(t *testing.T) {
	t.Parallel()
	r := pastRig(t, 90, say("ok"))
	r.model.inOrder = true
	r.cheap = &model{inOrder: true, steps: []step{say("What it came to.")}}
	r.mustRun(chela.TurnCompleted)
	if got := r.compactions(); len(got) != 1 || !strings.Contains(got[0].Text, "What it came to.") {
		t.Errorf("compactions %+v", got)
	}
	if got := r.cheap.requests; len(got) != 1 || got[0].Model != "small" || got[0].Session != r.book.turn.Session {
		t.Errorf("the cheap model was asked %+v", got)
	}
	if got := r.model.requests; len(got) != 1 || got[0].Model == "small" {
		t.Errorf("the model was asked %+v", got)
	}
}

// What cannot be kept stays in the prompt, as long as that fits.
func TestArchiveFails(t *testing.T) {
	t.Parallel()
	for percent, want := range map[int]chela.TurnState{84: chela.TurnCompleted, 101: chela.TurnFailed} {
		r := pastRig(t, percent, say("ok"))
		r.shelf.err = chela.E(chela.Unavailable, "no document today")
		s := r.mustRun(want)
		if len(r.compactions()) != 0 {
			t.Errorf("%d: compacted %+v", percent, r.compactions())
		}
		if f := s.Turn.Failure; f != nil && f.Limit != chela.LimitPrompt {
			t.Errorf("%d: failure %+v", percent, f)
		}
	}
}

// A prompt that the provider refuses is made smaller by one strategy after the
// other, and then the turn ends.
func TestRefusedPrompts(t *testing.T) {
	t.Parallel()
	refused := fails(&chela.ProviderError{Provider: "test", Kind: chela.Invalid, Overflow: true, Msg: "too long"})
	for _, c := range []struct {
		name  string
		steps []step
		want  string
		state chela.TurnState
	}{
		{"once", []step{refused, say("ok")}, "archive", chela.TurnCompleted},
		{"twice", []step{refused, refused, say("summary"), say("ok")}, "archive summarize", chela.TurnCompleted},
		{"thrice", []step{refused, refused, say("summary"), refused, say("ok")}, "archive summarize truncate", chela.TurnCompleted},
		{"always", []step{refused, refused, say("summary"), refused, refused, say("never")}, "archive summarize truncate", chela.TurnFailed},
		{"the summary too", []step{refused, refused, refused, say("ok")}, "archive truncate", chela.TurnCompleted},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := pastRig(t, 60, c.steps...)
			s := r.mustRun(c.state)
			var got []string
			for _, b := range r.compactions() {
				got = append(got, string(b.Strategy))
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("strategies (-want +got):\n%s", diff)
			}
			if f := s.Turn.Failure; f != nil && f.Limit != chela.LimitPrompt {
				t.Errorf("failure %+v", f)
			}
		})
	}
}

// A turn that grows too large itself keeps its question and its newest steps.
func TestCompactionBetweenSteps(t *testing.T) {
	t.Parallel()
	steps := make([]step, 8)
	for i := range steps {
		steps[i] = say("", fmt.Sprint("look ", i))
	}
	r := pastRig(t, 10, append(steps, say("done"))...)
	r.window = 4200
	look := r.tools[0]
	r.tools[0].Run = func(ctx context.Context, c chela.ToolCall) (chela.ToolResult, error) {
		res, err := look.Run(ctx, c)
		res.Text += strings.Repeat(" word", 700)
		return res, err
	}
	r.mustRun(chela.TurnCompleted)
	if n := len(r.compactions()); n < 2 {
		t.Errorf("%d compactions", n)
	}
	for i, req := range r.model.requests {
		said := func(m chela.Message) bool { return m.Text == "hi" }
		if !slices.ContainsFunc(req.Messages, said) && !strings.HasPrefix(req.Messages[0].Text, "Summarize") {
			t.Errorf("request %d lacks the question:\n%s", i, strings.Join(r.asked(), "\n"))
		}
	}
	if diff := cmp.Diff([]string{"look 0", "look 1", "look 2", "look 3", "look 4", "look 5", "look 6", "look 7"}, r.done()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// A command makes a summary and nothing else.
func TestCompactCommand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		steps []step
		past  int // entries before the turn
		state chela.TurnState
		reply string // how it begins
	}{
		{"compacted", []step{say("What it came to.")}, 40, chela.TurnCompleted, "compacted: "},
		{"nothing there", nil, 0, chela.TurnCompleted, "nothing to compact"},
		{"no model", []step{fails(&chela.ProviderError{Provider: "test", Kind: chela.Unavailable, Msg: "away"})}, 40, chela.TurnFailed, "(failed: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := pastRig(t, 30, c.steps...)
			r.book.entries = slices.Delete(r.book.entries, c.past, 40)
			last := &r.book.entries[len(r.book.entries)-1]
			last.Body = chela.UserBody{Command: chela.CommandCompact, Text: "keep the names"}
			r.book.turn.Origin.ReplyBy = chela.ReplyByOutbox
			r.mustRun(c.state)
			if got := owed(r); len(got) != 1 || !strings.HasPrefix(got[0], c.reply) {
				t.Errorf("replies %q", got)
			}
			if n := len(r.model.requests); n != len(c.steps) || n > 0 && !strings.Contains(r.model.requests[0].Messages[0].Text, "keep the names") {
				t.Errorf("requests %v", r.asked())
			}
		})
	}
}

// What a summary was paid for is in the ledger, also if it cannot be kept.
func TestSummaryThatCannotBeKeptIsCharged(t *testing.T) {
	t.Parallel()
	paid := finish(chela.Finish{Text: "What it came to.", Usage: chela.TokenUsage{Input: 7}})
	r := pastRig(t, 30, paid, paid)
	r.book.entries[len(r.book.entries)-1].Body = chela.UserBody{Command: chela.CommandCompact}
	r.shelf.err = chela.E(chela.Unavailable, "no document today")
	if _, err := r.run(); err == nil {
		t.Fatal("the run ended well")
	}
	r.shelf.err = nil
	r.mustRun(chela.TurnCompleted)
	if len(r.book.usage) != 2 || r.book.usage[0].Tokens.Input != 7 {
		t.Errorf("usage %+v", r.book.usage)
	}
}

// Somebody stops the turn while the summary is written.
func TestStopWhileCompacting(t *testing.T) {
	t.Parallel()
	var r *rig
	r = pastRig(t, 90, hangs("", func() { r.control.Stop() }))
	r.mustRun(chela.TurnInterrupted)
	if len(r.compactions()) != 0 || len(r.shelf.texts) != 0 {
		t.Errorf("compacted %+v, documents %v", r.compactions(), r.shelf.texts)
	}
}

// A parked run does not wait for a summary either; the next one asks again.
func TestParkWhileCompacting(t *testing.T) {
	t.Parallel()
	r := pastRig(t, 90)
	r.model.steps = []step{hangs("so far", r.control.Park), say("What it came to."), say("ok")}
	if s, err := r.run(); err != nil || s.Turn.State != chela.TurnProcessing || len(r.compactions()) != 0 {
		t.Fatalf("turn %s with %d compactions, error %v", s.Turn.State, len(r.compactions()), err)
	}
	r.control = &turn.Handle{}
	r.mustRun(chela.TurnCompleted)
	if got := r.compactions(); len(got) != 1 || got[0].Strategy != chela.StrategySummarize {
		t.Errorf("compactions %+v, want a summary", got)
	}
}
