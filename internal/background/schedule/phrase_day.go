package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The weekdays of "weekday" and "weekend".
const (
	workdays set = 0b0111110
	weekend  set = 0b1000001
)

// weekdayOf reads the name of a weekday, and whether it is a plural.
func weekdayOf(word string) (weekday int, plural, ok bool) {
	for n := range 7 {
		name := strings.ToLower(time.Weekday(n).String())
		if len(word) >= 3 && strings.HasPrefix(name, word) || word == name+"s" {
			return n, word == name+"s", true
		}
	}
	return 0, false, false
}

// monthOf reads the name of a month; 0 for another word.
func monthOf(word string) int {
	for n := 1; n <= 12; n++ {
		if len(word) >= 3 && strings.HasPrefix(strings.ToLower(time.Month(n).String()), word) {
			return n
		}
	}
	return 0
}

// weekday reads weekdays: monday, mondays, mon-fri, monday to friday, weekdays.
func (p *phrase) weekday(word string) bool {
	switch word {
	case "weekday", "weekdays", "workday", "workdays":
		p.repeat = p.repeat || strings.HasSuffix(word, "s")
		p.workday()
		return true
	case "weekend", "weekends":
		p.repeat = p.repeat || strings.HasSuffix(word, "s")
		p.weekdays |= weekend
		return true
	}
	first, last := word, ""
	if parts := rangeForm().FindStringSubmatch(word); parts != nil {
		first, last = parts[1], parts[2]
	}
	lo, plural, ok := weekdayOf(first)
	if !ok {
		return false
	}
	p.repeat = p.repeat || plural
	if last == "" && p.skip("to", "through", "until", "till", "-", "–") {
		last = p.take()
	}
	switch hi, _, isDay := weekdayOf(last); {
	case last != "" && (!isDay || len(p.ordinals) > 0):
		p.refuse(strconv.Quote(last)+" does not end a range of weekdays", "write one such as monday to friday at 9")
	case last != "":
		for n := lo; n != hi; n = (n + 1) % 7 {
			p.weekdays |= 1 << n
		}
		p.weekdays |= 1 << hi
	case len(p.ordinals) > 0:
		p.nthWeekday(lo)
	default:
		p.weekdays |= 1 << lo
	}
	return true
}

// nthWeekday reads the ordinals before a weekday: the first and third Monday.
func (p *phrase) nthWeekday(weekday int) {
	name := weekdayField.names[weekday]
	for _, n := range p.ordinals {
		switch {
		case n == lastDay:
			p.nth = append(p.nth, name+"L")
		case n <= 5:
			p.nth = append(p.nth, fmt.Sprintf("%s#%d", name, n))
		default:
			p.refuse("no month has so many weeks", "write first to fifth, or last")
		}
	}
	p.ordinals = nil
}

// workday reads "weekday": all of them, or the first or last one of a month.
func (p *phrase) workday() {
	switch {
	case len(p.ordinals) == 0:
		p.weekdays |= workdays
	case slices.Equal(p.ordinals, []int{1}):
		p.workDate = "1W"
	case slices.Equal(p.ordinals, []int{lastDay}):
		p.workDate = "LW"
	default:
		p.refuse("only the first or the last weekday of a month can be named", "write one such as last weekday of the month at 9")
	}
	p.ordinals = nil
}

// ordinal reads first, 2nd or last.
func (p *phrase) ordinal(word string) bool {
	n := slices.Index([]string{"last", "first", "second", "third", "fourth", "fifth"}, word)
	if parts := dayForm().FindStringSubmatch(word); parts != nil {
		n, _ = strconv.Atoi(parts[1]) // two digits at most
		if n < 1 || n > 31 {
			p.refuse("no month has such a day", "write 1st to 31st, or last day of the month")
		}
	}
	if n < 0 {
		return false
	}
	p.ordinals = append(p.ordinals, n)
	if p.skip("day") {
		p.endOrdinals()
	}
	return true
}

// endOrdinals takes ordinals without a weekday as days of a month.
func (p *phrase) endOrdinals() {
	p.dates, p.ordinals = append(p.dates, p.ordinals...), nil
}

// month reads "month" and the names of months, with the day that follows.
func (p *phrase) month(word string) bool {
	if word == "month" {
		p.monthly = true
		return true
	}
	m := monthOf(word)
	if m == 0 {
		return false
	}
	p.months |= 1 << m
	if n, ok := number(p.peek()); ok && n >= 1 && n <= 31 && len(p.dates)+len(p.ordinals) == 0 {
		p.take()
		p.dates = append(p.dates, n)
	}
	return true
}

// day reads today, tomorrow, a date, a part of the day, the number of a day before its
// month, and a year after one.
func (p *phrase) day(word string) bool {
	y, m, d := p.now.Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	if date, err := time.Parse(time.DateOnly, word); err == nil {
		return p.on(date)
	}
	switch word {
	case "today":
		return p.on(today)
	case "tonight":
		p.part = "night"
		return p.on(today)
	case "tomorrow":
		return p.on(today.AddDate(0, 0, 1))
	}
	if part := strings.TrimSuffix(word, "s"); dayParts[part] != 0 {
		p.repeat = p.repeat || part != word
		if p.part != "" && p.part != part {
			p.refuse("it names two parts of the day", "name one, or write the times: at 9 and 18")
		}
		p.part = part
		return true
	}
	n, ok := number(word)
	if ok && n > 1000 && p.months != 0 && p.year == 0 {
		p.year = n
		return true
	}
	ok = ok && n >= 1 && n <= 31 && (monthOf(p.peek()) != 0 || p.peek() == "of")
	if ok {
		p.dates = append(p.dates, n)
	}
	return ok
}

// on sets the day of a single time.
func (p *phrase) on(date time.Time) bool {
	if !p.date.IsZero() && !p.date.Equal(date) {
		p.refuse("it names two days", "make a schedule for each")
	}
	p.date = date
	return true
}

// clock reads a time of day. A number without minutes is one after "at", or where it
// cannot be anything else.
func (p *phrase) clock(word string, at bool) bool {
	switch word {
	case "noon", "midday":
		p.clocks = append(p.clocks, daytime{12, 0, true})
		return true
	case "midnight":
		p.clocks = append(p.clocks, daytime{0, 0, true})
		return true
	}
	if parts := pastForm().FindStringSubmatch(word); parts != nil {
		minute, _ := strconv.Atoi(parts[1])
		p.clocks = append(p.clocks, daytime{-1, minute, true})
		return true
	}
	parts := clockForm().FindStringSubmatch(word)
	if parts == nil || !at && parts[2]+parts[3] == "" && unitOf(p.peek()) != 0 {
		return false
	}
	half := parts[3]
	if half == "" && (p.peek() == "am" || p.peek() == "pm") {
		half = p.take()
	}
	hour, _ := strconv.Atoi(parts[1])   // two digits
	minute, _ := strconv.Atoi(parts[2]) // two digits, or none
	if half != "" && (hour < 1 || hour > 12) || hour > 23 {
		p.refuse("there is no such hour", "write 0:00 to 23:59, or 12am to 11pm; midnight is 0:00")
		return true
	}
	exact := half != "" || hour > 12 || hour == 0
	if half != "" {
		hour %= 12
	}
	if half == "pm" {
		hour += 12
	}
	p.clocks = append(p.clocks, daytime{hour, minute, exact})
	return true
}
