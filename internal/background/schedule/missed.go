package schedule

import "time"

// Missed returns the due times after last, up to now: the newest most of them,
// in order, and the number of earlier ones. Cron times are iterated, at about
// 0.2 s for a year of minutes; intervals are computed.
func (s Schedule) Missed(last, now time.Time, most int) (due []time.Time, more int) {
	if s.kind == bySpan {
		return s.missedSpans(last, now, most)
	}
	for t, ok := s.Next(last); ok && !t.After(now); t, ok = s.Next(t) {
		if due = append(due, t); len(due) > most {
			due, more = due[1:], more+1
		}
	}
	return due, more
}

// missedSpans is Missed for intervals, which may be millions.
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
