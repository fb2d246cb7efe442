package machine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/engine/prompt"
	"chela/internal/engine/turn/machine"
)

// sketch is a state in few words. Calls are written as their states, one after
// the other: "read" is an approved read, "effect" an approved call with an
// effect, "theirs" an approved call of an offered tool, "out" one that was
// handed out, anything else a state; with "+" the call has its result.
type sketch struct {
	ended   chela.TurnState
	crashes int
	inVain  error
	steps   int
	stop    bool
	last    chela.EntryKind  // of the turn; user if empty
	text    string           // of the answer
	why     chela.StopReason // of the answer
	calls   string
	pending bool
	granted bool                                            // a person allowed the first call
	talk    func(c prompt.Conversation) prompt.Conversation // what was said, if it matters
	flush   prompt.Flush
	command bool // the turn compacts
}

func (k sketch) state() machine.State {
	s := machine.State{Last: chela.EntryUser}
	s.Turn = chela.Turn{State: chela.TurnProcessing, Crashes: k.crashes, Steps: k.steps, Stop: k.stop}
	s.GivenUp = k.inVain
	if k.ended != "" {
		s.Turn.State = k.ended
	}
	if k.last != "" {
		s.Last = k.last
	}
	s.Answer.Text, s.Answer.Stop = k.text, k.why
	for i, word := range strings.Fields(k.calls) {
		word, answered := strings.CutSuffix(word, "+")
		c := machine.Call{Answered: answered}
		c.ID, c.Index, c.State = chela.CallID(fmt.Sprint(i)), i, chela.CallState(word)
		switch word {
		case "read":
			c.State, c.Effect = chela.CallApproved, chela.EffectRead
		case "effect":
			c.State, c.Effect = chela.CallApproved, chela.EffectWrite
		case "awaiting":
			c.State, c.Effect = chela.CallAwaiting, chela.EffectExecute
		case "theirs":
			c.State, c.Resume = chela.CallApproved, chela.ResumeWait
		case "out":
			c.State, c.Resume = chela.CallRunning, chela.ResumeWait
		}
		s.Calls = append(s.Calls, c)
		s.Answer.Calls = append(s.Answer.Calls, chela.CallSpec{ID: c.ID})
	}
	if k.talk != nil {
		s.Conversation = k.talk(s.Conversation)
	}
	s.Flush = k.flush
	if k.command {
		s.Command = chela.CommandCompact
	}
	if k.granted {
		s.Granted = "0"
	}
	if k.pending {
		s.Pending = &chela.Approval{ID: "apr_1"}
	}
	return s
}

// brief writes an action in few words.
func brief(a machine.Action) string {
	words := []string{string(a.Kind)}
	for _, c := range a.Calls {
		words = append(words, string(c.ID))
	}
	if a.Kind == machine.Compact {
		words = append(words, string(a.Plan.Strategy), fmt.Sprint("e", a.Plan.Kept))
	}
	if a.Note != "" {
		words = append(words, "note")
	}
	if a.NoTools {
		words = append(words, "no-tools")
	}
	if a.Ending != "" {
		words = append(words, string(a.Ending))
	}
	if f := a.Failure; f != nil {
		words = append(words, string(f.Kind), string(f.Limit), f.Message)
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

type nextCase struct {
	name  string
	state sketch
	facts machine.Facts // limits of 10 steps if zero
	want  string
}

func checkNext(t *testing.T, cases []nextCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.facts.Limits.Steps == 0 {
				c.facts.Limits.Steps = 10
			}
			got := machine.Next(c.state.state(), c.facts)
			if diff := cmp.Diff(c.want, brief(got)); diff != "" {
				t.Errorf("action (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNextEndings(t *testing.T) {
	t.Parallel()
	broken := &chela.Failure{Kind: chela.Unavailable, Message: "no answer"}
	stop := machine.Facts{Stop: true}
	full := fmt.Errorf("%w: %w", chela.ErrLater, chela.E(chela.Exhausted, "the disk is full"))
	const died = "finish failed internal chela crashed 3 times in this turn; it is not retried"
	checkNext(t, []nextCase{
		{"completed", sketch{ended: chela.TurnCompleted}, stop, "done"},
		{"failed", sketch{ended: chela.TurnFailed, calls: "running"}, machine.Facts{}, "done"},
		{"interrupted", sketch{ended: chela.TurnInterrupted}, machine.Facts{}, "done"},
		{"limited", sketch{ended: chela.TurnLimited, crashes: 3}, machine.Facts{}, "done"},
		{"two crashes", sketch{crashes: 2}, machine.Facts{}, "call_model"},
		{"three crashes", sketch{crashes: 3}, machine.Facts{}, died},
		{"three crashes before a stop", sketch{crashes: 3, stop: true}, stop, died},
		{"given up", sketch{inVain: full, steps: 1, calls: "running"}, stop, "finish failed exhausted the turn is given up: the disk is full"},
		{"three crashes leave a call alone", sketch{crashes: 3, steps: 1, calls: "running"}, machine.Facts{}, died},
		{"stop", sketch{}, stop, "finish interrupted interrupted"},
		{"stop found in the journal", sketch{stop: true}, machine.Facts{}, "finish interrupted interrupted"},
		{"stop before the time is up", sketch{}, machine.Facts{Stop: true, TimeUp: true}, "finish interrupted interrupted"},
		{"stop before a running call is resolved", sketch{steps: 1, calls: "running effect"}, stop, "resolve 0"},
		{"stop with calls", sketch{steps: 1, calls: "read+ effect awaiting"}, stop, "finish interrupted interrupted"},
		{"stop with unjudged calls", sketch{steps: 1, calls: "requested"}, stop, "finish interrupted interrupted"},
		{"stop while a person is asked", sketch{steps: 1, calls: "awaiting", pending: true}, stop, "finish interrupted interrupted"},
		{"stop after the answer", sketch{steps: 1, last: chela.EntryAssistant, text: "hi"}, stop, "finish interrupted interrupted"},
		{
			"time is up",
			sketch{},
			machine.Facts{TimeUp: true, Limits: machine.TurnLimits{Steps: 10, Time: time.Minute}},
			"finish limited exhausted time the turn took longer than 1m0s",
		},
		{
			"time is up before the model broke",
			sketch{},
			machine.Facts{TimeUp: true, Failure: broken, Limits: machine.TurnLimits{Steps: 10, Time: time.Minute}},
			"finish limited exhausted time the turn took longer than 1m0s",
		},
		{"the model broke", sketch{}, machine.Facts{Failure: broken}, "finish failed unavailable no answer"},
		{
			"a budget is used up",
			sketch{},
			machine.Facts{Failure: &chela.Failure{Kind: chela.Exhausted, Limit: chela.LimitDay, Message: "$5 a day"}},
			"finish limited exhausted " + string(chela.LimitDay) + " $5 a day",
		},
		{"the model broke while messages wait", sketch{}, machine.Facts{Failure: broken, Steering: true}, "finish failed unavailable no answer"},
	})
}

func TestNextCalls(t *testing.T) {
	t.Parallel()
	steering := machine.Facts{Steering: true}
	of := func(calls string) sketch { return sketch{steps: 1, last: chela.EntryAssistant, calls: calls} }
	asked := of("awaiting read effect")
	asked.pending = true
	granted, behind, alone := of("effect effect"), of("done+ effect effect"), of("effect")
	granted.granted, behind.granted, alone.granted = true, true, true
	stranded := of("awaiting running")
	stranded.pending = true
	checkNext(t, []nextCase{
		{"running", of("running"), machine.Facts{}, "resolve 0"},
		{"only what runs", of("done+ running effect running"), machine.Facts{}, "resolve 1 3"},
		{"running before unjudged", of("running requested"), machine.Facts{}, "resolve 0"},
		{"running before steering", of("running"), steering, "resolve 0"},
		{"running behind a question", stranded, machine.Facts{}, "resolve 1"},
		{"all to be judged", of("requested requested"), machine.Facts{}, "judge 0 1"},
		{"the rest to be judged", of("read requested effect requested"), machine.Facts{}, "judge 1 3"},
		{"judged before steering", of("requested"), steering, "judge 0"},
		{"steering before a batch", of("read effect"), steering, "absorb"},
		{"steering between batches", of("read+ done+ effect"), steering, "absorb"},
		{"steering before a call that a person allowed", granted, steering, "run_tools 0"},
		{"steering before the only call, which a person allowed", alone, steering, "run_tools 0"},
		{"steering behind a call that a person allowed", behind, steering, "absorb"},
		{"steering before a question", of("awaiting"), steering, "absorb"},
		{"question", of("awaiting awaiting read"), machine.Facts{}, "ask 0"},
		{"steering waits with a question", asked, steering, "wait"},
		{"question that was asked", asked, machine.Facts{}, "wait"},
		{"question behind reads", of("read awaiting read"), machine.Facts{}, "run_tools 0"},
		{"second question", of("done+ awaiting effect"), machine.Facts{}, "ask 1"},
		{"one read", of("read"), machine.Facts{}, "run_tools 0"},
		{"neighbouring reads", of("read read read"), machine.Facts{}, "run_tools 0 1 2"},
		{"reads up to an effect", of("read read effect read"), machine.Facts{}, "run_tools 0 1"},
		{"an effect alone", of("read+ read+ effect read"), machine.Facts{}, "run_tools 2"},
		{"effects one by one", of("effect effect"), machine.Facts{}, "run_tools 0"},
		{"settled in between", of("read failed read effect"), machine.Facts{}, "run_tools 0 1 2"},
		{"settled in front of an effect", of("denied effect"), machine.Facts{}, "run_tools 0"},
		{"settled behind an effect", of("effect denied"), machine.Facts{}, "run_tools 0"},
		{"only settled", of("denied failed skipped"), machine.Facts{}, "run_tools 0 1 2"},
		{"results that are missing", of("done+ done unknown"), machine.Facts{}, "run_tools 1 2"},
		{"out of steps with calls", sketch{steps: 10, calls: "skipped"}, machine.Facts{}, "run_tools 0"},
	})
}

func TestNextOffers(t *testing.T) {
	t.Parallel()
	steering := machine.Facts{Steering: true}
	of := func(calls string) sketch { return sketch{steps: 1, last: chela.EntryAssistant, calls: calls} }
	out := func(calls string) sketch {
		k := of(calls)
		k.ended = chela.TurnAwaiting
		return k
	}
	asked := of("awaiting theirs")
	asked.pending = true
	checkNext(t, []nextCase{
		{"handed out", of("theirs"), machine.Facts{}, "hand_out 0"},
		{"handed out together", of("theirs done+ theirs"), machine.Facts{}, "hand_out 0 2"},
		{"judged first", of("theirs requested"), machine.Facts{}, "judge 1"},
		{"reads first", of("theirs read read"), machine.Facts{}, "run_tools 1 2"},
		{"reads on both sides", of("read theirs read effect"), machine.Facts{}, "run_tools 0 2"},
		{"effects first", of("theirs effect"), machine.Facts{}, "run_tools 1"},
		{"questions first", of("theirs awaiting"), machine.Facts{}, "ask 1"},
		{"answers first", asked, machine.Facts{}, "wait"},
		{"settled first", of("theirs failed"), machine.Facts{}, "run_tools 1"},
		{"dead run first", of("theirs running"), machine.Facts{}, "resolve 1"},
		{"steering first", of("theirs"), steering, "absorb"},
		{"waits", out("out out+"), machine.Facts{}, "wait"},
		{"waits whatever arrives", out("out"), steering, "wait"},
		{"waits again after a run that died", of("out"), machine.Facts{}, "hand_out 0"},
		{"all results are there", sketch{steps: 1, last: chela.EntryToolResult, calls: "out+ done+"}, machine.Facts{}, "call_model"},
		{"stop", out("out"), machine.Facts{Stop: true}, "finish interrupted interrupted"},
	})
}

func TestNextSteps(t *testing.T) {
	t.Parallel()
	limit := func(n int) machine.Facts { return machine.Facts{Limits: machine.TurnLimits{Steps: n}} }
	steering := machine.Facts{Steering: true}
	steeringOf := func(n int) machine.Facts { return machine.Facts{Steering: true, Limits: machine.TurnLimits{Steps: n}} }
	answered := func(steps int, text string) sketch {
		return sketch{steps: steps, last: chela.EntryAssistant, text: text}
	}
	results := func(steps int) sketch {
		return sketch{steps: steps, last: chela.EntryToolResult, calls: "done+ failed+"}
	}
	checkNext(t, []nextCase{
		{"first", sketch{}, machine.Facts{}, "call_model"},
		{"after results", results(1), machine.Facts{}, "call_model"},
		{"after a note", sketch{steps: 1, last: chela.EntryNote}, machine.Facts{}, "call_model"},
		{"after more was said", sketch{steps: 1, last: chela.EntryUser, text: "hi"}, machine.Facts{}, "call_model"},
		{"steering before the model", results(1), steering, "absorb"},
		{"steering before the ending", answered(1, "hi"), steering, "absorb"},
		{"limit 1", sketch{}, limit(1), "call_model no-tools"},
		{"limit 1 answered", answered(1, "hi"), limit(1), "finish completed"},
		{"limit 1 with calls", results(1), limit(1), "finish limited exhausted steps the turn used its 1 steps"},
		{"limit 2", sketch{}, limit(2), "call_model note"},
		{"limit 2 after its note", sketch{last: chela.EntryNote}, limit(2), "call_model"},
		{"limit 2 second", results(1), limit(2), "call_model no-tools"},
		{"limit 2 answered early", answered(1, "hi"), limit(2), "finish completed"},
		{
			"limit 2 answered", answered(2, "hi"), limit(2),
			"finish limited exhausted steps the turn used its 2 steps; the answer may be incomplete",
		},
		{"limit 2 answered while messages wait", answered(2, "hi"), steeringOf(2), "finish limited exhausted steps the turn used its 2 steps; the answer may be incomplete"},
		{"limit 2 with calls while messages wait", sketch{steps: 2, last: chela.EntryAssistant, calls: "read"}, steeringOf(2), "run_tools 0"},
		{"limit 3", sketch{}, limit(3), "call_model"},
		{"limit 3 second", results(1), limit(3), "call_model note"},
		{"limit 3 third", results(2), limit(3), "call_model no-tools"},
		{"limit 3 used up", results(3), limit(3), "finish limited exhausted steps the turn used its 3 steps"},
		{"answer", answered(1, "hi"), machine.Facts{}, "finish completed"},
		{"empty answer", answered(1, ""), machine.Facts{}, "finish failed unavailable the model returned an empty answer"},
		{"refused", sketch{steps: 1, last: chela.EntryAssistant, why: chela.StopRefusal}, machine.Facts{}, "finish failed unavailable the model, or a filter of its provider, refused to answer"},
		{"refused with words", sketch{steps: 1, last: chela.EntryAssistant, text: "No.", why: chela.StopRefusal}, machine.Facts{}, "finish completed"},
		{"no room for words", sketch{steps: 1, last: chela.EntryAssistant, why: chela.StopLength}, machine.Facts{}, "finish failed unavailable the model reached its output limit before writing any text"},
		{"empty last answer", answered(10, ""), machine.Facts{}, "finish failed unavailable the model returned an empty answer"},
	})
}
