package schedule

import (
	"fmt"
	"strings"
	"time"

	"chela"
)

// A Schedule says when something is due. It is made by ParseCron, Every and At, is
// immutable, and can be compared with ==. The zero value is never due.
type Schedule struct {
	kind   kind
	cron   cron
	every  time.Duration
	anchor time.Time // origin of the intervals
	at     time.Time
}

type kind uint8

const (
	never kind = iota
	byCron
	bySpan
	once
)

// MinEvery is the shortest interval between due times, for schedules of any
// kind.
const MinEvery = 10 * time.Second

// Every returns the schedule that is due at anchor and at each interval after
// it. A zero anchor aligns days to midnight UTC, weeks to Monday. It returns
// Invalid for an interval below MinEvery or with a fraction of a second.
func Every(span time.Duration, anchor time.Time) (Schedule, error) {
	switch {
	case span < MinEvery:
		return Schedule{}, chela.Ef(chela.Invalid, "every %s is too often", span).
			WithHint("use 10s or more")
	case span%time.Second != 0:
		return Schedule{}, chela.Ef(chela.Invalid, "every %s is not a whole number of seconds", span).
			WithHint(fmt.Sprintf("use %s", span.Truncate(time.Second)))
	}
	return Schedule{kind: bySpan, every: span, anchor: anchor.Round(0)}, nil
}

// At returns the schedule that is due once, at t.
func At(t time.Time) Schedule { return Schedule{kind: once, at: t.Round(0)} }

// ParseTime reads a time of RFC 3339 or a wall time in zone: "2026-03-29 02:30",
// with seconds or without, "T" or a space in between. A nil zone is UTC. A wall time
// in a gap is the end of the gap; a repeated one is its first occurrence. It returns
// Invalid for any other form.
func ParseTime(text string, zone *time.Location) (time.Time, error) {
	if zone == nil {
		zone = time.UTC
	}
	spelt := strings.Replace(strings.ToUpper(strings.TrimSpace(text)), " ", "T", 1)
	if t, err := time.Parse(time.RFC3339, spelt); err == nil {
		return t.In(zone), nil
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if wall, err := time.Parse(layout, spelt); err == nil {
			return time.Unix(firstReading(zone, wall.Unix(), earliest), 0).In(zone), nil
		}
	}
	return time.Time{}, chela.Ef(chela.Invalid, "%q is not a time", text).
		WithHint("write date and time, such as 2026-03-29 14:30, or 2026-03-29T14:30:00+02:00")
}
