package approval_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/engine/approval"
	"chela/internal/store"
)

// Each message that says what to mark makes one step with that call.
const markScenario = `
past_end: echo
turns:
  - {when: "/^mark a$/", steps: [{calls: [{tool: mark, args: {names: "a"}}]}, {text: "done"}]}
  - {when: "/^mark ab$/", steps: [{calls: [{tool: mark, args: {names: "ab"}}]}, {text: "done"}]}
  - {when: "/^mark a,b$/", steps: [{calls: [{tool: mark, args: {names: "a,b"}}]}, {text: "done"}]}
  - {when: "/^risk a$/", steps: [{calls: [{tool: risky, args: {names: "a"}}]}, {text: "done"}]}
  - when: "/^all$/"
    steps:
      - calls: [{tool: mark, args: {names: "a"}}, {tool: mark, args: {names: "b"}}, {tool: mark, args: {names: "c"}}]
      - text: "done"
`

// answer gives an answer that must be taken.
func (h *house) answer(r approval.Reply) chela.Approval {
	h.Helper()
	if r.ID == "" {
		r.ID = h.pending().ID
	}
	r.By = "test"
	a, err := h.approvals.Answer(h.Context(), r)
	if err != nil {
		h.Fatal(err)
	}
	return a
}

// asked says something and reports whether a person was asked.
func (h *house) asked(key chela.SessionKey, text string) bool {
	h.Helper()
	t := h.say(key, text)
	switch t.State {
	case chela.TurnAwaiting:
		return true
	case chela.TurnCompleted:
		return false
	}
	h.Fatalf("turn: %+v %+v", t, t.Failure)
	return false
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		reply approval.Reply
		state chela.ApprovalState
		want  string
	}{
		{"once", approval.Reply{Answer: chela.AnswerOnce}, chela.ApprovalGranted, "done: marked a"},
		{"session", approval.Reply{Answer: chela.AnswerSession}, chela.ApprovalGranted, "done: marked a"},
		{"exactly this", approval.Reply{Answer: chela.AnswerPattern}, chela.ApprovalGranted, "done: marked a"},
		{"pattern", approval.Reply{Answer: chela.AnswerPattern, Pattern: "mark a*"}, chela.ApprovalGranted, "done: marked a"},
		{"no", approval.Reply{Answer: chela.AnswerNo}, chela.ApprovalDenied, "denied: denied: the owner said no"},
		{
			"no with a reason",
			approval.Reply{Answer: chela.AnswerNo, Comment: "use b"},
			chela.ApprovalDenied,
			"denied: denied: the owner said no: use b",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			onBoth(t, markScenario, func(h *house) {
				if !h.asked(mainSession, "mark a") {
					h.Fatal("nobody is asked")
				}
				a := h.answer(c.reply)
				if a.State != c.state || a.Answer != c.reply.Answer || a.AnsweredBy != "test" || a.AnsweredAt.IsZero() {
					h.Errorf("approval: %+v", a)
				}
				if turn := h.rest(mainSession); turn.State != chela.TurnCompleted {
					h.Errorf("turn: %+v", turn)
				}
				if diff := cmp.Diff([]string{c.want}, h.results(mainSession)); diff != "" {
					h.Errorf("results (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]string{string(c.state)}, h.answers); diff != "" {
					h.Errorf("events (-want +got):\n%s", diff)
				}
				again := c.reply
				again.ID = a.ID
				if _, err := h.approvals.Answer(h.Context(), again); chela.KindOf(err) != chela.Conflict {
					h.Errorf("answered twice: error %v, want a conflict", err)
				}
			})
		})
	}
}

func TestAnswersThatAreRefused(t *testing.T) {
	t.Parallel()
	onBoth(t, markScenario, func(h *house) {
		h.asked(mainSession, "mark a")
		id := h.pending().ID
		pattern := func(p string) approval.Reply { return approval.Reply{ID: id, Answer: chela.AnswerPattern, Pattern: p} }
		for name, c := range map[string]struct {
			reply approval.Reply
			want  chela.Kind
			text  string // part of the message
		}{
			"no such question":              {approval.Reply{ID: "apr_none", Answer: chela.AnswerOnce}, chela.NotFound, ""},
			"no such answer":                {approval.Reply{ID: id, Answer: "maybe"}, chela.Invalid, "is not an answer"},
			"no answer":                     {approval.Reply{ID: id}, chela.Invalid, "is not an answer"},
			"pattern that does not fit":     {pattern("mark b*"), chela.Invalid, "does not match any part"},
			"pattern for any program":       {pattern("*"), chela.Invalid, "covers too much"},
			"pattern for many programs":     {pattern("m*"), chela.Invalid, "covers too much"},
			"pattern that only begins well": {pattern("mark aa*"), chela.Invalid, "does not match any part"},
		} {
			if _, err := h.approvals.Answer(h.Context(), c.reply); chela.KindOf(err) != c.want || !strings.Contains(err.Error(), c.text) {
				h.Errorf("%s: error %v, want kind %s and %q", name, err, c.want, c.text)
			}
		}
		if got := h.pending().State; got != chela.ApprovalPending {
			h.Errorf("the question is %s after answers that were refused", got)
		}
		h.answer(approval.Reply{Answer: chela.AnswerOnce})
		h.rest(mainSession)
		if h.asked(mainSession, "mark a"); len(h.marks()) != 1 {
			h.Errorf("marks: %v", h.marks())
		}
	})
}

// TestMessageAnswersOnce takes a message for one answer: delivered again, it leaves
// the next question as it is.
func TestMessageAnswersOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, markScenario, func(h *house) {
		said := chela.InboxMessage{ID: h.ids.Inbox(), CreatedAt: h.now(), Inbound: chela.Inbound{
			Session: mainSession, Agent: "main", Origin: chela.Origin{Channel: "test", Owner: true}, MessageID: "yes", Text: "yes",
		}}
		h.asked(mainSession, "mark a")
		h.answer(approval.Reply{Answer: chela.AnswerOnce, Message: &said})
		h.rest(mainSession)
		h.asked(mainSession, "mark ab")
		said.ID = h.ids.Inbox()
		again := approval.Reply{ID: h.pending().ID, Answer: chela.AnswerOnce, By: "test", Message: &said}
		if _, err := h.approvals.Answer(h.Context(), again); chela.KindOf(err) != chela.Conflict {
			h.Errorf("answered by the same message: error %v, want a conflict", err)
		}
		if got := h.pending().ID; got != again.ID {
			h.Errorf("the question %s waits, want %s", got, again.ID)
		}
		if diff := cmp.Diff([]string{"a"}, h.marks()); diff != "" {
			h.Errorf("marks (-want +got):\n%s", diff)
		}
	})
}

// A call that is asked about every time takes no "always": nothing would be
// granted, and the person would believe that something was.
func TestAlwaysIsRefusedForARisk(t *testing.T) {
	t.Parallel()
	onBoth(t, markScenario, func(h *house) {
		h.asked(mainSession, "risk a")
		a := h.pending()
		if a.Always() != "" {
			h.Errorf("always would allow %s", a.Always())
		}
		if _, err := h.approvals.Answer(h.Context(), approval.Reply{ID: a.ID, Answer: chela.AnswerSession}); chela.KindOf(err) != chela.Invalid {
			h.Errorf("always: error %v, want an Invalid one", err)
		}
		if got := h.pending().State; got != chela.ApprovalPending || len(h.marks()) > 0 {
			h.Errorf("the question is %s, marks %v", got, h.marks())
		}
		h.answer(approval.Reply{Answer: chela.AnswerNo})
		h.rest(mainSession)
	})
}

// What "always" grants is what the question said, for its session alone.
func TestAlwaysGrantsWhatWasOffered(t *testing.T) {
	t.Parallel()
	onBoth(t, markScenario, func(h *house) {
		h.asked(mainSession, "mark a,b")
		if got := h.pending().Always(); got != "exactly mark a, exactly mark b" {
			h.Errorf("always would allow %s", got)
		}
		a := h.answer(approval.Reply{Answer: chela.AnswerSession})
		h.rest(mainSession)
		h.read(func(ctx context.Context, r *store.Read) error {
			grants, err := r.Grants(ctx, "", "")
			var got []chela.Grant
			for _, g := range grants {
				got = append(got, chela.Grant{Session: g.Session, Tool: g.Tool, Pattern: g.Pattern, Literal: g.Literal, Approval: g.Approval})
			}
			slices.SortFunc(got, func(a, b chela.Grant) int { return strings.Compare(a.Pattern, b.Pattern) })
			want := []chela.Grant{
				{Session: mainSession, Tool: "mark", Pattern: "mark a", Literal: true, Approval: a.ID},
				{Session: mainSession, Tool: "mark", Pattern: "mark b", Literal: true, Approval: a.ID},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				h.Errorf("grants (-want +got):\n%s", diff)
			}
			return err
		})
		if a.Pattern != "mark a\nmark b" {
			h.Errorf("the answer says %q", a.Pattern)
		}
	})
}

// Of 16 answers at once one wins, and the call runs once or not at all.
func TestOneAnswerWins(t *testing.T) {
	t.Parallel()
	onBoth(t, markScenario, func(h *house) {
		h.asked(mainSession, "mark a")
		id := h.pending().ID
		var wait sync.WaitGroup
		won := make(chan chela.Approval, 16)
		for i := range 16 {
			answer := []chela.Answer{chela.AnswerOnce, chela.AnswerNo, chela.AnswerSession, chela.AnswerPattern}[i%4]
			wait.Go(func() {
				a, err := h.approvals.Answer(h.Context(), approval.Reply{ID: id, Answer: answer, By: "test"})
				switch {
				case err == nil:
					won <- a
				case chela.KindOf(err) != chela.Conflict:
					h.Errorf("answer: %v", err)
				}
			})
		}
		wait.Wait()
		if len(won) != 1 {
			h.Fatalf("%d answers won", len(won))
		}
		h.rest(mainSession)
		want := 0
		if (<-won).State == chela.ApprovalGranted {
			want = 1
		}
		if got := len(h.marks()); got != want {
			h.Errorf("the call ran %d times, want %d", got, want)
		}
	})
}

// What a standing answer covers is not asked about again.
func TestStandingAnswers(t *testing.T) {
	t.Parallel()
	const other chela.SessionKey = "agent:main:dm:ann"
	type next struct {
		key  chela.SessionKey
		text string
		want bool // asked
	}
	for _, c := range []struct {
		name  string
		first string
		reply approval.Reply
		then  []next
	}{
		{"once", "mark a", approval.Reply{Answer: chela.AnswerOnce}, []next{{mainSession, "mark a", true}}},
		{
			"session", "mark a",
			approval.Reply{Answer: chela.AnswerSession},
			[]next{{mainSession, "mark a", false}, {mainSession, "mark ab", true}, {other, "mark a", true}},
		},
		{"session with another tool", "mark a", approval.Reply{Answer: chela.AnswerSession}, []next{{mainSession, "risk a", true}}},
		{"pattern and a risk", "risk a", approval.Reply{Answer: chela.AnswerPattern}, []next{{mainSession, "risk a", false}}},
		{
			"pattern", "mark a",
			approval.Reply{Answer: chela.AnswerPattern, Pattern: "mark a*"},
			[]next{{mainSession, "mark ab", false}, {other, "mark a", false}, {other, "mark a,b", true}},
		},
		{"exactly this", "mark a", approval.Reply{Answer: chela.AnswerPattern}, []next{{mainSession, "mark a", false}, {mainSession, "mark ab", true}}},
		{"every subject", "mark a,b", approval.Reply{Answer: chela.AnswerPattern}, []next{{mainSession, "mark a,b", false}, {mainSession, "mark ab", true}}},
		{"no", "mark a", approval.Reply{Answer: chela.AnswerNo}, []next{{mainSession, "mark a", true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			onBoth(t, markScenario, func(h *house) {
				h.asked(mainSession, c.first)
				h.answer(c.reply)
				h.rest(mainSession)
				for _, n := range c.then {
					if got := h.asked(n.key, n.text); got != n.want {
						h.Errorf("%s in %s is asked about: %t, want %t", n.text, n.key, got, n.want)
					}
				}
			})
		})
	}
}

// Calls of one step are asked about one after the other; those behind a
// question wait, and go on exactly there.
func TestQuestionsOfOneStep(t *testing.T) {
	t.Parallel()
	onBoth(t, markScenario, func(h *house) {
		h.asked(mainSession, "all")
		for _, c := range []struct {
			subject string
			marks   []string // so far
			answer  chela.Answer
		}{{"mark a", nil, chela.AnswerOnce}, {"mark b", []string{"a"}, chela.AnswerNo}, {"mark c", []string{"a"}, chela.AnswerOnce}} {
			a := h.pending()
			if diff := cmp.Diff([]string{c.subject}, a.Subjects); diff != "" {
				h.Errorf("subjects (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.marks, h.marks()); diff != "" {
				h.Errorf("marks before the answer about %s (-want +got):\n%s", c.subject, diff)
			}
			h.answer(approval.Reply{Answer: c.answer})
			h.rest(mainSession)
		}
		if diff := cmp.Diff([]string{"done: marked a", "denied: denied: the owner said no", "done: marked c"}, h.results(mainSession)); diff != "" {
			h.Errorf("results (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"a", "c"}, h.marks()); diff != "" {
			h.Errorf("marks (-want +got):\n%s", diff)
		}
	})
}

func TestSweepExpires(t *testing.T) {
	t.Parallel()
	onBoth(t, markScenario, func(h *house) {
		h.asked(mainSession, "mark a")
		id := h.pending().ID
		h.sweep()
		if got := h.pending().State; got != chela.ApprovalPending {
			h.Fatalf("the question is %s before its time", got)
		}
		h.later(time.Hour + time.Second)
		h.sweep()
		h.sweep() // finds nothing
		h.checkExpired(id)
		if _, err := h.approvals.Answer(h.Context(), approval.Reply{ID: id, Answer: chela.AnswerOnce}); chela.KindOf(err) != chela.Conflict {
			h.Errorf("answered after it expired: error %v, want a conflict", err)
		}
	})
}

func (h *house) sweep() {
	h.Helper()
	if err := h.approvals.Sweep(h.Context()); err != nil {
		h.Fatal(err)
	}
}

// checkExpired fails unless a question has expired and its call was denied.
func (h *house) checkExpired(id chela.ApprovalID) {
	h.Helper()
	if turn := h.rest(mainSession); turn.State != chela.TurnCompleted {
		h.Errorf("turn: %+v", turn)
	}
	h.read(func(ctx context.Context, r *store.Read) error {
		a, err := r.Approval(ctx, id)
		if a.State != chela.ApprovalExpired || a.Answer != "" {
			h.Errorf("approval: %+v", a)
		}
		return err
	})
	if diff := cmp.Diff([]string{"denied: denied: the approval timed out"}, h.results(mainSession)); diff != "" || len(h.marks()) > 0 {
		h.Errorf("marks %v, results (-want +got):\n%s", h.marks(), diff)
	}
}

// A yes that comes too late is none, and whoever said it is told so.
func TestLateAnswerExpires(t *testing.T) {
	t.Parallel()
	onBoth(t, markScenario, func(h *house) {
		h.asked(mainSession, "mark a")
		id := h.pending().ID
		h.later(time.Hour + time.Second)
		_, err := h.approvals.Answer(h.Context(), approval.Reply{ID: id, Answer: chela.AnswerSession, By: "test"})
		if chela.KindOf(err) != chela.Conflict {
			h.Errorf("error %v, want a conflict", err)
		}
		h.checkExpired(id)
		if !h.asked(mainSession, "mark a") {
			h.Error("a late answer left a standing one")
		}
	})
}

// An approval is bound to the call it was given for.
func TestChangedCallIsRefused(t *testing.T) {
	t.Parallel()
	onBoth(t, markScenario, func(h *house) {
		h.asked(mainSession, "mark a")
		a := h.pending()
		ctx := h.Context()
		err := h.store.Write(ctx, "test", func(w *store.Write) error {
			c, err := w.Call(ctx, a.Call)
			if err != nil {
				return err
			}
			c.Args = json.RawMessage(`{"names":"b"}`)
			return w.MoveCall(ctx, c, c.State)
		})
		if err != nil {
			h.Fatal(err)
		}
		for _, answer := range []chela.Answer{chela.AnswerOnce, chela.AnswerSession, chela.AnswerPattern} {
			if _, err := h.approvals.Answer(ctx, approval.Reply{ID: a.ID, Answer: answer}); chela.KindOf(err) != chela.Conflict {
				h.Errorf("%s: error %v, want a conflict", answer, err)
			}
		}
		if len(h.marks()) > 0 {
			h.Errorf("marks: %v", h.marks())
		}
		h.answer(approval.Reply{Answer: chela.AnswerNo}) // as the hint says
		h.rest(mainSession)
	})
}

// A call does not run if its directory changed between the question and the answer;
// the model is told, and its next call is asked about.
func TestChangedDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	scenario := `
turns:
  - steps: [{calls: [{tool: mark, args: {names: "a"}}]}, {calls: [{tool: mark, args: {names: "a"}}]}, {text: "done"}]
`
	onBoth(t, scenario, func(h *house) {
		h.asked(mainSession, "mark a")
		h.mu.Lock()
		h.folder = "/elsewhere"
		h.mu.Unlock()
		h.answer(approval.Reply{Answer: chela.AnswerOnce})
		if turn := h.rest(mainSession); turn.State != chela.TurnAwaiting || len(h.marks()) > 0 {
			h.Fatalf("turn %+v, marks %v", turn, h.marks())
		}
		h.answer(approval.Reply{Answer: chela.AnswerOnce})
		h.rest(mainSession)
		want := []string{
			"denied: not run: the owner approved this call, and it would now run otherwise than shown then (changed: directory); " +
				"make the call again, and the owner is asked about it as it is now",
			"done: marked a",
		}
		if diff := cmp.Diff(want, h.results(mainSession)); diff != "" {
			h.Errorf("results (-want +got):\n%s", diff)
		}
	})
}

func TestStopWithdraws(t *testing.T) {
	t.Parallel()
	onBoth(t, markScenario, func(h *house) {
		h.asked(mainSession, "mark a")
		a := h.pending()
		if err := h.lanes.Stop(h.Context(), a.Turn); err != nil {
			h.Fatal(err)
		}
		if turn := h.rest(mainSession); turn.State != chela.TurnInterrupted {
			h.Errorf("turn: %+v", turn)
		}
		if _, err := h.approvals.Answer(h.Context(), approval.Reply{ID: a.ID, Answer: chela.AnswerOnce}); chela.KindOf(err) != chela.Conflict {
			h.Errorf("error %v, want a conflict", err)
		}
		if len(h.marks()) > 0 {
			h.Errorf("marks: %v", h.marks())
		}
	})
}
