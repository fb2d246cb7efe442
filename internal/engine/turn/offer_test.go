package turn_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/engine/turn"
)

// spec is a tool that the sender runs himself.
func spec(name string) chela.ToolSpec {
	return chela.ToolSpec{Name: name, Description: "Does " + name + ".", Input: json.RawMessage(`{"type":"object"}`)}
}

// offer puts tools into the message that opened the turn.
func (r *rig) offer(names ...string) {
	b := r.book.entries[0].User()
	for _, name := range names {
		b.Offers = append(b.Offers, spec(name))
	}
	r.book.entries[0].Body = b
}

// result is what the sender tells of a call.
func result(c chela.ToolCall) chela.OfferResult {
	return chela.OfferResult{Call: c.ID, Text: "brought " + nameOf(c)}
}

// bring is what a lane does with a message that has results.
func (r *rig) bring(text string, calls ...chela.ToolCall) {
	r.Helper()
	m := chela.InboxMessage{ID: "in_r", Inbound: chela.Inbound{Text: text, Origin: chela.Origin{Owner: true}}}
	for _, c := range calls {
		m.Results = append(m.Results, result(c))
	}
	r.bringMessage(m)
}

// bringMessage appends results. An append that breaks as the test wants it to
// is left to whoever looks at the book.
func (r *rig) bringMessage(m chela.InboxMessage) {
	r.Helper()
	ch, err := turn.NewRunner(r.cfg).Bring(r.book.state(), m)
	if err == nil {
		err = r.book.Append(r.Context(), "bring", ch)
	}
	if err != nil && !errors.Is(err, errFull) && !errors.Is(err, errDied) {
		r.Fatal(err)
	}
}

// handedOut returns the calls whose results are waited for.
func (r *rig) handedOut() []chela.ToolCall { return r.book.state().HandedOut() }

func TestOfferedCallsAreHandedOut(t *testing.T) {
	t.Parallel()
	r := newRig(t, say("one", "theirs a", "look b", "write c", "theirs d"), say("there"))
	r.offer("theirs")
	r.mustRun(chela.TurnAwaiting)
	if diff := cmp.Diff([]string{"turn.step", "turn.running", "turn.result", "turn.offer"}, r.book.ops); diff != "" {
		t.Errorf("appends (-want +got):\n%s", diff)
	}
	r.mustRun(chela.TurnAwaiting) // a run that comes too early changes nothing
	out := r.handedOut()
	if len(out) != 2 || r.book.thread.State != chela.ThreadAwaiting || len(r.book.approvals) != 0 {
		t.Fatalf("%d calls are handed out, the thread is %s, approvals %+v", len(out), r.book.thread.State, r.book.approvals)
	}
	var told []string
	for _, e := range r.events {
		if e.Kind == chela.EventToolOffered {
			told = append(told, e.Tool+" "+e.Text)
		}
	}
	if diff := cmp.Diff([]string{`theirs {"name":"a"}`, `theirs {"name":"d"}`}, told); diff != "" {
		t.Errorf("told of (-want +got):\n%s", diff)
	}
	r.bring("", out[1])
	if r.book.turn.State != chela.TurnAwaiting {
		t.Errorf("one result is there and the turn is %s", r.book.turn.State)
	}
	r.bring("", out[0])
	r.mustRun(chela.TurnCompleted)
	want := []string{
		"user: hi", "assistant: one", "tool_result: look did b (done)", "tool_result: write did c (done)",
		"tool_result: brought d (done)", "tool_result: brought a (done)", "assistant: there",
	}
	if diff := cmp.Diff(want, r.path()); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"look b", "write c"}, r.done()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// The model sees the agent's tools and the offers, the same in every run of
// the turn; an offer goes before a tool of its name.
func TestOffersInThePrompt(t *testing.T) {
	t.Parallel()
	r := newRig(t, say("one", "write a"), say("two", "write b"), say("there"))
	r.offer("theirs", "write")
	r.mustRun(chela.TurnAwaiting)
	r.bring("", r.handedOut()...)
	r.mustRun(chela.TurnAwaiting)
	m := chela.InboxMessage{ID: "in_2", Inbound: chela.Inbound{
		Results: []chela.OfferResult{result(r.handedOut()[0])}, Offers: []chela.ToolSpec{spec("other")},
	}}
	r.bringMessage(m)
	r.mustRun(chela.TurnCompleted)
	var seen [][]string
	for _, req := range r.model.requests {
		var names []string
		for _, tool := range req.Tools {
			names = append(names, tool.Name+": "+tool.Description)
		}
		seen = append(seen, names)
	}
	first := []string{"look: Does it.", "theirs: Does theirs.", "write: Does write."}
	want := [][]string{first, first, {"look: Does it.", "write: Does it.", "other: Does other."}}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if got := r.done(); len(got) != 0 {
		t.Errorf("ran %v, which is the sender's to run", got)
	}
}

// What the model can get wrong about an offered tool is told to it; the policy
// has no say in the rest.
func TestJudgingOfferedCalls(t *testing.T) {
	t.Parallel()
	calls := []chela.CallSpec{
		{Tool: "theirs", Args: json.RawMessage(`{"name":1}`)},
		{Tool: "theirs"},
		{Tool: "theirs", Args: json.RawMessage(`null`)},
		{Tool: "theirs", Args: json.RawMessage(`[1]`)},
		{Tool: "theirs", Raw: `{"name`},
		{Tool: "their", Args: json.RawMessage(`{}`)},
	}
	r := newRig(t, finish(chela.Finish{Calls: calls}), say("there"))
	r.offer("theirs")
	r.verdict = func(chela.ToolCall) turn.Ruling { return turn.Ruling{Verdict: chela.Deny, Reason: "never"} }
	r.mustRun(chela.TurnAwaiting)
	var args []string
	for _, c := range r.handedOut() {
		args = append(args, string(c.Args))
	}
	if diff := cmp.Diff([]string{`{"name":1}`, `{}`, `{}`}, args); diff != "" {
		t.Errorf("handed out (-want +got):\n%s", diff)
	}
	want := []string{
		"tool_result: not run: the arguments must be one JSON object (failed)",
		`tool_result: not run: the arguments are not valid JSON; send one JSON object: {"name (failed)`,
		`tool_result: not run: there is no tool called "their"; call one of the tools you were offered (failed)`,
	}
	if diff := cmp.Diff(want, r.path()[2:]); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// A question and offered calls in one step do not wait at the same time.
func TestQuestionBeforeOfferedCalls(t *testing.T) {
	t.Parallel()
	r := newRig(t, say("one", "theirs a", "write b"), say("there"))
	r.offer("theirs")
	r.verdict = askAbout("write")
	r.mustRun(chela.TurnAwaiting)
	if out := r.handedOut(); len(out) != 0 || r.book.state().Pending == nil {
		t.Fatalf("handed out while a person is asked: %+v", out)
	}
	r.answer(chela.ApprovalGranted)
	r.mustRun(chela.TurnAwaiting)
	r.bring("", r.handedOut()...)
	r.mustRun(chela.TurnCompleted)
}

// A text that comes with results supersedes what has none and follows them.
func TestTextWithResults(t *testing.T) {
	t.Parallel()
	r := newRig(t, say("one", "theirs a", "theirs b"), say("there"))
	r.offer("theirs")
	r.mustRun(chela.TurnAwaiting)
	r.bring("hurry", r.handedOut()[0])
	r.mustRun(chela.TurnCompleted)
	want := []string{
		"user: hi", "assistant: one", "tool_result: brought a (done)",
		"tool_result: skipped: superseded by a new message (skipped)", "user: hurry", "assistant: there",
	}
	if diff := cmp.Diff(want, r.path()); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestResultsThatAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, say("one", "theirs a", "theirs b", "look c"), say("there"))
	r.offer("theirs")
	r.mustRun(chela.TurnAwaiting)
	calls := r.book.calls
	r.bring("", calls[0])
	for _, c := range []struct {
		name    string
		results []chela.OfferResult
		want    chela.Kind
	}{
		{"unknown", []chela.OfferResult{{Call: "call_none"}}, chela.Invalid},
		{"unknown after a good one", []chela.OfferResult{result(calls[1]), {Call: "call_none"}}, chela.Invalid},
		{"brought before", []chela.OfferResult{result(calls[0])}, chela.Conflict},
		{"twice", []chela.OfferResult{result(calls[1]), result(calls[1])}, chela.Conflict},
		{"of our own", []chela.OfferResult{result(calls[2])}, chela.Conflict},
	} {
		m := chela.InboxMessage{ID: "in_2", Inbound: chela.Inbound{Results: c.results}}
		if _, err := turn.NewRunner(r.cfg).Bring(r.book.state(), m); chela.KindOf(err) != c.want {
			t.Errorf("%s: error %v, want kind %s", c.name, err, c.want)
		}
	}
}

func TestOfferedCallsThatAreGivenUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		end    func(r *rig)
		result string
	}{
		{"stopped", func(r *rig) {
			r.book.turn.Stop = true
			r.mustRun(chela.TurnInterrupted)
		}, "its result is no longer awaited: interrupted (skipped)"},
		{"superseded", func(r *rig) {
			r.book.apply(turn.NewRunner(r.cfg).Supersede(r.book.state()))
		}, "skipped: superseded by a new message (skipped)"},
		{"expired", func(r *rig) {
			r.book.apply(turn.NewRunner(r.cfg).Expire(r.book.state()))
		}, "no result arrived in time (failed)"},
		{"steered before they were handed out", func(r *rig) {
			r.book.turn.State, r.book.thread.State = chela.TurnProcessing, chela.ThreadProcessing
			r.book.inbox = []chela.InboxMessage{more("in_1", "stop that")}
			r.control.Steer()
			r.mustRun(chela.TurnCompleted)
		}, "skipped: superseded by a new message (skipped)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, say("one", "theirs a", "look b", "theirs c"), say("there"))
			r.offer("theirs")
			r.mustRun(chela.TurnAwaiting)
			r.bring("", r.handedOut()[0])
			c.end(r)
			if diff := cmp.Diff("tool_result: "+c.result, r.path()[4]); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if !r.book.turn.State.Ended() || r.book.thread.State == chela.ThreadAwaiting || len(r.handedOut()) != 0 {
				t.Errorf("the turn is %s, the thread %s, handed out %+v", r.book.turn.State, r.book.thread.State, r.handedOut())
			}
			if err := wellFormed(r.book.entries); err != nil {
				t.Error(err)
			}
		})
	}
}

// offerStory has every kind of append that comes with offered calls.
func offerStory(t *testing.T) *rig {
	r := newRig(t, say("one", "look a", "theirs b"), say("two", "theirs c", "write d", "theirs e"), say("three"))
	r.offer("theirs")
	return r
}

// playOffers runs the story to its end and brings what is waited for; runs that
// end with an error are begun again.
func (r *rig) playOffers() {
	r.Helper()
	for range 20 {
		r.control = &turn.Handle{}
		_, err := r.run()
		switch {
		case err != nil && !errors.Is(err, errFull):
			r.Fatal(err)
		case r.book.turn.State.Ended():
			return
		case r.book.turn.State == chela.TurnAwaiting:
			r.bring("", r.handedOut()[0])
		}
	}
	r.Fatalf("the turn does not end: %s", r.book.turn.State)
}

// Every append of a turn with offered calls fails in turn, before its commit
// and after: what the journal has is enough to come to the same end.
func TestAppendFailsAroundOffers(t *testing.T) {
	t.Parallel()
	whole := offerStory(t)
	whole.playOffers()
	for n := 1; n <= len(whole.book.ops); n++ {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("append %d %s late %t", n, whole.book.ops[n-1], late), func(t *testing.T) {
				t.Parallel()
				r := offerStory(t)
				r.book.late = late
				r.book.fail = func(i int, _ string) error {
					if i == n {
						return errFull
					}
					return nil
				}
				r.playOffers()
				want, got := whole.path(), r.path()
				for i, line := range got { // an effect under way is not repeated
					if strings.Contains(line, "may or may not have happened") {
						want[i] = line
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("entries (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// What was said before, elsewhere, is part of the prompt and no answer of the
// turn.
func TestHistoryIsNoAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, fails(errFull))
	before := []chela.Entry{
		{ID: "ent_a", Thread: "thr_1", Turn: "turn_1", Seq: 1, Body: chela.UserBody{Text: "first"}},
		{ID: "ent_b", Thread: "thr_1", Turn: "turn_1", Parent: "ent_a", Seq: 2, Body: chela.AnswerBody{Text: "second"}},
	}
	own := r.book.entries[0]
	own.Parent, own.Seq = "ent_b", 3
	r.book.entries, r.book.thread.Seq = append(before, own), 3
	r.book.turn.Origin.ReplyBy = chela.ReplyByOutbox
	r.mustRun(chela.TurnFailed)
	var roles []chela.Role
	for _, m := range r.model.requests[0].Messages {
		roles = append(roles, m.Role)
	}
	if diff := cmp.Diff([]chela.Role{chela.RoleUser, chela.RoleAssistant, chela.RoleUser}, roles); diff != "" {
		t.Errorf("prompt (-want +got):\n%s", diff)
	}
	if o := r.book.owed[0]; o.Entry != "" || o.Text == "second" {
		t.Errorf("the reply is what was said before: %+v", o)
	}
}
