package schedule

import (
	"math/bits"
	"time"
)

// A set is a bit set of the numbers 0 to 63.
type set uint64

func (s set) has(n int) bool { return s>>n&1 != 0 }

func (s set) len() int { return bits.OnesCount64(uint64(s)) }

// from returns the first member not below n, or 64.
func (s set) from(n int) int {
	if n > 63 {
		return 64
	}
	return bits.TrailingZeros64(uint64(s >> n << n))
}

// last returns the greatest member of a non-empty set.
func (s set) last() int { return 63 - bits.LeadingZeros64(uint64(s)) }

// allHours holds the hours 0 to 23.
const allHours set = 1<<24 - 1

// members lists what s holds, in order.
func (s set) members() []int {
	var all []int
	for n := s.from(0); n < 64; n = s.from(n + 1) {
		all = append(all, n)
	}
	return all
}

// span is the set of the numbers lo to hi.
func span(lo, hi int) set { return set(1)<<(hi+1) - set(1)<<lo }

// days holds the day-of-month and weekday fields of a cron expression.
type days struct {
	plain    set  // days of the month, from 1
	fromLast set  // distance from the last day; 0 is the last
	near     set  // 15 for 15W
	lastWork bool // LW
	anyDay   bool // the field begins with * or ?

	weekdays set // 0 is Sunday
	lastOf   set // weekdays in their last occurrence of the month
	nth      set // weekday + 7·(n-1) for the n-th one
	anyWeek  bool
}

// of returns the matching days of a month.
func (d days) of(year int, month time.Month) set {
	last := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC)
	end := last.Day()
	first := (int(last.Weekday()) - (end - 1) + 35) % 7 // the weekday of the 1st
	byDate := d.byDate(end, first)
	byWeekday := d.byWeekday(end, first)
	if d.anyDay || d.anyWeek {
		return byDate & byWeekday
	}
	return byDate | byWeekday
}

// byDate returns the days that the day-of-month field matches in a month of end
// days that begins on the weekday first.
func (d days) byDate(end, first int) set {
	chosen := d.plain & span(1, end)
	for back := d.fromLast.from(0); back < end; back = d.fromLast.from(back + 1) {
		chosen |= 1 << (end - back)
	}
	for day := d.near.from(1); day <= end; day = d.near.from(day + 1) {
		chosen |= 1 << nearestWork(day, end, (first+day-1)%7)
	}
	if d.lastWork {
		chosen |= 1 << nearestWork(end, end, (first+end-1)%7)
	}
	return chosen
}

// nearestWork is the working day nearest to day, which falls on weekday, within
// the same month.
func nearestWork(day, end, weekday int) int {
	switch {
	case weekday == 6 && day == 1:
		return 3
	case weekday == 6:
		return day - 1
	case weekday == 0 && day == end:
		return day - 2
	case weekday == 0:
		return day + 1
	default:
		return day
	}
}

// byWeekday returns the days that the weekday field matches.
func (d days) byWeekday(end, first int) set {
	const weekly = 1 | 1<<7 | 1<<14 | 1<<21 | 1<<28
	var chosen set
	for weekday := range 7 {
		day := 1 + (weekday-first+7)%7 // the first one in the month
		all := weekly << day & span(1, end)
		if d.weekdays.has(weekday) {
			chosen |= all
		}
		if d.lastOf.has(weekday) {
			chosen |= 1 << all.last()
		}
		for n := range 5 {
			if d.nth.has(weekday + 7*n) {
				chosen |= 1 << (day + 7*n) & all
			}
		}
	}
	return chosen
}
