package job

import (
	"cmp"
	"fmt"
	"slices"

	"chela"
)

// maxReminders bounds the reminders of open steps in one attempt.
const maxReminders = 2

// A Situation is the input of [Next]: a job and everything its next step
// depends on.
type Situation struct {
	Job       chela.Job
	Turns     []chela.Turn    // turns that the job follows, live or of its thread; oldest first
	Arrived   int             // number of its messages that were accepted
	Waiting   int             // messages that it follows and that have no turn yet
	Asked     []chela.Job     // jobs that it requested and whose endings it awaits
	Steps     []chela.JobStep // of its plan
	Reminders int             // of open steps, in this attempt
	Mended    int             // last run of its newest turn whose failure the story records
	GivenUp   string          // why the turn is not retried; empty while it is
}

// A Decision is the next step of a job.
type Decision struct {
	State  chela.JobState // new state of the job, or its present one
	Reason string         // why
	Waits  int            // number of jobs that it waits for
	Turn   chela.TurnID   // newest turn
	Stop   []chela.TurnID // turns to stop
	Drop   []chela.JobID  // jobs that it requested and that are to be cancelled
	Hold   []chela.JobID  // jobs that it requested and that are to be paused
	Tell   []chela.Job    // parts whose endings are delivered to it now
	Remind []chela.JobStep
	Broke  *chela.Turn // newest turn, if a run of it died or broke and the story lacks it; nothing else is decided then
}

// Next decides the next step of a job.
func Next(s Situation) Decision {
	d := Decision{State: s.Job.State, Reason: s.Job.Reason, Waits: s.Job.Waits, Turn: s.Job.Turn}
	for _, t := range s.Turns {
		if t.Thread != s.Job.Thread && !t.State.Ended() { // of an earlier attempt
			d.Stop = append(d.Stop, t.ID)
		}
	}
	switch s.Job.State {
	case chela.JobPending:
		d.Waits = s.liveParts()
		d.Reason = waitsFor(d.Waits)
	case chela.JobInProgress, chela.JobAwaiting:
		if t, ok := s.newest(); ok && t.Crashes > s.Mended {
			return Decision{State: s.Job.State, Stop: d.Stop, Broke: &t}
		}
		s.goOn(&d)
	case chela.JobPaused:
		s.halt(&d)
	case chela.JobRecovering: // its turn is being retried; the outcome is evaluated after that
		d.State, d.Reason = chela.JobInProgress, ""
	case chela.JobFailed, chela.JobInterrupted, chela.JobCancelled:
		s.abandon(&d)
	}
	if d.State == chela.JobFailed || d.State == chela.JobInterrupted {
		s.abandon(&d)
	}
	return d
}

// newest returns the newest turn of the job's thread, if there is one.
func (s Situation) newest() (t chela.Turn, ok bool) {
	for _, t := range slices.Backward(s.Turns) {
		if t.Thread == s.Job.Thread {
			return t, true
		}
	}
	return t, false
}

// goOn decides about a job that has work in flight.
func (s Situation) goOn(d *Decision) {
	current := slices.DeleteFunc(slices.Clone(s.Turns), func(t chela.Turn) bool { return t.Thread != s.Job.Thread })
	live := slices.IndexFunc(current, func(t chela.Turn) bool { return !t.State.Ended() })
	if len(current) > 0 {
		d.Turn = current[len(current)-1].ID
	}
	switch {
	case live >= 0 && current[live].State == chela.TurnAwaiting:
		d.State, d.Reason, d.Waits = chela.JobAwaiting, "its turn waits for a person", 0
	case live >= 0 || s.Arrived < s.Job.Messages || s.Waiting > 0:
		d.State, d.Reason, d.Waits = chela.JobInProgress, "", 0
	case len(current) == 0:
		d.State, d.Reason, d.Waits = chela.JobFailed, "its message was dropped, because too many were waiting in its session", 0
	default:
		s.rests(d, current[len(current)-1])
	}
}

// rests decides about a job that has nothing running or in flight.
func (s Situation) rests(d *Decision, last chela.Turn) {
	d.Waits = 0
	switch {
	case s.GivenUp != "" && last.State != chela.TurnCompleted:
		d.State, d.Reason = chela.JobFailed, s.GivenUp
		return
	case last.State == chela.TurnFailed, last.State == chela.TurnLimited:
		d.State, d.Reason = chela.JobFailed, why(last)
		return
	case last.State == chela.TurnInterrupted:
		d.State, d.Reason = chela.JobInterrupted, "its turn was stopped"
		return
	}
	d.State, d.Reason = chela.JobInProgress, ""
	if n := s.liveParts() + s.untold(); n > 0 {
		d.Waits, d.Reason = n, waitsFor(n)
		return
	}
	if d.Tell = s.parts(); len(d.Tell) > 0 {
		return
	}
	if s.Reminders < maxReminders {
		d.Remind = open(s.Steps)
	}
	if len(d.Remind) == 0 {
		d.State, d.Reason = chela.JobCompleted, s.lacking()
	}
}

// lacking describes a requirement that a finished job did not meet; empty for
// none.
func (s Situation) lacking() string {
	switch n := len(open(s.Steps)); {
	case n > 0:
		return fmt.Sprintf("%d of %d steps of its plan were left open", n, len(s.Steps))
	case s.Job.Options.Plan && len(s.Steps) == 0:
		return "the required plan is missing"
	default:
		return ""
	}
}

// abandon drops the live jobs that an ended job requested.
func (s Situation) abandon(d *Decision) {
	d.Waits = 0
	s.stop(d)
	for _, j := range s.Asked {
		if j.State.Live() {
			d.Drop = append(d.Drop, j.ID)
		}
	}
}

// stop stops all turns.
func (s Situation) stop(d *Decision) {
	for _, t := range s.Turns {
		if !t.State.Ended() && !slices.Contains(d.Stop, t.ID) {
			d.Stop = append(d.Stop, t.ID)
		}
	}
}

func isPart(j chela.Job) bool { return j.Kind == chela.JobPart }

// liveParts counts the parts that have not ended.
func (s Situation) liveParts() (n int) {
	for _, j := range s.Asked {
		if isPart(j) && j.State.Live() {
			n++
		}
	}
	return n
}

// untold counts the requested jobs other than parts whose endings the job has not
// received.
func (s Situation) untold() (n int) {
	for _, j := range s.Asked {
		if !isPart(j) && j.AnnouncedAt.IsZero() {
			n++
		}
	}
	return n
}

// parts returns the ended parts whose endings were not delivered, in their
// order.
func (s Situation) parts() []chela.Job {
	told := slices.DeleteFunc(slices.Clone(s.Asked), func(j chela.Job) bool {
		return !isPart(j) || j.State.Live() || !j.AnnouncedAt.IsZero()
	})
	slices.SortStableFunc(told, func(a, b chela.Job) int { return cmp.Compare(a.Place, b.Place) })
	return told
}

// open returns the steps that are not done or skipped.
func open(steps []chela.JobStep) []chela.JobStep {
	return slices.DeleteFunc(slices.Clone(steps), func(s chela.JobStep) bool {
		return s.State == chela.StepDone || s.State == chela.StepSkipped
	})
}

func waitsFor(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "waits for a job that it requested"
	default:
		return fmt.Sprintf("waits for %d jobs that it requested", n)
	}
}

// why explains why a turn did not complete.
func why(t chela.Turn) string {
	switch {
	case t.Failure == nil:
		return "its turn failed"
	case t.Failure.Limit == chela.LimitTime:
		return "timeout: " + t.Failure.Message
	default:
		return t.Failure.Message
	}
}
