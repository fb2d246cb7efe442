package rule

import (
	"time"

	"chela"
	"chela/internal/schedule"
)

const (
	// graceTime is how long after its time a routine may begin without having
	// missed it.
	graceTime = time.Minute

	// maxBacklog is how many missed times fire one by one.
	maxBacklog = 100
)

// Times returns when a routine is due by the clock: never, where no time makes it
// fire. Zone is that of the home.
func Times(t chela.Trigger, zone *time.Location) (schedule.Schedule, error) {
	switch t.Kind {
	case chela.TriggerCron:
		if t.Zone != "" {
			var err error
			if zone, err = time.LoadLocation(t.Zone); err != nil || t.Zone == "Local" {
				return schedule.Schedule{}, chela.E(chela.Invalid, "there is no time zone "+Shown(t.Zone)).
					WithHint("name it as in Europe/Zurich, or leave it out for that of the home")
			}
		}
		return schedule.ParseCron(t.Cron, zone)
	case chela.TriggerEvery:
		return schedule.Every(t.Every, t.Anchor)
	case chela.TriggerAt:
		if t.At.IsZero() {
			return schedule.Schedule{}, chela.E(chela.Invalid, "it is not said at what time the routine fires").WithHint("give it a date and a time")
		}
		return schedule.At(t.At), nil
	default:
		return schedule.Schedule{}, nil
	}
}

// First returns when a routine is due first after a time; zero for never.
func First(s schedule.Schedule, after time.Time) time.Time {
	next, ok := s.Next(after)
	if !ok {
		return time.Time{}
	}
	return Stored(next)
}

// Stored is a time as the store keeps it.
func Stored(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

// A Firing is what one or several due times come to.
type Firing struct {
	Due    time.Time
	Missed int    // due times before it that do not fire
	Skip   string // why it does not fire either
}

// Due returns what the due times of a schedule from one of them until now come to,
// oldest first, and when it is due next; zero for never.
func Due(s schedule.Schedule, from, now time.Time, policy chela.Missed) (fires []Firing, next time.Time) {
	times, more := s.Missed(from, now, maxBacklog)
	if len(times) < maxBacklog {
		times = append([]time.Time{from}, times...)
	} else {
		more++ // from itself
	}
	newest := times[len(times)-1]
	late := now.Sub(newest) > graceTime
	before := more + len(times) - 1
	switch {
	case policy == chela.MissedAll:
		for i, t := range times {
			f := Firing{Due: Stored(t)}
			if i == 0 {
				f.Missed = more
			}
			fires = append(fires, f)
		}
	case policy == chela.MissedSkip && late:
		fires = []Firing{{Due: Stored(newest), Missed: before, Skip: "nobody was there at that time"}}
	default:
		fires = []Firing{{Due: Stored(newest), Missed: before}}
	}
	return fires, First(s, newest)
}
