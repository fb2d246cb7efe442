package rule

import (
	"time"

	"chela"
	"chela/internal/background/schedule"
)

const (
	// graceTime is the delay after which a due time counts as missed.
	graceTime = time.Minute

	// maxBacklog bounds the missed times that fire one by one.
	maxBacklog = 100
)

// Times returns the schedule of a trigger; the zero schedule, which is never
// due, if it has none. Zone is that of the home.
func Times(t chela.Trigger, zone *time.Location) (schedule.Schedule, error) {
	switch t.Kind {
	case chela.TriggerCron:
		zone, err := zoneOf(t.Zone, zone)
		if err != nil {
			return schedule.Schedule{}, err
		}
		return schedule.ParseCron(t.Cron, zone)
	case chela.TriggerEvery:
		return schedule.Every(t.Every.Duration(), t.Anchor)
	case chela.TriggerAt:
		if t.At.IsZero() {
			return schedule.Schedule{}, invalid("the trigger at has no time").WithHint("give it a date and a time")
		}
		return schedule.At(t.At), nil
	default:
		return schedule.Schedule{}, nil
	}
}

// zoneOf returns the time zone of a name, or that of the home for the empty one.
func zoneOf(name string, home *time.Location) (*time.Location, error) {
	if name == "" {
		return home, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, invalid("there is no time zone %s", Shown(name)).
			WithHint("use a name such as Europe/Zurich, or leave it out for the home's zone")
	}
	return zone, nil
}

// First returns the first due time after a time; zero for never.
func First(s schedule.Schedule, after time.Time) time.Time {
	next, ok := s.Next(after)
	if !ok {
		return time.Time{}
	}
	return Stored(next)
}

// Stored returns a time at the store's precision.
func Stored(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

// A Firing is the outcome of one or several due times.
type Firing struct {
	Due    time.Time
	Missed int    // earlier due times that do not fire
	Skip   string // reason for not firing either; empty if it fires
}

// Due returns the firings of the due times of a schedule between from and now,
// oldest first, and the next due time; zero for never.
func Due(s schedule.Schedule, from, now time.Time, policy chela.MissedPolicy) (fires []Firing, next time.Time) {
	times, more := s.Missed(from, now, maxBacklog)
	if len(times) < maxBacklog {
		times = append([]time.Time{from}, times...)
	} else {
		more++ // counting from itself
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
		fires = []Firing{{Due: Stored(newest), Missed: before, Skip: "no process was running at that time"}}
	default:
		fires = []Firing{{Due: Stored(newest), Missed: before}}
	}
	return fires, First(s, newest)
}
