package schedule

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"chela"
	"chela/internal/platform/nearest"
)

// A cron is a parsed expression.
type cron struct {
	seconds, minutes, hours, months set
	days                            days
	realHours                       bool // the hour is *, has a step or lists all hours
	zone                            *time.Location
	text                            string // in canonical spelling
}

// maxText bounds an expression, in bytes.
const maxText = 500

// A field is one field of an expression. Its values are lo to hi.
type field struct {
	name, whole string // whole is the unit that the values divide
	lo, hi      int
	names       []string // names of the values, if any
}

var (
	secondField  = field{"second", "minute", 0, 59, nil}
	minuteField  = field{"minute", "hour", 0, 59, nil}
	hourField    = field{"hour", "day", 0, 23, nil}
	dayField     = field{"day of month", "month", 1, 31, nil}
	monthField   = field{"month", "year", 1, 12, strings.Fields("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC")}
	weekdayField = field{"weekday", "week", 0, 6, strings.Fields("SUN MON TUE WED THU FRI SAT")}
)

func (f field) isWeekday() bool { return f.name == weekdayField.name }

// macros maps named expressions to their fields.
var macros = map[string]string{
	"@hourly":   "0 * * * *",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@weekly":   "0 0 * * 0",
	"@monthly":  "0 0 1 * *",
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
}

// ParseCron parses a cron expression; its wall times are in zone, UTC if nil.
// It returns Invalid, naming the field and a correction, for a malformed
// expression or one that no date matches.
//
// The parser is our own: libraries either lack L, W and #, or expose only the
// text of each field, and all of them miss or repeat hours when clocks change.
func ParseCron(expr string, zone *time.Location) (Schedule, error) {
	if zone == nil {
		zone = time.UTC
	}
	if len(expr) > maxText {
		return Schedule{}, chela.Ef(chela.Invalid, "a cron expression of %d bytes is too long", len(expr)).
			WithHint(fmt.Sprintf("use at most %d, with ranges and steps instead of lists", maxText))
	}
	fields, err := splitFields(expr)
	if err != nil {
		return Schedule{}, err
	}
	c := cron{zone: zone, text: strings.Join(fields, " ")}
	if full, ok := macros[fields[0]]; ok {
		fields = strings.Fields(full)
	}
	if err := c.parse(fields); err != nil {
		return Schedule{}, err
	}
	if _, ok := c.match(earliest); !ok {
		return Schedule{}, chela.Ef(chela.Invalid, "cron expression %q is never due: no month that it names has such a day", c.text).
			WithHint("correct day of month and month; the last day of a month is L")
	}
	return Schedule{kind: byCron, cron: c}, nil
}

// splitFields returns the fields of an expression in capitals, or the expansion
// of a macro.
func splitFields(expr string) ([]string, error) {
	if strings.HasPrefix(strings.TrimSpace(expr), "@") {
		return splitMacro(strings.ToLower(strings.TrimSpace(expr)))
	}
	fields := strings.Fields(strings.ToUpper(expr))
	refused := chela.Ef(chela.Invalid, "cron expression %q has %d fields", expr, len(fields))
	switch n := len(fields); {
	case n > 0 && strings.Contains(fields[0], "TZ="):
		return nil, chela.Ef(chela.Invalid, "cron expression %q names a zone", expr).
			WithHint("leave it out, and set the zone of the schedule")
	case n == 7:
		return nil, refused.WithHint("leave out the year: write 6 fields, second minute hour day month weekday")
	case n != 5 && n != 6:
		return nil, refused.WithHint("write 5 fields, minute hour day month weekday, such as 0 9 * * MON-FRI, or 6 with the second before them")
	}
	return fields, nil
}

func splitMacro(name string) ([]string, error) {
	if _, ok := macros[name]; ok {
		return []string{name}, nil
	}
	refused := chela.Ef(chela.Invalid, "there is no cron expression %q", name)
	if strings.HasPrefix(name, "@every") {
		return nil, refused.WithHint("this is an interval: use a trigger of kind every, with 30m or 1d12h")
	}
	known := slices.Sorted(maps.Keys(macros))
	if near := nearest.Name(name, known); near != "" {
		return nil, refused.WithHint("did you mean " + near + "?")
	}
	return nil, refused.WithHint("use one of " + strings.Join(known, ", ") + ", or 5 fields")
}

// parse reads five or six fields.
func (c *cron) parse(fields []string) error {
	var p parser
	c.seconds = 1
	if len(fields) == 6 {
		c.seconds = p.list(secondField, fields[0])
		p.checkSeconds(c.seconds, fields[0])
		fields = fields[1:]
	}
	c.minutes = p.list(minuteField, fields[0])
	c.hours = p.list(hourField, fields[1])
	c.realHours = strings.ContainsAny(fields[1], "*/") || c.hours == allHours
	p.dates(&c.days, fields[2])
	c.months = p.list(monthField, fields[3])
	p.weekdays(&c.days, fields[4])
	return p.err
}

// A parser reads fields. After its first error, which it keeps, the results have no
// meaning.
type parser struct{ err error }

// refuse keeps an Invalid error about a part of f.
func (p *parser) refuse(f field, found, trouble, cure string) {
	if p.err == nil {
		p.err = chela.Ef(chela.Invalid, "cron field %s: %q %s", f.name, found, trouble).WithHint(cure)
	}
}

// checkSeconds refuses seconds that are closer than MinEvery.
func (p *parser) checkSeconds(seconds set, text string) {
	last := seconds.last() - 60
	for _, s := range seconds.members() {
		if s-last < int(MinEvery/time.Second) {
			p.refuse(secondField, text, "is too often", "keep the seconds 10 or more apart, such as */10, or leave the field out")
		}
		last = s
	}
}

// list reads a list of values, ranges and steps.
func (p *parser) list(f field, text string) (chosen set) {
	for item := range strings.SplitSeq(text, ",") {
		chosen |= p.item(f, item)
	}
	return chosen
}

// dates reads the day-of-month field.
func (p *parser) dates(d *days, text string) {
	if text == "?" {
		text = "*"
	}
	d.anyDay = strings.HasPrefix(text, "*")
	for item := range strings.SplitSeq(text, ",") {
		work, isWork := strings.CutSuffix(item, "W")
		back, isBack := strings.CutPrefix(item, "L-")
		switch {
		case item == "LW":
			d.lastWork = true
		case isWork:
			d.near |= 1 << p.value(dayField, work)
		case item == "L":
			d.fromLast |= 1
		case strings.HasPrefix(item, "L"):
			n, err := strconv.ParseUint(back, 10, 8)
			if !isBack || err != nil || n > 30 {
				p.refuse(dayField, item, "is not a day before the last one", "write L for the last day, L-1 to L-30 for those before it, LW for the last weekday")
			}
			d.fromLast |= 1 << n
		default:
			d.plain |= p.item(dayField, item)
		}
	}
}

// weekdays reads the weekday field.
func (p *parser) weekdays(d *days, text string) {
	if text == "?" {
		text = "*"
	}
	d.anyWeek = strings.HasPrefix(text, "*")
	for item := range strings.SplitSeq(text, ",") {
		lastOf, isLast := strings.CutSuffix(item, "L")
		name, nth, isNth := strings.Cut(item, "#")
		switch {
		case item == "L":
			p.refuse(weekdayField, item, "names no weekday", "write 5L or FRIL for the last Friday of the month, 6 for Saturdays")
		case isLast:
			d.lastOf |= 1 << p.value(weekdayField, lastOf)
		case isNth:
			weekday := p.value(weekdayField, name)
			n, err := strconv.ParseUint(nth, 10, 8)
			if err != nil || n < 1 || n > 5 {
				p.refuse(weekdayField, item, "is no weekday of a month", fmt.Sprintf("write %[1]s#1 to %[1]s#5, or %[1]sL for the last one", name))
				return
			}
			d.nth |= 1 << (weekday + 7*(int(n)-1))
		default:
			d.weekdays |= p.item(weekdayField, item)
		}
	}
}

// item reads a value, a range, or either with a step. A single value with a step
// extends to the last value.
func (p *parser) item(f field, text string) (chosen set) {
	values, step, stepped := strings.Cut(text, "/")
	first, last, ranged := strings.Cut(values, "-")
	lo, hi, by := f.lo, f.hi, 1
	if values != "*" {
		lo = p.value(f, first)
		switch {
		case ranged:
			hi = p.end(f, lo, first, last)
		case !stepped:
			hi = lo
		}
	}
	if stepped {
		by = p.step(f, text, step)
	}
	for n := lo; n <= hi; n += by {
		if n > f.hi { // weekday 7 is Sunday
			chosen |= 1
		} else {
			chosen |= 1 << n
		}
	}
	return chosen
}

// end reads the end of a range. Sunday may end a range that began before it.
func (p *parser) end(f field, lo int, first, last string) int {
	hi := p.value(f, last)
	if f.isWeekday() && hi == 0 && first != last && (lo > 0 || last == "7") {
		hi = 7
	}
	if hi < lo {
		p.refuse(f, first+"-"+last, "runs backwards", fmt.Sprintf("write %s-%s,%s-%s", first, f.spell(f.hi), f.spell(f.lo), last))
	}
	return hi
}

// step reads the number after a slash.
func (p *parser) step(f field, item, text string) int {
	n, err := strconv.ParseUint(text, 10, 16)
	size := f.hi - f.lo + 1
	switch {
	case err != nil || n == 0:
		p.refuse(f, item, "has no step", fmt.Sprintf("write a step from 1 to %d after the slash", size))
		return 1
	case int(n) > size:
		p.refuse(f, item, fmt.Sprintf("has a step of more than %d", size), "use a schedule of kind every for longer spans, since steps restart in each "+f.whole)
	}
	return int(n)
}

// value reads one value, a number or a name.
func (p *parser) value(f field, text string) int {
	if at := slices.Index(f.names, text); at >= 0 {
		return f.lo + at
	}
	n, err := strconv.ParseUint(text, 10, 8)
	switch {
	case err != nil || len(text) > 2:
	case f.isWeekday() && n == 7:
		return 0
	case int(n) >= f.lo && int(n) <= f.hi:
		return int(n)
	}
	p.refuse(f, text, "is not "+f.allowed(), f.cure(text))
	return f.lo
}

// allowed describes the values of f.
func (f field) allowed() string {
	values := fmt.Sprintf("%d to %d", f.lo, f.hi)
	if f.isWeekday() {
		values = "0 to 7"
	}
	if len(f.names) > 0 {
		values += fmt.Sprintf(" or %s to %s", f.names[0], f.names[len(f.names)-1])
	}
	return values
}

// cure suggests a correction for text, which is not a value of f.
func (f field) cure(text string) string {
	if len(text) > 3 && slices.Contains(f.names, text[:3]) {
		return "write " + text[:3]
	}
	if near := nearest.Name(text, f.names); near != "" {
		return "did you mean " + near + "?"
	}
	switch {
	case text == "?":
		return "write *; ? is for day of month and weekday alone"
	case strings.ContainsAny(text, "LW#"):
		return "write L, L-3, LW and 15W as day of month, 5L and MON#2 as weekday, alone or in a list"
	case f.name == hourField.name && text == "24":
		return "write 0 for midnight"
	case f.hi == 59 && text == "60":
		return "write 0 for the full " + f.whole
	}
	return "write *, a value, a range such as " + f.spell(f.lo+1) + "-" + f.spell(f.lo+5) + ", a step such as */2, or a list of these with commas"
}

// spell formats a value of f for people.
func (f field) spell(n int) string {
	if len(f.names) > 0 {
		return f.names[n-f.lo]
	}
	return strconv.Itoa(n)
}
