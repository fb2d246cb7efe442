package job

import (
	"cmp"
	"fmt"
	"slices"

	"chela"
)

// maxReminders is how often a job is asked for steps of its plan that are open.
const maxReminders = 2

// A Situation is how things are with a job.
type Situation struct {
	Job       chela.Job
	Turns     []chela.Turn    // that the job follows, live or of its thread; oldest first
	Arrived   int             // of its messages
	Waiting   int             // messages that it follows and no turn has taken
	Asked     []chela.Job     // jobs that it asked for and wants to hear of
	Steps     []chela.JobStep // of its plan
	Reminders int             // of open steps, in this attempt
	Mended    int             // the last run of its newest turn of which its story tells that it was stuck or broke off
	GivenUp   string          // why that is not done once more; empty as long as it is
}

// A Decision is what is to be done in a situation.
type Decision struct {
	State  chela.JobState // that the job moves to, or has
	Reason string         // why
	Waits  int            // jobs that it waits for
	Turn   chela.TurnID   // its newest
	Stop   []chela.TurnID // turns that nobody wants any more
	Drop   []chela.JobID  // jobs that it asked for and nobody wants any more
	Tell   []chela.Job    // parts whose endings are told to it now
	Remind []chela.JobStep
	Broke  *chela.Turn // a run of its newest turn died or broke, which its story does not tell: nothing else is done now
}

// Next decides what is to be done about a job.
func Next(s Situation) Decision {
	d := Decision{State: s.Job.State, Reason: s.Job.Reason, Waits: s.Job.Waits, Turn: s.Job.Turn}
	for _, t := range s.Turns {
		if t.Thread != s.Job.Thread && !t.State.Ended() { // of an attempt before
			d.Stop = append(d.Stop, t.ID)
		}
	}
	switch s.Job.State {
	case chela.JobPending:
		d.Waits = s.live(isPart)
		d.Reason = waitsFor(d.Waits)
	case chela.JobInProgress, chela.JobAwaiting:
		if t, ok := s.newest(); ok && t.Crashes > s.Mended {
			return Decision{State: s.Job.State, Stop: d.Stop, Broke: &t}
		}
		s.goOn(&d)
	case chela.JobRecovering: // its turn was mended; what became of it is looked at then
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

// goOn decides about a job that is under way.
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
		d.State, d.Reason, d.Waits = chela.JobFailed, "too many messages waited in its session, and its own was dropped", 0
	default:
		s.rests(d, current[len(current)-1])
	}
}

// rests decides about a job of which nothing runs and nothing is under way.
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
	if n := s.live(isPart) + s.untold(isOther); n > 0 {
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

// lacking says what a job that is done left out of what it was held to.
func (s Situation) lacking() string {
	switch n := len(open(s.Steps)); {
	case n > 0:
		return fmt.Sprintf("%d of %d steps of its plan stayed open", n, len(s.Steps))
	case s.Job.Options.Plan && len(s.Steps) == 0:
		return "it made no plan, though it was to"
	default:
		return ""
	}
}

// abandon takes along what a job asked for that goes on no more.
func (s Situation) abandon(d *Decision) {
	d.Waits = 0
	for _, t := range s.Turns {
		if !t.State.Ended() && !slices.Contains(d.Stop, t.ID) {
			d.Stop = append(d.Stop, t.ID)
		}
	}
	for _, j := range s.Asked {
		if j.State.Live() {
			d.Drop = append(d.Drop, j.ID)
		}
	}
}

func isPart(j chela.Job) bool { return j.Kind == chela.JobPart }

func isOther(j chela.Job) bool { return j.Kind != chela.JobPart }

// live counts the jobs of a sort that have not ended.
func (s Situation) live(of func(chela.Job) bool) (n int) {
	for _, j := range s.Asked {
		if of(j) && j.State.Live() {
			n++
		}
	}
	return n
}

// untold counts the jobs of a sort whose endings the job has not been told.
func (s Situation) untold(of func(chela.Job) bool) (n int) {
	for _, j := range s.Asked {
		if of(j) && j.AnnouncedAt.IsZero() {
			n++
		}
	}
	return n
}

// parts returns the parts that ended and were not told of, in their order.
func (s Situation) parts() []chela.Job {
	told := slices.DeleteFunc(slices.Clone(s.Asked), func(j chela.Job) bool {
		return !isPart(j) || j.State.Live() || !j.AnnouncedAt.IsZero()
	})
	slices.SortStableFunc(told, func(a, b chela.Job) int { return cmp.Compare(a.Place, b.Place) })
	return told
}

// open returns the steps that are to be done yet.
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
		return "waits for a job that it asked for"
	default:
		return fmt.Sprintf("waits for %d jobs that it asked for", n)
	}
}

// why tells why a turn did not complete.
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
