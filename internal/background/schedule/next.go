package schedule

import (
	"math"
	"time"
)

const (
	day  = 24 * 60 * 60 // in seconds
	hour = 60 * 60

	// shift exceeds any change of a zone's offset, in seconds. Offsets are
	// within 16 hours of UTC, and clocks change by a day at most.
	shift = 2 * day

	// years bounds the search for a matching day: a 29 February on a given
	// weekday recurs within 40 years.
	years = 40
)

// The search covers the years that RFC 3339 can write.
var (
	earliest = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	latest   = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC).Unix()
)

// Next returns the first due time of s after the given time, in the zone of s,
// and whether there is one. Nothing is due after the year 9999.
func (s Schedule) Next(after time.Time) (time.Time, bool) {
	switch s.kind {
	case byCron:
		t, ok := s.cron.next(max(after.Unix(), earliest))
		return time.Unix(t, 0).In(s.cron.zone), ok
	case bySpan:
		n := s.spans(after)
		t := s.nth(max(n+1, 0))
		return t, t.Unix() < latest
	case once:
		return s.at, s.at.After(after)
	default:
		return time.Time{}, false
	}
}

// spans returns the number of whole intervals from the anchor to t, negative
// before it.
func (s Schedule) spans(t time.Time) int64 {
	t = time.Unix(max(min(t.Unix(), latest), earliest), int64(t.Nanosecond()))
	seconds := t.Unix() - s.anchor.Unix()
	if t.Nanosecond() < s.anchor.Nanosecond() {
		seconds--
	}
	each := int64(s.every / time.Second)
	n := seconds / each
	if seconds%each < 0 {
		n--
	}
	return n
}

// nth is the time n intervals after the anchor.
func (s Schedule) nth(n int64) time.Time {
	seconds := n * int64(s.every/time.Second)
	return time.Unix(s.anchor.Unix()+seconds, int64(s.anchor.Nanosecond())).In(s.anchor.Location())
}

// next returns the first due second after the given one. Instants and wall
// times are both counted in seconds, a wall time as if it were UTC.
func (c cron) next(after int64) (int64, bool) {
	if after >= latest {
		return 0, false
	}
	var t int64
	var ok bool
	if c.realHours {
		t, ok = c.nextReal(after)
	} else if wall, found := c.match(reached(c.zone, after) + 1); found {
		t, ok = firstReading(c.zone, wall, after+1), true
	}
	return t, ok && t < latest
}

// nextReal is next for expressions that follow real hours.
func (c cron) nextReal(after int64) (int64, bool) {
	p := periodAt(c.zone, after) // a gap may follow at once
	for t := after + 1; ; p = periodAt(c.zone, t) {
		wall, ok := c.match(t + p.offset)
		if !ok {
			return 0, false
		}
		if wall-p.offset < p.end {
			return wall - p.offset, true
		}
		if q := periodAt(c.zone, p.end); wall < p.end+q.offset { // it falls into the gap between the two periods
			wall, ok = c.match(p.end + q.offset)
			if soon := min(p.end+hour, q.end); ok && wall-q.offset < soon {
				return wall - q.offset, true
			}
			return p.end, true
		}
		if p.end < t+shift {
			t = p.end // the clock may go back and repeat earlier times
		} else {
			t = max(p.end, wall-shift)
		}
	}
}

// A period is a time range with one zone offset.
type period struct {
	start, end int64 // instants; end is exclusive
	offset     int64 // of the wall clock, in seconds
}

func periodAt(zone *time.Location, t int64) period {
	at := time.Unix(t, 0).In(zone)
	_, offset := at.Zone()
	start, end := at.ZoneBounds()
	p := period{start: math.MinInt64, end: math.MaxInt64, offset: int64(offset)}
	if !start.IsZero() {
		p.start = start.Unix()
	}
	if !end.IsZero() {
		p.end = end.Unix()
	}
	if p.end <= t {
		// Package time gives each year that follows a rule 365 days, so nothing
		// ends on a 366th (golang/go#81583). This is the end of that day.
		p.end = t - t%day + day
	}
	return p
}

// reached is the latest wall time that the clock of a zone has shown up to t.
func reached(zone *time.Location, t int64) int64 {
	p := periodAt(zone, t)
	wall := t + p.offset
	for p.start > t-shift {
		before := p.start - 1
		p = periodAt(zone, before)
		wall = max(wall, before+p.offset)
	}
	return wall
}

// firstReading is the first instant, not before from, at which the clock of a
// zone shows wall or a later time.
func firstReading(zone *time.Location, wall, from int64) int64 {
	for t := max(from, wall-shift); ; {
		p := periodAt(zone, t)
		if at := max(t, wall-p.offset); at < p.end {
			return at
		}
		t = p.end
	}
}

// match returns the first wall time, not before the given one, that c matches.
func (c cron) match(wall int64) (int64, bool) {
	t := time.Unix(wall, 0).UTC()
	year, month, date := t.Date()
	if c.months.has(int(month)) && c.days.of(year, month).has(date) {
		h, m, s := t.Clock()
		if seconds, ok := c.clockFrom(h, m, s); ok {
			return wall - int64(h*hour+m*60+s) + seconds, true
		}
	}
	midnight, ok := c.nextDay(year, month, date+1)
	seconds, _ := c.clockFrom(0, 0, 0)
	return midnight + seconds, ok
}

// nextDay returns the midnight of the first matching day, not before the given
// date.
func (c cron) nextDay(year int, month time.Month, date int) (int64, bool) {
	for end := year + years; year <= end; year++ {
		for m := c.months.from(int(month)); m <= 12; m = c.months.from(m + 1) {
			if m != int(month) {
				date = 1
			}
			if found := c.days.of(year, time.Month(m)).from(date); found <= 31 {
				return time.Date(year, time.Month(m), found, 0, 0, 0, 0, time.UTC).Unix(), true
			}
		}
		month, date = 1, 1
	}
	return 0, false
}

// clockFrom returns the first matching time of day, not before the given one,
// in seconds, and whether there is one.
func (c cron) clockFrom(h, m, s int) (int64, bool) {
	hh := c.hours.from(h)
	mm := c.minutes.from(0)
	ss := c.seconds.from(0)
	if hh == h {
		mm = c.minutes.from(m)
		if mm == m {
			ss = c.seconds.from(s)
		}
		if ss > 59 {
			mm, ss = c.minutes.from(m+1), c.seconds.from(0)
		}
		if mm > 59 {
			hh, mm, ss = c.hours.from(h+1), c.minutes.from(0), c.seconds.from(0)
		}
	}
	return int64(hh*hour + mm*60 + ss), hh < 24
}
