package rule

// This part of the package implements daily time windows, such as quiet hours,
// in a time zone.

import "time"

// A Window is the time between two clock times of every day, from the first
// (inclusive) to the second (exclusive). A window whose end is before its start
// spans midnight. The zero Window is always open.
//
// The window follows the wall clock of the zone. On a day whose clocks skip
// times of the window, it is shorter or missing; on a day that repeats times,
// it is open both times.
type Window struct {
	start, end time.Duration // since midnight; equal: always
	zone       *time.Location
}

// wholeDay is the value of "24:00", which is valid only as an end.
const wholeDay = 24 * time.Hour

// ParseWindow returns the window between two times in the form HH:MM in a zone; both
// empty mean always, as 00:00 and 24:00 do. Anything else is an Invalid error,
// including two equal times, which could mean always as well as never. The zone
// must not be nil.
func ParseWindow(start, end string, zone *time.Location) (Window, error) {
	if start == "" && end == "" {
		return Window{}, nil
	}
	from, err := parseClock(start)
	if err != nil {
		return Window{}, err
	}
	to, err := parseClock(end)
	switch {
	case err != nil:
		return Window{}, err
	case from == wholeDay:
		return Window{}, invalid("the window starts at 24:00, the end of a day").WithHint("use 00:00")
	case from == to:
		return Window{}, invalid("the window starts and ends at %s", start).
			WithHint("use 00:00 and 24:00 for the whole day")
	case from == 0 && to == wholeDay:
		return Window{}, nil
	}
	return Window{start: from, end: to, zone: zone}, nil
}

func parseClock(s string) (time.Duration, error) {
	if s == "24:00" {
		return wholeDay, nil
	}
	t, err := time.Parse("15:04", s)
	if err != nil || len(s) != len("15:04") {
		return 0, invalid("%q is not a time of day", s).WithHint("use HH:MM, such as 08:00")
	}
	return clock(t), nil
}

// clock returns the wall clock of t, as the time since midnight.
func clock(t time.Time) time.Duration {
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute +
		time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
}

// Contains reports whether the window is open at t.
func (w Window) Contains(t time.Time) bool {
	if w.start == w.end {
		return true
	}
	shown := clock(t.In(w.zone))
	if w.start < w.end {
		return w.start <= shown && shown < w.end
	}
	return w.start <= shown || shown < w.end
}
