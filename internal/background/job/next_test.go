package job_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"chela"
	"chela/internal/background/job"
)

var told = time.Date(2026, time.November, 22, 1, 0, 0, 0, time.UTC)

func turnIn(id string, thread chela.ThreadID, state chela.TurnState) chela.Turn {
	return chela.Turn{ID: chela.TurnID(id), Thread: thread, State: state}
}

func asked(id string, kind chela.JobKind, state chela.JobState, announced time.Time) chela.Job {
	return chela.Job{ID: chela.JobID(id), Kind: kind, State: state, AnnouncedAt: announced}
}

// under is a job that is under way, whose only message has arrived.
func under(s job.Situation) job.Situation {
	s.Job.State, s.Job.Thread, s.Job.Attempt, s.Job.Messages = chela.JobInProgress, "thr", 1, 1
	if s.Arrived == 0 {
		s.Arrived = 1
	}
	return s
}

const (
	runs   = chela.TurnProcessing
	waits  = chela.TurnAwaiting
	done   = chela.TurnCompleted
	failed = chela.TurnFailed
)

// A decided is a situation and what is to be decided in it.
type decided map[string]struct {
	s    job.Situation
	want job.Decision
}

func (d decided) check(t *testing.T) {
	t.Helper()
	for name, c := range d {
		if c.s.Arrived < 0 {
			c.s.Arrived = 0
		}
		if diff := cmp.Diff(c.want, job.Next(c.s), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: decided (-want +got)\n%s", name, diff)
		}
	}
}

func TestNextByTurns(t *testing.T) {
	t.Parallel()
	failure := turnIn("1", "thr", failed)
	failure.Failure = &chela.Failure{Message: "no key"}
	limited := turnIn("1", "thr", chela.TurnLimited)
	limited.Failure = &chela.Failure{Limit: chela.LimitTime, Message: "30 minutes are over"}
	decided{
		"a message is on its way": {
			under(job.Situation{Arrived: -1}), job.Decision{State: chela.JobInProgress},
		},
		"a turn runs": {
			under(job.Situation{Turns: []chela.Turn{turnIn("1", "thr", runs)}}), job.Decision{State: chela.JobInProgress, Turn: "1"},
		},
		"a turn waits for a person": {
			under(job.Situation{Turns: []chela.Turn{turnIn("1", "thr", waits)}}),
			job.Decision{State: chela.JobAwaiting, Turn: "1", Reason: "its turn waits for a person"},
		},
		"a message waits behind a turn that ended": {
			under(job.Situation{Turns: []chela.Turn{turnIn("1", "thr", failed)}, Waiting: 1}), job.Decision{State: chela.JobInProgress, Turn: "1"},
		},
		"its message was dropped": {
			under(job.Situation{}), job.Decision{State: chela.JobFailed, Reason: "its message was dropped, because too many were waiting in its session"},
		},
		"its turn completed": {
			under(job.Situation{Turns: []chela.Turn{turnIn("1", "thr", done)}}), job.Decision{State: chela.JobCompleted, Turn: "1"},
		},
		"the turn of an attempt before completed": {
			under(job.Situation{Turns: []chela.Turn{turnIn("0", "old", runs), turnIn("1", "thr", runs)}}),
			job.Decision{State: chela.JobInProgress, Turn: "1", Stop: []chela.TurnID{"0"}},
		},
		"its turn failed": {
			under(job.Situation{
				Turns: []chela.Turn{failure},
				Asked: []chela.Job{asked("a", chela.JobSubagent, chela.JobInProgress, time.Time{}), asked("b", chela.JobPart, chela.JobFailed, told)},
			}),
			job.Decision{State: chela.JobFailed, Turn: "1", Reason: "no key", Drop: []chela.JobID{"a"}},
		},
		"its time was over": {
			under(job.Situation{Turns: []chela.Turn{limited}}), job.Decision{State: chela.JobFailed, Turn: "1", Reason: "timeout: 30 minutes are over"},
		},
		"its turn was stopped": {
			under(job.Situation{Turns: []chela.Turn{turnIn("1", "thr", chela.TurnInterrupted)}}),
			job.Decision{State: chela.JobInterrupted, Turn: "1", Reason: "its turn was stopped"},
		},
		"it is paused": {
			job.Situation{
				Job:   chela.Job{State: chela.JobPaused, Thread: "thr", Reason: "paused by me"},
				Turns: []chela.Turn{turnIn("0", "old", runs), turnIn("1", "thr", waits), turnIn("2", "thr", done)},
				Asked: []chela.Job{
					asked("a", chela.JobSubagent, chela.JobInProgress, time.Time{}), asked("b", chela.JobPart, chela.JobPending, time.Time{}),
					asked("c", chela.JobPart, chela.JobPaused, time.Time{}), asked("d", chela.JobPart, chela.JobCompleted, time.Time{}),
				},
			},
			job.Decision{State: chela.JobPaused, Reason: "paused by me", Stop: []chela.TurnID{"0", "1"}, Hold: []chela.JobID{"a", "b"}},
		},
		"a later turn completed": {
			under(job.Situation{Turns: []chela.Turn{failure, turnIn("2", "thr", done)}}), job.Decision{State: chela.JobCompleted, Turn: "2"},
		},
	}.check(t)
}

func TestNextByRepairs(t *testing.T) {
	t.Parallel()
	broke := func(state chela.TurnState) chela.Turn {
		turn := turnIn("1", "thr", state)
		turn.Crashes = 2
		return turn
	}
	running, over := broke(runs), broke(failed)
	decided{
		"a run broke off": {
			under(job.Situation{Turns: []chela.Turn{turnIn("0", "old", runs), running}, Mended: 1}),
			job.Decision{State: chela.JobInProgress, Stop: []chela.TurnID{"0"}, Broke: &running},
		},
		"the last run broke off": {
			under(job.Situation{Turns: []chela.Turn{over}, Mended: 1}), job.Decision{State: chela.JobInProgress, Broke: &over},
		},
		"which its story tells": {
			under(job.Situation{Turns: []chela.Turn{running}, Mended: 2}), job.Decision{State: chela.JobInProgress, Turn: "1"},
		},
		"it is given up": {
			under(job.Situation{Turns: []chela.Turn{over}, Mended: 2, GivenUp: "twice"}),
			job.Decision{State: chela.JobFailed, Turn: "1", Reason: "twice"},
		},
		"it was stopped, as it is given up": {
			under(job.Situation{Turns: []chela.Turn{broke(chela.TurnInterrupted)}, Mended: 2, GivenUp: "twice"}),
			job.Decision{State: chela.JobFailed, Turn: "1", Reason: "twice"},
		},
		"it came to its end after all": {
			under(job.Situation{Turns: []chela.Turn{broke(done)}, Mended: 2, GivenUp: "twice"}), job.Decision{State: chela.JobCompleted, Turn: "1"},
		},
		"a later turn runs": {
			under(job.Situation{Turns: []chela.Turn{over, turnIn("2", "thr", runs)}}), job.Decision{State: chela.JobInProgress, Turn: "2"},
		},
	}.check(t)
}

func TestNextByOthers(t *testing.T) {
	t.Parallel()
	steps := []chela.JobStep{{Place: 1, State: chela.StepDone}, {Place: 2, State: chela.StepInProgress}, {Place: 3, State: chela.StepSkipped}}
	late := asked("b", chela.JobPart, chela.JobFailed, time.Time{})
	late.Place = 1
	decided{
		"parts run": {
			under(job.Situation{
				Turns: []chela.Turn{turnIn("1", "thr", done)},
				Asked: []chela.Job{asked("a", chela.JobPart, chela.JobPending, time.Time{}), late},
			}),
			job.Decision{State: chela.JobInProgress, Turn: "1", Waits: 1, Reason: "waits for a job that it requested"},
		},
		"parts ended": {
			under(job.Situation{
				Turns: []chela.Turn{turnIn("1", "thr", done)},
				Asked: []chela.Job{late, asked("a", chela.JobPart, chela.JobCompleted, time.Time{}), asked("c", chela.JobPart, chela.JobCompleted, told)},
			}),
			job.Decision{
				State: chela.JobInProgress, Turn: "1", Tell: []chela.Job{asked("a", chela.JobPart, chela.JobCompleted, time.Time{}), late},
			},
		},
		"a subagent ended and was not told of": {
			under(job.Situation{
				Turns: []chela.Turn{turnIn("1", "thr", done)},
				Asked: []chela.Job{
					asked("a", chela.JobSubagent, chela.JobCompleted, time.Time{}), asked("b", chela.JobSubagent, chela.JobInProgress, time.Time{}),
					asked("c", chela.JobSubagent, chela.JobSubmitted, told),
				},
			}),
			job.Decision{State: chela.JobInProgress, Turn: "1", Waits: 2, Reason: "waits for 2 jobs that it requested"},
		},
		"a step is open": {
			under(job.Situation{Turns: []chela.Turn{turnIn("1", "thr", done)}, Steps: steps, Reminders: 1}),
			job.Decision{State: chela.JobInProgress, Turn: "1", Remind: steps[1:2]},
		},
		"a step stays open": {
			under(job.Situation{Turns: []chela.Turn{turnIn("1", "thr", done)}, Steps: steps, Reminders: 2}),
			job.Decision{State: chela.JobCompleted, Turn: "1", Reason: "1 of 3 steps of its plan were left open"},
		},
		"no plan was made": {
			under(job.Situation{Job: chela.Job{Options: chela.JobOptions{Plan: true}}, Turns: []chela.Turn{turnIn("1", "thr", done)}}),
			job.Decision{State: chela.JobCompleted, Turn: "1", Reason: "the required plan is missing"},
		},
		"a plan was made and carried out": {
			under(job.Situation{
				Job: chela.Job{Options: chela.JobOptions{Plan: true}}, Turns: []chela.Turn{turnIn("1", "thr", done)}, Steps: steps[:1],
			}),
			job.Decision{State: chela.JobCompleted, Turn: "1"},
		},
		"it was cancelled": {
			job.Situation{
				Job:   chela.Job{State: chela.JobCancelled, Thread: "thr", Reason: "by me"},
				Turns: []chela.Turn{turnIn("1", "thr", runs), turnIn("0", "old", waits), turnIn("2", "thr", done)},
				Asked: []chela.Job{asked("a", chela.JobSubagent, chela.JobAwaiting, time.Time{})},
			},
			job.Decision{State: chela.JobCancelled, Reason: "by me", Stop: []chela.TurnID{"0", "1"}, Drop: []chela.JobID{"a"}},
		},
		"it is done": {
			job.Situation{Job: chela.Job{State: chela.JobSubmitted, Thread: "thr"}, Turns: []chela.Turn{turnIn("1", "thr", failed)}},
			job.Decision{State: chela.JobSubmitted},
		},
		"it waits for its parts": {
			job.Situation{
				Job:   chela.Job{State: chela.JobPending, Waits: 2},
				Asked: []chela.Job{asked("a", chela.JobPart, chela.JobPending, time.Time{}), late},
			},
			job.Decision{State: chela.JobPending, Waits: 1, Reason: "waits for a job that it requested"},
		},
		"its parts have ended": {
			job.Situation{Job: chela.Job{State: chela.JobPending, Waits: 1, Reason: "waits"}, Asked: []chela.Job{late}},
			job.Decision{State: chela.JobPending},
		},
	}.check(t)
}

// TestNextAfterAWait: a job that waited says no longer for what, unless it waits again.
func TestNextAfterAWait(t *testing.T) {
	t.Parallel()
	late := asked("b", chela.JobPart, chela.JobFailed, time.Time{})
	decided{
		"a person answered, and a part runs": {
			job.Situation{
				Job:     chela.Job{State: chela.JobAwaiting, Thread: "thr", Messages: 1, Reason: "its turn waits for a person"},
				Arrived: 1, Turns: []chela.Turn{turnIn("1", "thr", done)}, Asked: []chela.Job{asked("a", chela.JobPart, chela.JobPending, time.Time{})},
			},
			job.Decision{State: chela.JobInProgress, Turn: "1", Waits: 1, Reason: "waits for a job that it requested"},
		},
		"the last part that it waited for ended": {
			under(job.Situation{
				Job:   chela.Job{Waits: 1, Reason: "waits for a job that it requested"},
				Turns: []chela.Turn{turnIn("1", "thr", done)}, Asked: []chela.Job{late},
			}),
			job.Decision{State: chela.JobInProgress, Turn: "1", Tell: []chela.Job{late}},
		},
	}.check(t)
}

// TestNextIsLegal tries every state of a job and of its turn: what is decided is
// always a move that a job can make.
func TestNextIsLegal(t *testing.T) {
	t.Parallel()
	for _, state := range []chela.JobState{
		chela.JobPending, chela.JobInProgress, chela.JobAwaiting, chela.JobCompleted, chela.JobSubmitted, chela.JobAccepted, chela.JobModified,
		chela.JobFailed, chela.JobInterrupted, chela.JobCancelled, chela.JobStuck, chela.JobRecovering,
	} {
		for _, turn := range []chela.TurnState{runs, waits, done, failed, chela.TurnInterrupted, chela.TurnLimited} {
			s := job.Situation{Job: chela.Job{State: state, Thread: "thr"}, Turns: []chela.Turn{turnIn("1", "thr", turn)}}
			if d := job.Next(s); d.State != state && !state.CanMove(d.State) {
				t.Errorf("a job that is %s and whose turn is %s becomes %s", state, turn, d.State)
			}
		}
	}
}
