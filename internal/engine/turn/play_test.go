package turn_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"chela"
	"chela/internal/engine/turn"
	"chela/internal/engine/turn/machine"
	"chela/internal/platform/local"
)

// A play performs a turn on paper: what the model answers, what the policy
// says, how tools end, who stops the turn, who says more and when the process
// dies is drawn.
type play struct {
	t      *rapid.T
	book   *book
	state  machine.State
	facts  machine.Facts
	seen   map[string]string // actions by the state and facts they were chosen for
	ids    int
	spoken int // messages that came while the turn ran
}

func newPlay(t *rapid.T) *play {
	p := &play{t: t, book: newBook("hi"), seen: map[string]string{}}
	p.facts.Limits.Steps = rapid.IntRange(1, 6).Draw(t, "limit")
	p.facts.Limits.Guard = machine.GuardLimits{
		Repeats: rapid.IntRange(0, 2).Draw(t, "repeats"), Idle: rapid.IntRange(0, 2).Draw(t, "idle"), Nudges: rapid.IntRange(0, 1).Draw(t, "nudges"),
	}
	p.facts.Tools = []chela.ToolSpec{{Name: "drawn"}}
	p.drawRoom()
	p.state = p.book.state()
	return p
}

// chance is true once in n draws; the smallest example has none.
func (p *play) chance(n int, what string) bool {
	return rapid.IntRange(1, n).Draw(p.t, what) == n
}

func (p *play) id(prefix string) string {
	p.ids++
	return fmt.Sprintf("%s_%d", prefix, p.ids)
}

// run performs actions until the turn ends and reports how many there were.
func (p *play) run() int {
	for n := 1; ; n++ {
		p.outside()
		a := machine.Next(p.state.Clone(), p.facts)
		p.once(a)
		if a.Kind == machine.Done {
			return n
		}
		if p.perform(a) {
			p.crash()
		}
		if diff := cmp.Diff(p.book.state(), p.state, cmpopts.EquateEmpty()); diff != "" {
			p.t.Fatalf("the rows and the folded changes differ after %s (-rows +folded):\n%s", a.Kind, diff)
		}
	}
}

// once fails if an action was chosen for a state in which one was chosen
// before.
func (p *play) once(a machine.Action) {
	key, err := json.Marshal([]any{p.state, p.facts})
	if err != nil {
		p.t.Fatal(err)
	}
	if before, ok := p.seen[string(key)]; ok {
		p.t.Fatalf("%s is chosen for a state that %s led back to: %s", a.Kind, before, key)
	}
	p.seen[string(key)] = string(a.Kind)
}

// outside draws what happens beside the turn before its next action.
func (p *play) outside() {
	if p.state.Turn.State.Ended() {
		return
	}
	switch {
	case p.chance(12, "crash"):
		p.crash()
	case p.chance(24, "stop"):
		p.facts.Stop = true
	case p.chance(24, "time is up"):
		p.facts.TimeUp = true
	case p.spoken < 3 && p.chance(8, "message"):
		p.spoken++
		p.book.inbox = append(p.book.inbox, chela.InboxMessage{ID: chela.InboxID(p.id("in")), State: chela.InboxWaiting})
		p.facts.Steering = true
	}
}

// crash forgets everything but the rows, and counts, as a lane does.
func (p *play) crash() {
	f := p.facts
	p.facts = machine.Facts{
		Limits: f.Limits, Tools: f.Tools, Steering: f.Steering, Budget: f.Budget, Compacts: f.Compacts, Flushes: f.Flushes,
	}
	p.state = p.book.state()
	if p.state.Turn.State != chela.TurnProcessing {
		return // nobody ran it
	}
	t := p.state.Turn
	t.Crashes++
	p.commit(machine.Change{Turn: &t})
}

// commit fills in what the journal has, appends a change and folds it.
func (p *play) commit(ch machine.Change) {
	th := p.book.thread
	if ch.Thread != nil {
		th.State = ch.Thread.State
	}
	for i := range ch.Entries {
		e := &ch.Entries[i]
		e.ID, e.Thread, e.Turn = chela.EntryID(p.id("entry")), th.ID, p.book.turn.ID
		e.Parent, e.Seq = th.Head, th.Seq+1
		th.Head, th.Seq = e.ID, e.Seq
		p.size(e)
	}
	ch.Thread = nil
	if th != p.book.thread {
		ch.Thread, ch.ThreadFrom = &th, p.book.thread
	}
	ch.TurnFrom = p.book.turn.State
	for i, m := range ch.Calls {
		for _, c := range p.book.calls {
			if c.ID == m.Call.ID {
				ch.Calls[i].From = c.State
			}
		}
	}
	if err := p.book.Append(p.t.Context(), "play", ch); err != nil {
		p.t.Fatal(err)
	}
	p.state = machine.Fold(p.state, ch)
}

// perform carries out an action. It reports whether the process died in it.
func (p *play) perform(a machine.Action) (crashed bool) {
	switch a.Kind {
	case machine.CallModel:
		p.callModel(a)
	case machine.Judge:
		p.judge(a.Calls)
	case machine.RunTools:
		return p.runTools(a.Calls)
	case machine.Resolve:
		p.commit(p.results(a.Calls, chela.CallDone, chela.CallFailed, chela.CallUnknown))
	case machine.Compact:
		p.compact(a.Plan)
	case machine.Absorb:
		p.absorb()
	case machine.Ask:
		p.ask(a.Calls[0])
	case machine.HandOut:
		p.handOut(a.Calls)
	case machine.Wait:
		if p.state.Pending == nil {
			p.bring()
		} else {
			p.answer()
		}
	case machine.Finish:
		p.finish(a)
	default:
		p.t.Fatalf("nobody can perform %q", a.Kind)
	}
	return false
}

func (p *play) callModel(a machine.Action) {
	if p.chance(10, "model fails") {
		p.facts.Failure = &chela.Failure{Kind: chela.Unavailable, Message: "drawn"}
		return
	}
	if p.chance(12, "the provider refuses the prompt") {
		p.facts.Refused = &chela.Failure{Kind: chela.Invalid, Limit: chela.LimitPrompt, Message: "drawn"}
		return
	}
	p.facts.Tried = ""
	var ch machine.Change
	if a.Note != "" {
		ch.Entries = append(ch.Entries, chela.Entry{Body: chela.NoteBody{Text: a.Note, Mark: chela.Mark{Note: a.About}}})
	}
	t := p.state.Turn
	t.Steps++
	body := chela.AnswerBody{Text: rapid.SampledFrom([]string{"said", "", "drawn({})"}).Draw(p.t, "text"), Model: t.Model}
	body.Mark = p.mark(p.state.Flush.On || a.About == chela.NoteFlush)
	for i := range rapid.IntRange(0, 4).Draw(p.t, "calls") {
		spec := chela.CallSpec{ID: chela.CallID(p.id("call")), Tool: "drawn"}
		body.Calls = append(body.Calls, spec)
		ch.Calls = append(ch.Calls, machine.CallMove{Call: chela.ToolCall{
			ID: spec.ID, Turn: t.ID, Thread: t.Thread, Session: t.Session, Step: t.Steps, Index: i, Tool: spec.Tool, State: chela.CallRequested,
		}})
	}
	ch.Turn = &t
	ch.Entries = append(ch.Entries, chela.Entry{Body: body})
	p.commit(ch)
}

func (p *play) judge(calls []chela.ToolCall) {
	var ch machine.Change
	for _, c := range calls {
		if p.chance(3, "offered") {
			c.State, c.Resume = chela.CallApproved, chela.ResumeWait
			ch.Calls = append(ch.Calls, machine.CallMove{Call: c})
			continue
		}
		c.State = rapid.SampledFrom([]chela.CallState{
			chela.CallApproved, chela.CallAwaiting, chela.CallDenied, chela.CallFailed, chela.CallSkipped,
		}).Draw(p.t, "verdict")
		c.Effect = rapid.SampledFrom([]chela.Effect{chela.EffectRead, chela.EffectWrite, chela.EffectExecute}).Draw(p.t, "effect")
		ch.Calls = append(ch.Calls, machine.CallMove{Call: c})
	}
	p.commit(ch)
}

// results ends calls that have not ended, each in a state that is drawn, and
// answers all of them.
func (p *play) results(calls []chela.ToolCall, endings ...chela.CallState) machine.Change {
	var ch machine.Change
	for _, c := range calls {
		if !c.State.Ended() {
			c.State = rapid.SampledFrom(endings).Draw(p.t, "ending")
			ch.Calls = append(ch.Calls, machine.CallMove{Call: c})
		}
		ch.Entries = append(ch.Entries, chela.Entry{Body: chela.ResultBody{Call: c.ID, Tool: c.Tool, Status: c.State, Mark: p.mark(p.state.Flush.On)}})
	}
	return ch
}

func (p *play) runTools(calls []chela.ToolCall) (crashed bool) {
	effect := slices.ContainsFunc(calls, func(c chela.ToolCall) bool { return !c.State.Ended() && c.Effect != chela.EffectRead })
	endings := []chela.CallState{chela.CallDone, chela.CallFailed}
	if effect {
		if len(calls) != 1 {
			p.t.Fatalf("a call with an effect is in a batch: %+v", calls)
		}
		calls[0].State = chela.CallRunning
		p.commit(machine.Change{Calls: []machine.CallMove{{Call: calls[0]}}})
		endings = append(endings, chela.CallUnknown)
	}
	if p.chance(8, "crash in a tool") {
		return true
	}
	p.commit(p.results(calls, endings...))
	return false
}

func (p *play) absorb() {
	ch := p.results(p.open(), chela.CallSkipped)
	for _, m := range p.book.inbox {
		if m.State == chela.InboxWaiting {
			m.State, m.Turn = chela.InboxTaken, p.state.Turn.ID
			ch.Absorbed = append(ch.Absorbed, m)
			ch.Entries = append(ch.Entries, chela.Entry{Body: chela.UserBody{Text: "more", Inbox: m.ID}})
		}
	}
	p.facts.Steering = false
	p.commit(ch)
}

func (p *play) open() (open []chela.ToolCall) {
	for _, c := range p.state.Calls {
		if !c.Answered {
			open = append(open, c.ToolCall)
		}
	}
	return open
}

func (p *play) ask(c chela.ToolCall) {
	if p.chance(4, "allowed meanwhile") {
		c.State = chela.CallApproved
		p.commit(machine.Change{Calls: []machine.CallMove{{Call: c}}})
		return
	}
	t := p.state.Turn
	t.State = chela.TurnAwaiting
	p.commit(machine.Change{
		Turn: &t, Thread: &chela.Thread{State: chela.ThreadAwaiting},
		Approvals: []chela.Approval{{ID: chela.ApprovalID(p.id("apr")), Call: c.ID, State: chela.ApprovalPending}},
	})
}

// answer is what ends the wait for a person.
func (p *play) answer() {
	to := rapid.SampledFrom([]chela.ApprovalState{
		chela.ApprovalGranted, chela.ApprovalDenied, chela.ApprovalExpired, chela.ApprovalWithdrawn,
	}).Draw(p.t, "answer")
	if to != chela.ApprovalWithdrawn {
		p.commit(p.book.answer(to))
		return
	}
	t := p.state.Turn // somebody stops the turn
	t.State, t.Stop = chela.TurnProcessing, true
	p.commit(machine.Change{Turn: &t, Thread: &chela.Thread{State: chela.ThreadProcessing}})
}

func (p *play) handOut(calls []chela.ToolCall) {
	t := p.state.Turn
	t.State = chela.TurnAwaiting
	ch := machine.Change{Turn: &t, Thread: &chela.Thread{State: chela.ThreadAwaiting}}
	for _, c := range calls {
		if c.Resume != chela.ResumeWait || c.State.Ended() {
			p.t.Fatalf("a call is handed out that is not the sender's: %+v", c)
		}
		c.State = chela.CallRunning
		ch.Calls = append(ch.Calls, machine.CallMove{Call: c})
	}
	p.commit(ch)
}

// bring is what ends the wait for results of offered tools, or a part of it.
func (p *play) bring() {
	runner := turn.NewRunner(turn.Config{Process: local.Process{IDs: chela.NewIDs(time.Now, &counting{}), Now: time.Now}})
	s := p.state.Clone()
	switch out := s.HandedOut(); {
	case len(out) == 0:
		p.t.Fatalf("the turn waits for nothing: %+v", s.Calls)
	case p.chance(6, "superseded"):
		p.commit(runner.Supersede(s))
	case p.chance(6, "expired"):
		p.commit(runner.Expire(s))
	case p.chance(6, "stopped while waiting"):
		s.Turn.State, s.Turn.Stop = chela.TurnProcessing, true
		p.commit(machine.Change{Turn: &s.Turn, Thread: &chela.Thread{State: chela.ThreadProcessing}})
	default:
		m := chela.InboxMessage{Inbound: chela.Inbound{Text: rapid.SampledFrom([]string{"", "more"}).Draw(p.t, "text")}}
		for _, c := range out[:rapid.IntRange(1, len(out)).Draw(p.t, "results")] {
			m.Results = append(m.Results, chela.OfferResult{Call: c.ID, Text: "brought", Failed: rapid.Bool().Draw(p.t, "failed")})
		}
		ch, err := runner.Bring(s, m)
		if err != nil {
			p.t.Fatal(err)
		}
		p.commit(ch)
	}
}

func (p *play) finish(a machine.Action) {
	var ch machine.Change
	for _, c := range p.open() {
		ending := chela.CallSkipped
		if c.State == chela.CallRunning && c.Resume != chela.ResumeWait { // only a turn that is given up leaves one
			ending = chela.CallUnknown
		}
		one := p.results([]chela.ToolCall{c}, ending)
		ch.Calls, ch.Entries = append(ch.Calls, one.Calls...), append(ch.Entries, one.Entries...)
	}
	if p.state.Pending != nil {
		a := *p.state.Pending
		a.State = chela.ApprovalWithdrawn
		ch.Approvals = []chela.Approval{a}
	}
	t := p.state.Turn
	t.State, t.Failure = a.Ending, a.Failure
	ch.Turn, ch.Thread = &t, &chela.Thread{State: chela.ThreadIdle}
	p.commit(ch)
}

func TestPlay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := newPlay(t)
		n := p.run()
		// A step takes at most the model, a judgement, and for each of 4 calls
		// a question, a wait and a run; messages and crashes repeat a step.
		if most := 30 * (p.facts.Limits.Steps + p.spoken + machine.MaxCrashes); n > most {
			t.Errorf("the turn took %d actions, at most %d are needed", n, most)
		}
		for _, c := range p.state.Calls {
			if !c.Answered {
				t.Errorf("the turn ended %s and call %s (%s) has no result", p.state.Turn.State, c.ID, c.State)
			}
		}
		checkFolding(t, p.book.changes)
	})
}

// checkFolding folds changes from a checkpoint out of rows: one by one, and
// joined.
func checkFolding(t *rapid.T, changes []machine.Change) {
	at := rapid.IntRange(0, len(changes)).Draw(t, "checkpoint")
	to := rapid.IntRange(at, len(changes)).Draw(t, "end")
	rows := newBook("hi")
	for _, ch := range changes[:at] {
		rows.apply(ch)
	}
	single := rows.state()
	joined := machine.Fold(rows.state(), join(changes[at:to]))
	for _, ch := range changes[at:to] {
		single = machine.Fold(single, ch)
		rows.apply(ch)
	}
	if diff := cmp.Diff(single, joined, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("folded one by one and joined (-one by one +joined):\n%s", diff)
	}
	if diff := cmp.Diff(rows.state(), joined, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("rows and folded changes (-rows +folded):\n%s", diff)
	}
}

// join makes one change of several.
func join(changes []machine.Change) machine.Change {
	var all machine.Change
	for i, ch := range changes {
		if i == 0 {
			all.TurnFrom, all.ThreadFrom = ch.TurnFrom, ch.ThreadFrom
		}
		if ch.Turn != nil {
			all.Turn = ch.Turn
		}
		if ch.Thread != nil {
			all.Thread = ch.Thread
		}
		all.Entries = append(all.Entries, ch.Entries...)
		all.Calls = append(all.Calls, ch.Calls...)
		all.Approvals = append(all.Approvals, ch.Approvals...)
		all.Absorbed = append(all.Absorbed, ch.Absorbed...)
	}
	return all
}

func TestCloneIsIndependent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := newPlay(t)
		p.run()
		at := rapid.IntRange(0, len(p.book.changes)).Draw(t, "checkpoint")
		rows := newBook("hi")
		for _, ch := range p.book.changes[:at] {
			rows.apply(ch)
		}
		original := rows.state()
		clone := original.Clone()
		for _, ch := range p.book.changes[at:] {
			clone = machine.Fold(clone, ch)
			rows.apply(ch)
		}
		for _, ch := range p.book.changes[at:] {
			ch.Entries = slices.Clone(ch.Entries)
			for i := range ch.Entries {
				ch.Entries[i].Body = chela.NoteBody{Text: ch.Entries[i].Text() + " elsewhere"}
			}
			for i := range ch.Calls {
				ch.Calls[i].Call.Why = "elsewhere"
			}
			original = machine.Fold(original, ch)
		}
		if diff := cmp.Diff(rows.state(), clone, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("a clone changed with its original (-want +got):\n%s", diff)
		}
	})
}
