package rule

import (
	"fmt"
	"slices"
	"time"

	"chela"
	"chela/internal/hours"
)

const (
	day = 24 * time.Hour

	// maxWaiting is how many runs of one routine wait for a place.
	maxWaiting = 100

	// maxBackoff is how many times its span a routine that chela keeps waits at most
	// after failures.
	maxBackoff = 8
)

// Facts are what guards look at.
type Facts struct {
	Now     time.Time
	Cause   chela.TriggerKind
	Runs    []time.Time // when its runs were made within a day that were not skipped, newest first
	Waiting int         // of its runs, for a place
	Closed  bool        // it is outside of the active hours
	Busy    bool        // a turn of the main session is in flight
	Blank   bool        // the document of Unless has nothing in it
}

// Timed reports whether a clock makes a routine fire.
func Timed(cause chela.TriggerKind) bool {
	return cause == chela.TriggerCron || cause == chela.TriggerEvery || cause == chela.TriggerAt
}

// Trusted reports whether a run has the rights of the owner: he made its routine, and
// a clock or a person made it fire. What comes from outside, a message, a request, an
// event, brings its text along.
func Trusted(v chela.Routine, run chela.RoutineRun) bool {
	return v.Origin.Owner && (Timed(run.Cause) || run.Cause == chela.TriggerManual)
}

// Refuse returns why a routine, whose guards are filled in, does not fire now, or ""
// if it does.
func Refuse(v chela.Routine, f Facts) string {
	g := v.Guards
	var newest time.Time
	if len(f.Runs) > 0 {
		newest = f.Runs[0]
	}
	since := func(d time.Duration) int {
		return len(f.Runs) - len(slices.DeleteFunc(slices.Clone(f.Runs), func(t time.Time) bool { return f.Now.Sub(t) < d }))
	}
	switch {
	case f.Cause == chela.TriggerManual:
		return ""
	case f.Closed:
		return "outside of its active hours"
	case f.Blank:
		return g.Unless + " has nothing in it"
	case f.Busy:
		return "a turn of the main session is in flight"
	case !Timed(f.Cause) && g.Cooldown > 0 && !newest.IsZero() && f.Now.Sub(newest) < g.Cooldown:
		return fmt.Sprintf("it ran less than %s ago", g.Cooldown)
	case g.PerHour > 0 && since(time.Hour) >= g.PerHour:
		return fmt.Sprintf("it ran %s within an hour", times(g.PerHour))
	case g.PerDay > 0 && since(day) >= g.PerDay:
		return fmt.Sprintf("it ran %s within 24 hours", times(g.PerDay))
	case f.Waiting >= maxWaiting:
		return fmt.Sprintf("%d of its runs wait already", f.Waiting)
	case Timed(f.Cause) && v.Trigger.Missed != chela.MissedAll && f.Waiting > 0:
		return "an earlier run of it still waits for a place"
	case backsOff(v, f.Now, newest):
		return fmt.Sprintf("it failed %s, and is tried less often", times(v.Failures))
	default:
		return ""
	}
}

// backsOff reports whether a routine that chela keeps waits longer than its span
// since it fails: twice as long after one failure, up to maxBackoff times.
func backsOff(v chela.Routine, now, newest time.Time) bool {
	if !v.Builtin || v.Trigger.Kind != chela.TriggerEvery || v.Failures == 0 || newest.IsZero() {
		return false
	}
	factor := min(1<<min(v.Failures, 10), maxBackoff)
	// Its runs are made a moment after they were due.
	return now.Sub(newest) < time.Duration(factor)*v.Trigger.Every-graceTime
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// Window returns the hours in which a routine is active.
func Window(a chela.ActiveHours, zone *time.Location) (hours.Window, error) {
	if a.Zone != "" {
		var err error
		if zone, err = time.LoadLocation(a.Zone); err != nil || a.Zone == "Local" {
			return hours.Window{}, chela.E(chela.Invalid, "there is no time zone "+Shown(a.Zone)).
				WithHint("name it as in Europe/Zurich, or leave it out for that of the home")
		}
	}
	return hours.Parse(a.Start, a.End, zone)
}
