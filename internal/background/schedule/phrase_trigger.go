package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"chela"
)

// defaultHour is the hour of a day without a time.
const defaultHour = 9

// trigger returns the trigger that a phrase describes.
func (p *phrase) trigger() (t chela.Trigger) {
	p.endOrdinals()
	several := p.weekdays.len() > 1 && !p.next
	switch {
	case p.err != nil:
		return t
	case p.fromNow:
		return p.relative()
	case p.span > 0, p.unit != 0 && p.unit <= unitHour, p.count > 1 && p.unit <= unitWeek:
		return p.interval()
	case p.repeat, several, p.monthly && !p.next:
		return p.cron()
	default:
		return p.single()
	}
}

// hasDay reports whether a phrase names a day or days.
func (p *phrase) hasDay() bool { return !p.date.IsZero() || p.weekdays != 0 || p.hasDate() }

// hasDate reports whether a phrase names days of a month.
func (p *phrase) hasDate() bool {
	return len(p.dates)+len(p.nth) > 0 || p.workDate != "" || p.months != 0 || p.monthly || p.year != 0
}

// at returns a trigger for one time.
func (p *phrase) at(at time.Time) chela.Trigger {
	if at.Year() > 9998 {
		p.refuse("it is too far away", "write a time before the year 9999")
	}
	return chela.Trigger{Kind: chela.TriggerAt, At: at}
}

// wall returns the time at which the clock first shows a time of a day.
func (p *phrase) wall(date time.Time, c daytime) time.Time {
	wall := date.Unix() + int64(c.hour*hour+c.minute*60)
	return time.Unix(firstReading(p.zone, wall, earliest), 0).In(p.zone)
}

// relative is the trigger for a distance from now. Days and months keep the time of
// day; a month without such a day ends at its last.
func (p *phrase) relative() chela.Trigger {
	calendar := p.inDays+p.inMonths > 0
	if p.repeat || p.hasDay() || !calendar && p.inTime <= 0 || (len(p.clocks) > 0 || p.part != "") && (!calendar || p.inTime > 0) {
		p.refuse("it is unclear when that is", "write one such as in 20 minutes, in 2 hours or in 3 days at 9")
		return chela.Trigger{}
	}
	if !calendar {
		return p.at(p.now.Add(p.inTime).Truncate(time.Second))
	}
	y, m, d := p.now.Date()
	month := time.Date(y, m+time.Month(p.inMonths), 1, 0, 0, 0, 0, time.UTC)
	end := month.AddDate(0, 1, -1).Day()
	date := month.AddDate(0, 0, min(d, end)-1+p.inDays)
	if len(p.clocks) > 0 || p.part != "" {
		return p.at(p.wall(date, p.clockOf()))
	}
	seconds := int64(p.now.Hour()*hour + p.now.Minute()*60 + p.now.Second())
	return p.at(time.Unix(firstReading(p.zone, date.Unix()+seconds, earliest), 0).In(p.zone).Add(p.inTime))
}

// interval is the trigger for a fixed interval. On some weekdays, or at a minute of
// each hour, cron describes it.
func (p *phrase) interval() (t chela.Trigger) {
	onWeekdays := p.weekdays != 0 && p.date.IsZero() && !p.hasDate()
	every := p.span
	if p.unit != 0 && p.unit <= unitWeek {
		every = time.Duration(p.count) * p.unit.length()
	}
	switch {
	case p.span > 0 && p.unit != 0:
		p.refuse("it repeats in two ways", "make a schedule for each")
	case p.unit == unitHour && p.count == 1 && len(p.clocks) > 0 && !p.hasDate() && p.date.IsZero() && p.part == "":
		return p.hourly()
	case len(p.clocks) > 0 || p.part != "" || p.hasDay() && !onWeekdays:
		p.refuse("a fixed interval has neither a day nor a time", `write one such as every 2 hours, every 48h or daily at 9, or cron "0 9 */2 * *"`)
	case onWeekdays && p.unit == unitMinute && p.count < 60 && 60%p.count == 0:
		return p.crontab(fmt.Sprintf("*/%d * * *", p.count))
	case onWeekdays && p.unit == unitHour && p.count < 24 && 24%p.count == 0:
		return p.crontab(fmt.Sprintf("0 */%d * *", p.count))
	case onWeekdays:
		p.refuse("such an interval cannot be limited to weekdays", "write one such as every 30 minutes on weekdays, or every 2 hours on mondays")
	case every > longest:
		p.refuse("it is longer than a year", "write a date for each time")
	default:
		if _, p.err = Every(every, time.Time{}); p.err == nil {
			return chela.Trigger{Kind: chela.TriggerEvery, Every: chela.Span(every)}
		}
	}
	return t
}

// hourly is the trigger for minutes of each hour.
func (p *phrase) hourly() (t chela.Trigger) {
	var minutes []string
	for _, c := range p.clocks {
		if c.hour >= 0 {
			p.refuse("it is hourly and has a time", "write one such as every hour at :30, or daily at 9")
			return t
		}
		minutes = append(minutes, strconv.Itoa(c.minute))
	}
	return p.crontab(strings.Join(minutes, ",") + " * * *")
}

// crontab is the trigger of an expression that lacks the weekdays.
func (p *phrase) crontab(fields string) chela.Trigger {
	s, err := ParseCron(fields+" "+p.weekdayField(), p.zone)
	if err != nil && p.err == nil {
		p.err = err
	}
	return chela.Trigger{Kind: chela.TriggerCron, Cron: s.cron.text}
}

// weekdayField is the field of the weekdays in a cron expression.
func (p *phrase) weekdayField() string {
	names := slices.Clone(p.nth)
	switch p.weekdays {
	case 0:
	case span(0, 6):
		return "*"
	case workdays:
		names = append(names, "MON-FRI")
	default:
		for _, n := range []int{1, 2, 3, 4, 5, 6, 0} {
			if p.weekdays.has(n) {
				names = append(names, weekdayField.names[n])
			}
		}
	}
	if len(names) == 0 {
		return "*"
	}
	return strings.Join(names, ",")
}

// cron is the trigger for days that repeat.
func (p *phrase) cron() (t chela.Trigger) {
	dates := p.dateField()
	kinds := boolCount(p.weekdays != 0, len(p.nth) > 0, dates != "*", p.unit == unitDay)
	const cure = "write one such as first of the month at 9, every monday at 9 or every year on 1 may at 9"
	switch {
	case !p.date.IsZero() || p.year != 0:
		p.refuse("it repeats, but names a single day", "leave out the day, or what repeats")
	case p.alternate && !p.monthly:
		p.refuse("it is unclear whether that is every second week", `write second monday of the month at 9, or "every 2 weeks" without a day`)
	case kinds > 1, p.monthly && p.weekdays != 0:
		p.refuse("it names several kinds of days", "make a schedule for each")
	case p.count > 1:
		p.refuse("months and years are not counted", `write the months in cron, as "0 9 1 */3 *"`)
	case p.unit == unitWeek && p.weekdays == 0, p.monthly && kinds == 0, p.unit == unitYear && (p.months == 0 || dates == "*"):
		p.refuse("it names no day", cure)
	case p.months != 0 && dates == "*":
		p.refuse("it names a month without a day", cure)
	case kinds == 0 && len(p.clocks) == 0 && p.part == "":
		p.refuse("it names no day", "write one such as "+Forms)
	}
	minute, hour := p.clockFields()
	if p.err != nil {
		return t
	}
	return p.crontab(minute + " " + hour + " " + dates + " " + numbers(p.months))
}

func boolCount(all ...bool) (n int) {
	for _, b := range all {
		if b {
			n++
		}
	}
	return n
}

// dateField is the field of the days of the month in a cron expression.
func (p *phrase) dateField() string {
	if p.workDate != "" {
		return p.workDate
	}
	var chosen set
	var parts []string
	for _, n := range p.dates {
		chosen |= 1 << n
	}
	if plain := chosen &^ 1; plain != 0 {
		parts = append(parts, numbers(plain))
	}
	if chosen.has(lastDay) {
		parts = append(parts, "L")
	}
	return orAny(strings.Join(parts, ","))
}

func orAny(field string) string {
	if field == "" {
		return "*"
	}
	return field
}

// numbers lists the members of a set for cron; * for none.
func numbers(s set) string {
	var parts []string
	for _, n := range s.members() {
		parts = append(parts, strconv.Itoa(n))
	}
	return orAny(strings.Join(parts, ","))
}

// clockFields are the fields of the minute and the hour in a cron expression.
func (p *phrase) clockFields() (minute, hour string) {
	times := map[daytime]bool{}
	var minutes, hours set
	for _, c := range p.daytimes() {
		times[daytime{hour: c.hour, minute: c.minute}] = true
		minutes |= 1 << c.minute
		hours |= 1 << c.hour
	}
	if len(times) != minutes.len()*hours.len() {
		p.refuse("one cron expression cannot have these times", "make a schedule for each, or choose times with the same minutes, such as 9:30 and 18:30")
	}
	return numbers(minutes), numbers(hours)
}

// daytimes are the times of day of a phrase, after its part of the day.
func (p *phrase) daytimes() []daytime {
	if len(p.clocks) == 0 {
		h := defaultHour
		if p.part != "" {
			h = dayParts[p.part]
		}
		return []daytime{{hour: h}}
	}
	all := slices.Clone(p.clocks)
	for i, c := range all {
		switch {
		case c.hour < 0:
			p.refuse("a minute needs every hour", "write one such as every hour at :30, or daily at 9:30")
			return []daytime{{}}
		case c.exact || p.part == "" || p.part == "morning":
		case p.part == "night" && c.hour == 12:
			all[i].hour = 0
		case c.hour < 12 && (p.part != "night" || c.hour > 5):
			all[i].hour += 12
		}
	}
	return all
}

// clockOf is the one time of day of a single time.
func (p *phrase) clockOf() daytime {
	all := p.daytimes()
	if len(all) > 1 {
		p.refuse("it has several times of one day", "make a schedule for each, or write what repeats: daily at 9 and 18")
	}
	return all[0]
}

// maxDays bounds the search for a day: a 29 February recurs within eight years.
const maxDays = 9 * 366

// single is the trigger for the first time after now that a phrase describes.
func (p *phrase) single() (t chela.Trigger) {
	clock := p.clockOf()
	kinds := boolCount(!p.date.IsZero(), p.weekdays != 0, len(p.dates) > 0)
	switch {
	case p.err != nil:
		return t
	case len(p.nth) > 0 || p.workDate != "":
		p.refuse("it is unclear of which month", "write one such as first monday of the month at 9")
	case kinds > 1 || len(p.dates) > 1:
		p.refuse("it names several days", "make a schedule for each, or write what repeats: every monday and thursday at 9")
	case p.months.len() > 1 || p.months != 0 && len(p.dates) == 0 || p.year != 0 && p.months == 0 || p.monthly && len(p.dates) == 0:
		p.refuse("it names no day", "write one such as 1 may at 9, or 2035-05-01 09:00")
	case kinds == 0 && len(p.clocks) == 0 && p.part == "", p.next && kinds == 0:
		p.refuse("it names no day", "write one such as "+Forms)
	case !p.date.IsZero():
		return p.at(p.wall(p.date, clock))
	}
	y, m, d := p.now.Date()
	if p.year != 0 {
		y, m, d = p.year, time.January, 1
	}
	first := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	for n := range maxDays {
		date := first.AddDate(0, 0, n)
		if !p.matches(date, n) {
			continue
		}
		if at := p.wall(date, clock); p.year != 0 || at.After(p.now) {
			return p.at(at)
		}
	}
	p.refuse("there is no such day", "choose a day that the month has")
	return t
}

// matches reports whether a day, n days after the first that is searched, is one that a
// phrase describes.
func (p *phrase) matches(date time.Time, n int) bool {
	y, m, d := date.Date()
	lastOfMonth := date.AddDate(0, 0, 1).Day() == 1
	switch {
	case p.year != 0 && y != p.year, p.months != 0 && !p.months.has(int(m)), p.next && p.weekdays != 0 && n == 0:
		return false
	case p.next && p.weekdays == 0 && p.months == 0 && m == p.now.Month() && y == p.now.Year():
		return false
	case p.weekdays != 0:
		return p.weekdays.has(int(date.Weekday()))
	case len(p.dates) > 0:
		return p.dates[0] == d || p.dates[0] == lastDay && lastOfMonth
	}
	return true
}
