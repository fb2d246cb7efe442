package schedule

import "time"

// Missed returns the times after last, until now, at which s was due: the newest
// of them, at most most, in order, and how many there were before these. Times
// of a cron expression are gone through one by one, a year of minutes in about
// 0.2 s; spans are reckoned.
func (s Schedule) Missed(last, now time.Time, most int) (due []time.Time, more int) {
	if s.kind == bySpan {
		return s.missedSpans(last, now, most)
	}
	var newest []time.Time // a ring once it has grown to most
	n := 0
	for t, ok := s.Next(last); ok && !t.After(now); t, ok = s.Next(t) {
		switch {
		case n < most:
			newest = append(newest, t)
		case most > 0:
			newest[n%most] = t
		}
		n++
	}
	if n <= most || most <= 0 {
		return newest, n - len(newest)
	}
	return append(newest[n%most:], newest[:n%most]...), n - most
}

// missedSpans is Missed for spans, of which there may be millions.
func (s Schedule) missedSpans(last, now time.Time, most int) (due []time.Time, more int) {
	end := s.spans(now)
	all := end - max(s.spans(last), -1)
	if all <= 0 {
		return nil, 0
	}
	for n := end - min(all, int64(most)) + 1; n <= end; n++ {
		due = append(due, s.nth(n))
	}
	return due, int(all) - len(due)
}
