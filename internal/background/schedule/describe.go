package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Up to these counts, values are listed one by one; above them the expression
// itself is clearer.
const (
	mostClocks = 4 // times of a day
	mostDates  = 6 // days of a month
)

// clock is the time of day, with seconds unless they are 0.
func clock(t time.Time) string {
	if t.Second() != 0 {
		return t.Format(time.TimeOnly)
	}
	return t.Format("15:04")
}

// plural is "day" for one and "2 days" for two.
func plural(n int, unit string) string {
	if n == 1 {
		return unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}

// Describe describes a cron schedule briefly in English: "every day at 09:00
// Europe/Zurich". It returns the expression itself if there is no brief description.
func (s Schedule) Describe() string {
	c := s.cron
	days := c.dayWords()
	daily := days == "every day"
	times, steps := c.stepWords(), true
	if n := c.hours.len() * c.minutes.len() * c.seconds.len(); n <= mostClocks {
		times, steps = "at "+c.clocks(), false
	}
	switch {
	case days == "" || times == "":
		return "cron " + c.text + c.inZone()
	case steps && daily && c.hours == allHours:
		return times // in every zone
	case steps && daily:
		return times + c.inZone()
	case steps:
		return times + ", " + days + c.inZone()
	default:
		return days + " " + times + c.inZone()
	}
}

// inZone returns the zone as a suffix; empty for the machine's local zone,
// whose name is meaningless elsewhere.
func (c cron) inZone() string {
	if c.zone == time.Local {
		return ""
	}
	return " " + c.zone.String()
}

// clocks lists the times of day.
func (c cron) clocks() string {
	var all []string
	for _, h := range c.hours.members() {
		for _, m := range c.minutes.members() {
			for _, s := range c.seconds.members() {
				all = append(all, clock(time.Date(1, 1, 1, h, m, s, 0, time.UTC)))
			}
		}
	}
	return list(all)
}

// stepWords describes times of day that follow a step, or returns "".
func (c cron) stepWords() string {
	everySecond, everyMinute := step(c.seconds, 60), step(c.minutes, 60)
	switch {
	case everyMinute == 1 && everySecond > 0 && everySecond < 60:
		return c.within("every " + plural(everySecond, "second"))
	case everySecond != 60: // not at the full minute
		return ""
	case everyMinute > 0 && everyMinute < 60:
		return c.within("every " + plural(everyMinute, "minute"))
	case c.minutes.len() == 1:
		return c.hourWords()
	default:
		return ""
	}
}

// within adds the range of hours to words that hold for each of them, or
// returns "".
func (c cron) within(words string) string {
	first, last := c.hours.from(0), c.hours.last()
	switch c.hours {
	case allHours:
		return words
	case span(first, last):
		return fmt.Sprintf("%s from %02d:00 to %02d:59", words, first, last)
	default:
		return ""
	}
}

// hourWords describes hours with one time each, or returns "".
func (c cron) hourWords() string {
	minute, first, last := c.minutes.from(0), c.hours.from(0), c.hours.last()
	switch by := step(c.hours, 24); {
	case by == 1 && minute == 0:
		return "every hour"
	case by == 1:
		return fmt.Sprintf("every hour at :%02d", minute)
	case by > 0:
		return fmt.Sprintf("every %d hours from 00:%02d", by, minute)
	case c.hours == span(first, last):
		return fmt.Sprintf("every hour from %02d:%02d to %02d:%02d", first, minute, last, minute)
	default:
		return ""
	}
}

// step returns the distance between the members of s in a cycle of the given
// size, or 0 if it varies.
func step(s set, size int) int {
	by := min(s.from(1), size)
	if by > size/2 {
		by = size
	}
	var even set
	for n := 0; n < size; n += by {
		even |= 1 << n
	}
	if size%by != 0 || s != even {
		return 0
	}
	return by
}

// dayWords describes the days, or returns "".
func (c cron) dayWords() string {
	everyDate, everyWeekday := c.days.plain == span(1, 31), c.days.weekdays == span(0, 6)
	both := c.days.anyDay || c.days.anyWeek
	months := c.monthWords()
	words, preposition := "", " in "
	switch {
	case everyDate && everyWeekday, !both && (everyDate || everyWeekday):
		words = "every day"
	case everyDate:
		words = c.days.weekdayWords()
	case everyWeekday && months != "":
		words, preposition = c.days.dateWords(), " of "
	case everyWeekday:
		words = ofMonth(c.days.dateWords())
	case both:
		return ""
	default:
		dates, weekdays := ofMonth(c.days.dateWords()), c.days.weekdayWords()
		if dates != "" && weekdays != "" {
			words = dates + " and " + weekdays
		}
	}
	if words == "" || months == "" {
		return words
	}
	return words + preposition + months
}

func ofMonth(words string) string {
	if words == "" {
		return ""
	}
	return words + " of the month"
}

// monthWords lists the months, or is "" for all.
func (c cron) monthWords() string {
	if c.months == span(1, 12) {
		return ""
	}
	var names []string
	for _, m := range c.months.members() {
		names = append(names, time.Month(m).String())
	}
	return list(names)
}

// dateWords describes the day-of-month field, or returns "".
func (d days) dateWords() string {
	var parts []string
	for _, n := range d.plain.members() {
		parts = append(parts, "the "+ordinal(n))
	}
	for _, n := range d.near.members() {
		parts = append(parts, "the weekday nearest the "+ordinal(n))
	}
	for _, n := range d.fromLast.members() {
		switch n {
		case 0:
			parts = append(parts, "the last day")
		case 1:
			parts = append(parts, "the day before the last")
		default:
			parts = append(parts, fmt.Sprintf("the %s day before the last", ordinal(n)))
		}
	}
	if d.lastWork {
		parts = append(parts, "the last weekday")
	}
	if len(parts) > mostDates {
		return ""
	}
	return "on " + list(parts)
}

// weekdayWords describes the weekday field, or returns "".
func (d days) weekdayWords() string {
	parts := weekdayNames(d.weekdays)
	plain := len(parts)
	for _, n := range d.nth.members() {
		parts = append(parts, fmt.Sprintf("the %s %s", [...]string{"first", "second", "third", "fourth", "fifth"}[n/7], time.Weekday(n%7)))
	}
	for _, n := range d.lastOf.members() {
		parts = append(parts, "the last "+time.Weekday(n).String())
	}
	switch {
	case len(parts) > mostDates:
		return ""
	case plain == 0:
		return ofMonth("on " + list(parts))
	case len(parts) == 1 && d.weekdays.len() == 1:
		return "every " + parts[0]
	case len(parts) == plain && plain == 1: // from and to
		return parts[0]
	case len(parts) == plain:
		return "on " + list(parts)
	default: // "of the month" would apply to all of them
		return ""
	}
}

// weekdayNames lists weekdays, with three or more in a row as a range.
func weekdayNames(weekdays set) []string {
	week := weekdays>>1 | weekdays&1<<6 // Monday is 0
	if week.len() > 2 && week == span(week.from(0), week.last()) {
		return []string{weekdayName(week.from(0)) + " to " + weekdayName(week.last())}
	}
	var names []string
	for _, n := range week.members() {
		names = append(names, weekdayName(n))
	}
	return names
}

// weekdayName names a weekday counted from Monday.
func weekdayName(n int) string { return time.Weekday((n + 1) % 7).String() }

func ordinal(n int) string {
	ending := "th"
	switch {
	case n/10 == 1:
	case n%10 == 1:
		ending = "st"
	case n%10 == 2:
		ending = "nd"
	case n%10 == 3:
		ending = "rd"
	}
	return strconv.Itoa(n) + ending
}

// list joins parts with commas and, before the last one, "and".
func list(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}
