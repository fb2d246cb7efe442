package turn_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"chela"
	"chela/internal/engine/turn"
	"chela/internal/engine/turn/machine"
)

// A turn that dies again and again comes to the transcript of one that does
// not, and no effect happens twice unless it may be repeated.
func TestRunsThatDie(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := newRig(t, drawSteps(rt)...)
		r.tools = append(r.tools, r.tool("again", chela.Judgement{Effect: chela.EffectWrite, Resume: chela.ResumeRepeat}))
		r.tools = append(r.tools, r.tool("asked", chela.Judgement{Effect: chela.EffectExecute}))
		r.verdict = askAbout("asked")
		r.offer("theirs")
		r.book.fail = func(_ int, op string) error {
			r.book.late = rapid.Bool().Draw(rt, "after the commit")
			if rapid.IntRange(1, 5).Draw(rt, op) == 5 {
				return errDied
			}
			return nil
		}
		runUntilEnd(rt, r)
		checkOutcome(rt, r)
	})
}

// drawSteps returns up to four steps with calls, each with a name of its own,
// and a last one without.
func drawSteps(t *rapid.T) []step {
	var steps []step
	for n := range rapid.IntRange(0, 4).Draw(t, "steps") {
		var calls []string
		for i := range rapid.IntRange(1, 4).Draw(t, "calls") {
			tool := rapid.SampledFrom([]string{"look", "write", "again", "asked", "theirs", "nothing"}).Draw(t, "tool")
			calls = append(calls, fmt.Sprintf("%s %d.%d", tool, n, i))
		}
		steps = append(steps, say(fmt.Sprint("step ", n), calls...))
	}
	return append(steps, say("there"))
}

// runUntilEnd begins runs, each with what the journal has, and answers the
// questions and brings the results in between.
func runUntilEnd(t *rapid.T, r *rig) {
	for range 500 {
		r.control = &turn.Handle{}
		_, err := r.run()
		if err != nil && !errors.Is(err, errDied) {
			t.Fatalf("run: %v", err)
		}
		if r.book.turn.State.Ended() {
			return
		}
		if err == nil && r.book.turn.State != chela.TurnAwaiting {
			t.Fatalf("a run ended and the turn is %s", r.book.turn.State)
		}
		switch s := r.book.state(); {
		case s.Turn.State != chela.TurnAwaiting:
		case s.Pending == nil:
			out := s.HandedOut()
			r.bring("", out[:rapid.IntRange(1, len(out)).Draw(t, "results")]...)
		default:
			r.book.apply(r.book.answer(rapid.SampledFrom([]chela.ApprovalState{chela.ApprovalGranted, chela.ApprovalDenied}).Draw(t, "answer")))
		}
	}
	t.Fatalf("the turn does not end: %s", r.book.turn.State)
}

// checkOutcome compares the transcript with the steps, and with what the tools
// did.
func checkOutcome(t *rapid.T, r *rig) {
	if err := wellFormed(r.book.entries); err != nil {
		t.Fatal(err)
	}
	if n := len(r.model.steps); r.book.turn.State != chela.TurnCompleted || r.book.turn.Steps != n || len(r.book.usage) != n {
		t.Fatalf("the turn is %s after %d steps with %d ledger rows, want %d: %+v",
			r.book.turn.State, r.book.turn.Steps, len(r.book.usage), n, r.book.turn.Failure)
	}
	done := r.done()
	for _, c := range r.book.calls {
		times := len(slices.DeleteFunc(slices.Clone(done), func(did string) bool { return did != c.Tool+" "+nameOf(c) }))
		least, most := limitsOf(c)
		if times < least || times > most {
			t.Errorf("%s %s is %s and was run %d times, want %d to %d", c.Tool, nameOf(c), c.State, times, least, most)
		}
		if c.Tool == "theirs" && c.State != chela.CallDone {
			t.Errorf("call %s %s is %s, and its result was brought", c.Tool, nameOf(c), c.State)
		}
		result := slices.IndexFunc(r.book.entries, func(e chela.Entry) bool { return e.Result().Call == c.ID })
		if result < 0 || r.book.entries[result].Result().Status != c.State {
			t.Errorf("call %s is %s and has the result %d", c.ID, c.State, result)
		}
	}
}

// limitsOf returns how often a call may have run.
func limitsOf(c chela.ToolCall) (least, most int) {
	if c.State == chela.CallDone {
		least = 1
	}
	switch {
	case c.State == chela.CallDenied || c.Tool == "nothing" || c.Tool == "theirs":
		return 0, 0
	case c.Tool == "look" || c.Tool == "again":
		return least, 1000
	default:
		return least, 1
	}
}

// Resuming keeps what the journal holds and nothing else.
func TestResumeIgnoresOtherTurns(t *testing.T) {
	t.Parallel()
	r := newRig(t, say("one", "look a"), say("there"))
	r.mustRun(chela.TurnCompleted)
	next := chela.Turn{ID: "turn_2", Session: r.book.turn.Session, Thread: "thr_1", State: chela.TurnProcessing}
	asked := chela.Entry{ID: "ent_x", Thread: "thr_1", Parent: r.book.thread.Head, Turn: next.ID, Seq: r.book.thread.Seq + 1, Body: chela.UserBody{}}
	s := machine.Fold(r.book.state(), machine.Change{Turn: &next, Entries: []chela.Entry{asked}})
	if s.Last != chela.EntryUser || len(s.Calls) != 0 || s.Answer.Text != "" || s.Pending != nil {
		t.Errorf("the new turn knows of the old one: %+v", s)
	}
	if n := len(s.Conversation.Messages); n != 5 {
		t.Errorf("the conversation has %d messages, want 5", n)
	}
	if s.Thread.Head != "ent_x" || s.Thread.Seq != asked.Seq {
		t.Errorf("the thread is at %s, %d", s.Thread.Head, s.Thread.Seq)
	}
}
