package machine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/engine/turn/machine"
)

// story is a turn with two steps: an answer with two calls, one of which a
// person allowed, and the calls of its second answer still open.
type story struct {
	thread chela.Thread
	turn   chela.Turn
	before []chela.Entry // of an older turn
	steps  []machine.Change
}

func newStory() story {
	st := story{thread: chela.Thread{ID: "thr_1"}}
	st.turn = chela.Turn{ID: "turn_2", Thread: "thr_1", Session: "agent:main:main", State: chela.TurnProcessing}
	seq := int64(0)
	entry := func(turn chela.TurnID, b chela.Body) chela.Entry {
		seq++
		return chela.Entry{ID: chela.EntryID(fmt.Sprintf("ent_%d", seq)), Thread: "thr_1", Turn: turn, Seq: seq, Body: b, Tokens: 10}
	}
	st.before = []chela.Entry{
		entry("turn_1", chela.UserBody{Text: "hello"}),
		entry("turn_1", chela.AnswerBody{Text: "Hello.", Model: "p/m"}),
	}
	turn := st.turn
	add := func(ch machine.Change) { st.steps = append(st.steps, ch) }
	add(machine.Change{Turn: &turn, Entries: []chela.Entry{
		entry("turn_2", chela.UserBody{Text: "do it", Offers: []chela.ToolSpec{{Name: "theirs"}}}),
	}})
	add(machine.Change{Entries: []chela.Entry{
		entry("turn_2", chela.AnswerBody{
			Model: "p/m", Text: "One moment.", Usage: &chela.TokenUsage{Input: 100, Output: 7},
			Calls: []chela.CallSpec{{ID: "call_1", Ref: "a", Tool: "look", Args: []byte(`{"at":1}`)}, {ID: "call_2", Ref: "b", Tool: "write"}},
		}),
	}})
	call := func(id chela.CallID, state chela.CallState) machine.CallMove {
		c := chela.ToolCall{ID: id, Turn: "turn_2", Thread: "thr_1", Session: "agent:main:main", Tool: "look", State: state}
		if id == "call_2" || id == "call_4" {
			c.Tool, c.Index = "write", 1
		}
		return machine.CallMove{Call: c}
	}
	question := chela.Approval{ID: "apr_1", Call: "call_2", State: chela.ApprovalPending}
	add(machine.Change{Calls: []machine.CallMove{call("call_1", chela.CallApproved), call("call_2", chela.CallAwaiting)}})
	add(machine.Change{Approvals: []chela.Approval{question}})
	granted := question
	granted.State = chela.ApprovalGranted
	add(machine.Change{Approvals: []chela.Approval{granted}, Calls: []machine.CallMove{call("call_2", chela.CallApproved)}})
	second := turn
	second.Steps = 1
	result := func(id chela.CallID, status chela.CallState) chela.Entry {
		return entry("turn_2", chela.ResultBody{Call: id, Status: status, Text: string(status)})
	}
	add(machine.Change{
		Turn: &second, Entries: []chela.Entry{result("call_1", chela.CallDone), result("call_2", chela.CallFailed)},
		Calls: []machine.CallMove{call("call_1", chela.CallDone), call("call_2", chela.CallFailed)},
	})
	add(machine.Change{Entries: []chela.Entry{
		entry("turn_2", chela.AnswerBody{
			Model: "p/m", Text: "Two more.", Usage: &chela.TokenUsage{Input: 120, Output: 3},
			Calls: []chela.CallSpec{{ID: "call_3", Tool: "look"}, {ID: "call_4", Tool: "write"}},
		}),
	}})
	add(machine.Change{
		Entries: []chela.Entry{result("call_3", chela.CallDone)},
		Calls:   []machine.CallMove{call("call_3", chela.CallDone), call("call_4", chela.CallApproved)},
	})
	return st
}

// upTo folds the beginning and the first n changes.
func (st story) upTo(n int) machine.State {
	s := machine.Begin(st.thread, st.before)
	for _, ch := range st.steps[:n] {
		s = machine.Fold(s, ch)
	}
	return s
}

// calls writes the calls of a state as id:state, with "+" behind those that
// have their results.
func calls(s machine.State) (words []string) {
	for _, c := range s.Calls {
		word := string(c.ID) + ":" + string(c.State)
		if c.Answered {
			word += "+"
		}
		words = append(words, word)
	}
	return words
}

// TestFold looks at a turn after each of its changes.
func TestFold(t *testing.T) {
	t.Parallel()
	type look struct {
		Last    chela.EntryKind
		Head    chela.EntryID
		Seq     int64
		Answer  string
		Entry   chela.EntryID
		Tokens  int64
		Calls   []string
		Pending chela.ApprovalID
		Granted chela.CallID
		Wishes  string
		Parts   int
		Idle    int
		Failing int
	}
	const one, two = "One moment.", "Two more."
	want := []look{
		{Parts: 2}, // the thread knows its head
		{Last: chela.EntryUser, Head: "ent_3", Seq: 3, Wishes: "do it", Parts: 3},
		{Last: chela.EntryAssistant, Head: "ent_4", Seq: 4, Answer: one, Entry: "ent_4", Tokens: 107, Wishes: "do it", Parts: 4, Calls: []string{"call_1:requested", "call_2:requested"}},
		{Last: chela.EntryAssistant, Head: "ent_4", Seq: 4, Answer: one, Entry: "ent_4", Tokens: 107, Wishes: "do it", Parts: 4, Calls: []string{"call_1:approved", "call_2:awaiting_approval"}},
		{Last: chela.EntryAssistant, Head: "ent_4", Seq: 4, Answer: one, Entry: "ent_4", Tokens: 107, Wishes: "do it", Parts: 4, Calls: []string{"call_1:approved", "call_2:awaiting_approval"}, Pending: "apr_1"},
		{Last: chela.EntryAssistant, Head: "ent_4", Seq: 4, Answer: one, Entry: "ent_4", Tokens: 107, Wishes: "do it", Parts: 4, Calls: []string{"call_1:approved", "call_2:approved"}, Granted: "call_2"},
		{Last: chela.EntryToolResult, Head: "ent_6", Seq: 6, Answer: one, Entry: "ent_4", Tokens: 107, Wishes: "do it", Parts: 6, Calls: []string{"call_1:done+", "call_2:failed+"}, Granted: "call_2", Failing: 1},
		{Last: chela.EntryAssistant, Head: "ent_7", Seq: 7, Answer: two, Entry: "ent_7", Tokens: 230, Wishes: "do it", Parts: 7, Calls: []string{"call_3:requested", "call_4:requested"}, Granted: "call_2", Failing: 1},
		{Last: chela.EntryToolResult, Head: "ent_8", Seq: 8, Answer: two, Entry: "ent_7", Tokens: 230, Wishes: "do it", Parts: 8, Calls: []string{"call_3:done+", "call_4:approved"}, Granted: "call_2", Failing: 1},
	}
	st := newStory()
	for n, w := range want {
		s := st.upTo(n)
		got := look{
			Last: s.Last, Head: s.Thread.Head, Seq: s.Thread.Seq, Answer: s.Answer.Text, Entry: s.AnswerID, Tokens: s.Tokens, Calls: calls(s),
			Granted: s.Granted, Wishes: s.Wishes, Parts: len(s.Conversation.Parts), Idle: s.Guard.Idle, Failing: len(s.Guard.Failing),
		}
		if s.Pending != nil {
			got.Pending = s.Pending.ID
		}
		if diff := cmp.Diff(w, got); diff != "" {
			t.Errorf("after %d changes (-want +got):\n%s", n, diff)
		}
		if n > 0 && (s.Turn.ID != "turn_2" || !s.Offered("theirs") || s.Offered("look")) {
			t.Errorf("after %d changes: turn %q with offers %v", n, s.Turn.ID, s.Offers)
		}
	}
}

// TestRequested gives calls the step and place of the answer that asks for them.
func TestRequested(t *testing.T) {
	t.Parallel()
	got := newStory().upTo(7).Calls[1].ToolCall
	want := chela.ToolCall{ID: "call_4", Turn: "turn_2", Thread: "thr_1", Session: "agent:main:main", Step: 1, Index: 1, Tool: "write", State: chela.CallRequested}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("call (-want +got):\n%s", diff)
	}
	first := newStory().upTo(2).Calls[0].ToolCall
	if first.Ref != "a" || string(first.Args) != `{"at":1}` || first.Step != 0 {
		t.Errorf("call %+v", first)
	}
}

// TestResume reaches the state that folding had reached, from the journal.
func TestResume(t *testing.T) {
	t.Parallel()
	st := newStory()
	for n := range len(st.steps) + 1 {
		want := st.upTo(n)
		if n == 0 {
			continue
		}
		r := machine.Record{Thread: want.Thread, Path: st.before, Turn: want.Turn}
		latest := map[chela.CallID]chela.ToolCall{}
		for _, ch := range st.steps[:n] {
			r.Path = append(r.Path, ch.Entries...)
			r.Entries = append(r.Entries, ch.Entries...)
			r.Approvals = append(r.Approvals, ch.Approvals...)
			for _, m := range ch.Calls {
				latest[m.Call.ID] = m.Call
			}
		}
		for _, c := range latest {
			r.Calls = append(r.Calls, c)
		}
		got := machine.Resume(r)
		for i := range got.Calls { // the step of a call comes from its row
			got.Calls[i].Step, want.Calls[i].Step = 0, 0
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("after %d changes (-want +got):\n%s", n, diff)
		}
	}
}

// TestFoldOfOtherTurns keeps nothing of the turn before but its conversation.
func TestFoldOfOtherTurns(t *testing.T) {
	t.Parallel()
	st := newStory()
	s := st.upTo(len(st.steps))
	thread := chela.Thread{ID: "thr_1", Title: "renamed", Head: "ent_8", Seq: 8}
	next := chela.Turn{ID: "turn_3", State: chela.TurnProcessing}
	s = machine.Fold(s, machine.Change{Turn: &next, Thread: &thread})
	want := machine.State{Turn: next, Thread: thread, Conversation: s.Conversation}
	if diff := cmp.Diff(want, s); diff != "" || len(s.Conversation.Parts) != 8 {
		t.Errorf("%d parts, state (-want +got):\n%s", len(s.Conversation.Parts), diff)
	}
	s = machine.Fold(s, machine.Change{Entries: []chela.Entry{{ID: "ent_9", Seq: 9, Turn: "turn_2", Body: chela.UserBody{Text: "late"}}}})
	if s.Last != "" || s.Thread.Head != "ent_9" {
		t.Errorf("an entry of another turn counts for this one: last %q, head %q", s.Last, s.Thread.Head)
	}
}

// fold folds entries of one turn.
func fold(entries ...chela.Entry) machine.State {
	turn := chela.Turn{ID: "turn_1", State: chela.TurnProcessing}
	for i := range entries {
		entries[i].Turn, entries[i].ID = "turn_1", chela.EntryID(fmt.Sprintf("ent_%d", i+1))
	}
	return machine.Fold(machine.State{}, machine.Change{Turn: &turn, Entries: entries})
}

func of(b chela.Body) chela.Entry { return chela.Entry{Body: b} }

// TestFoldOfSpecialEntries folds the entries that few turns have.
func TestFoldOfSpecialEntries(t *testing.T) {
	t.Parallel()
	t.Run("an answer that no model gave", func(t *testing.T) {
		t.Parallel()
		s := fold(of(chela.AnswerBody{Text: "said elsewhere", Usage: &chela.TokenUsage{Input: 5}}))
		if s.Answer.Text != "" || s.Tokens != 0 || s.Last != chela.EntryAssistant {
			t.Errorf("state %+v", s)
		}
	})
	t.Run("a hidden answer", func(t *testing.T) {
		t.Parallel()
		s := fold(
			of(chela.AnswerBody{Model: "p/m", Text: "shown"}),
			of(chela.NoteBody{Mark: chela.Mark{Note: chela.NoteFlush, Hidden: true}}),
			of(chela.AnswerBody{Model: "p/m", Text: "NO_REPLY", Mark: chela.Mark{Hidden: true, Note: chela.NoteFlush}}),
		)
		if s.AnswerID != "" || s.Answer.Text != "NO_REPLY" || !s.Flush.Ended || len(s.Guard.Seen) != 1 {
			t.Errorf("answer %q %q, flush %+v, %d texts seen", s.AnswerID, s.Answer.Text, s.Flush, len(s.Guard.Seen))
		}
	})
	t.Run("a command", func(t *testing.T) {
		t.Parallel()
		s := fold(of(chela.UserBody{Command: chela.CommandCompact, Text: "keep names"}), of(chela.CompactionBody{Text: "summary"}))
		if s.Command != chela.CommandCompact || s.Wishes != "keep names" || s.Compacted == nil || s.Compacted.Text != "summary" {
			t.Errorf("state %+v", s)
		}
	})
	t.Run("offers stay", func(t *testing.T) {
		t.Parallel()
		s := fold(of(chela.UserBody{Offers: []chela.ToolSpec{{Name: "a"}, {Name: "b"}}}), of(chela.UserBody{Text: "more"}))
		if !s.Offered("a") || !s.Offered("b") || s.Offered("c") {
			t.Errorf("offers %v", s.Offers)
		}
	})
}

// TestFoldForTheLoopGuard tells the loop guard of what happens in a turn.
func TestFoldForTheLoopGuard(t *testing.T) {
	t.Parallel()
	t.Run("a note about circles", func(t *testing.T) {
		t.Parallel()
		s := fold(of(chela.NoteBody{Mark: chela.Mark{Note: chela.NoteLoop, Hidden: true}}))
		if !s.Guard.Warned {
			t.Error("the note is not in the record of the loop guard")
		}
		s = machine.Fold(s, machine.Change{Entries: []chela.Entry{{Turn: "turn_1", Body: chela.UserBody{Text: "go on"}}}})
		if s.Guard.Warned {
			t.Error("a message of a person does not reset the loop guard")
		}
	})
	t.Run("a result of no open call", func(t *testing.T) {
		t.Parallel()
		s := fold(of(chela.ResultBody{Call: "call_9", Status: chela.CallFailed}))
		if len(s.Guard.Failing) != 0 || len(s.Calls) != 0 {
			t.Errorf("state %+v", s)
		}
	})
	t.Run("a first call that fails", func(t *testing.T) {
		t.Parallel()
		s := fold(
			of(chela.AnswerBody{Model: "p/m", Calls: []chela.CallSpec{{ID: "call_1", Tool: "look"}}}),
			of(chela.ResultBody{Call: "call_1", Status: chela.CallFailed, Text: "no"}),
		)
		if len(s.Guard.Failing) != 1 {
			t.Errorf("%d failing calls, want 1", len(s.Guard.Failing))
		}
	})
	t.Run("steps without anything new", func(t *testing.T) {
		t.Parallel()
		var entries []chela.Entry
		for i := range 3 {
			first, second := chela.CallID(fmt.Sprintf("call_%d", 2*i)), chela.CallID(fmt.Sprintf("call_%d", 2*i+1))
			entries = append(
				entries,
				of(chela.AnswerBody{Model: "p/m", Calls: []chela.CallSpec{{ID: first, Tool: "look"}, {ID: second, Tool: "look"}}}),
				of(chela.ResultBody{Call: first, Status: chela.CallDone, Text: "same"}),
				of(chela.ResultBody{Call: second, Status: chela.CallDone, Text: "same"}),
			)
		}
		if s := fold(entries...); s.Guard.Idle != 2 {
			t.Errorf("%d idle steps, want 2", s.Guard.Idle)
		}
		if s := fold(entries[:8]...); s.Guard.Idle != 1 {
			t.Errorf("%d idle steps before the step ended, want 1", s.Guard.Idle)
		}
	})
}

// TestQuestions keeps a question until that one is answered.
func TestQuestions(t *testing.T) {
	t.Parallel()
	pending := func(id chela.ApprovalID) chela.Approval {
		return chela.Approval{ID: id, Call: "call_1", State: chela.ApprovalPending}
	}
	s := machine.Fold(machine.State{}, machine.Change{Approvals: []chela.Approval{pending("apr_2")}})
	other, denied := pending("apr_1"), pending("apr_2")
	other.State, denied.State = chela.ApprovalDenied, chela.ApprovalDenied
	s = machine.Fold(s, machine.Change{Approvals: []chela.Approval{other}})
	if s.Pending == nil || s.Granted != "" {
		t.Errorf("the answer of another question counts: pending %v, granted %q", s.Pending, s.Granted)
	}
	s = machine.Fold(s, machine.Change{Approvals: []chela.Approval{denied}})
	if s.Pending != nil || s.Granted != "" {
		t.Errorf("a denied question: pending %v, granted %q", s.Pending, s.Granted)
	}
	s = machine.Fold(s, machine.Change{Approvals: []chela.Approval{other}}) // without a pending one
	if s.Pending != nil {
		t.Errorf("pending %v", s.Pending)
	}
}

// TestClone changes a state without changing its clone.
func TestClone(t *testing.T) {
	t.Parallel()
	st := newStory()
	s := st.upTo(5)
	clone := s.Clone()
	want := st.upTo(5)
	s.Conversation.Messages[0], s.Conversation.Parts[0] = chela.Message{}, s.Conversation.Parts[1]
	s.Guard.Seen[0] = 0
	for _, ch := range st.steps[5:] {
		s = machine.Fold(s, ch)
	}
	if diff := cmp.Diff(want, clone); diff != "" {
		t.Errorf("clone (-want +got):\n%s", diff)
	}
}

// TestHandedOut finds the calls that the sender runs.
func TestHandedOut(t *testing.T) {
	t.Parallel()
	s := sketch{steps: 1, last: chela.EntryAssistant, calls: "out out+ theirs running read", ended: chela.TurnAwaiting}.state()
	var got []chela.CallID
	for _, c := range s.HandedOut() {
		got = append(got, c.ID)
	}
	if diff := cmp.Diff([]chela.CallID{"0"}, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	for _, c := range []struct {
		id   chela.CallID
		want chela.Kind
	}{{"0", ""}, {"1", chela.Conflict}, {"2", chela.Conflict}, {"3", chela.Conflict}, {"4", chela.Conflict}, {"9", chela.Invalid}} {
		call, err := s.WaitingCall(c.id)
		var kind chela.Kind
		if err != nil {
			kind = chela.KindOf(err)
		}
		if kind != c.want || err == nil && call.ID != c.id {
			t.Errorf("call %s: %+v, error %v, want kind %q", c.id, call, err, c.want)
		}
	}
	for _, c := range []struct {
		name  string
		calls string
		state chela.TurnState
		want  bool
	}{
		{"handed out", "out", chela.TurnAwaiting, true},
		{"before it is", "out", chela.TurnProcessing, false},
		{"nothing handed out", "read", chela.TurnAwaiting, false},
		{"all answered", "out+", chela.TurnAwaiting, false},
	} {
		if got := (sketch{calls: c.calls, ended: c.state}).state().Waits(); got != c.want {
			t.Errorf("%s: waits %t, want %t", c.name, got, c.want)
		}
	}
}

// TestFailureOf tells an error as a turn does.
func TestFailureOf(t *testing.T) {
	t.Parallel()
	said := func(change func(*chela.ProviderError)) error {
		e := &chela.ProviderError{Provider: "acme", Kind: chela.Denied, Status: 401, Msg: "bad key"}
		if change != nil {
			change(e)
		}
		return e
	}
	limited := chela.E(chela.Exhausted, "too much")
	limited.Limit = chela.LimitSteps
	const key = "; check providers.acme.api_key: chela config get providers.acme.api_key"
	message := chela.MessageOf(said(nil))
	for _, c := range []struct {
		name string
		err  error
		want chela.Failure
	}{
		{"plain", errors.New("broken"), chela.Failure{Kind: chela.Internal, Message: chela.MessageOf(errors.New("broken"))}},
		{"a limit", limited, chela.Failure{Kind: chela.Exhausted, Limit: chela.LimitSteps, Message: "too much"}},
		{"a provider", said(nil), chela.Failure{Kind: chela.Denied, Message: message + key}},
		{"a recording", said(func(e *chela.ProviderError) { e.Provider = "" }), chela.Failure{Kind: chela.Denied, Message: chela.MessageOf(said(func(e *chela.ProviderError) { e.Provider = "" }))}},
		{"with a hint", chela.E(chela.Denied, "no").WithHint("ask again").Because(said(nil)), chela.Failure{Kind: chela.Denied, Message: "no; ask again"}},
		{"without a cure", said(func(e *chela.ProviderError) { e.Kind = chela.Invalid }), chela.Failure{Kind: chela.Invalid, Message: chela.MessageOf(said(func(e *chela.ProviderError) { e.Kind = chela.Invalid }))}},
		{
			"a large prompt", said(func(e *chela.ProviderError) { e.Kind, e.Overflow = chela.Invalid, true }),
			chela.Failure{Kind: chela.Invalid, Limit: chela.LimitPrompt, Message: chela.MessageOf(said(func(e *chela.ProviderError) { e.Kind, e.Overflow = chela.Invalid, true })) + "; send less, or use a model with a larger window: chela models list"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(&c.want, machine.FailureOf(c.err)); diff != "" {
				t.Errorf("failure (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCircles warns a model that goes in circles, and ends its turn.
func TestCircles(t *testing.T) {
	t.Parallel()
	idle := func(last chela.EntryKind, warned bool, steps int) machine.State {
		s := sketch{last: last, text: "hm", steps: steps}.state()
		s.Guard = machine.GuardRecord{Idle: 3, Warned: warned}
		return s
	}
	f := machine.Facts{Limits: machine.TurnLimits{Steps: 10, Time: time.Hour, Guard: machine.GuardLimits{Idle: 3}}}
	for _, c := range []struct {
		name string
		s    machine.State
		want string
	}{
		{"warned once", idle(chela.EntryToolResult, false, 4), "call_model note"},
		{"warned before", idle(chela.EntryToolResult, true, 4), "finish limited exhausted loop the model repeats itself: 3 steps in a row brought nothing new"},
		{"warned in the last step", idle(chela.EntryToolResult, false, 9), "call_model note no-tools"},
		{"out of steps", idle(chela.EntryToolResult, false, 10), "finish limited exhausted steps the turn used its 10 steps"},
		{"an answer", idle(chela.EntryAssistant, false, 4), "finish completed"},
	} {
		a := machine.Next(c.s, f)
		if diff := cmp.Diff(c.want, brief(a)); diff != "" {
			t.Errorf("%s: action (-want +got):\n%s", c.name, diff)
		}
		if a.Note != "" && a.About != chela.NoteLoop {
			t.Errorf("%s: the note is about %q", c.name, a.About)
		}
	}
	last := machine.Next(idle(chela.EntryToolResult, false, 8), f) // the note about two more steps comes along
	if want := "3 steps in a row brought nothing new"; !strings.Contains(last.Note, want) || !strings.Contains(last.Note, "two more steps") {
		t.Errorf("note %q", last.Note)
	}
}
