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
	name   string
	lo, hi int
	names  []string // names of the values, if any
}

var (
	secondField  = field{name: "second", hi: 59}
	minuteField  = field{name: "minute", hi: 59}
	hourField    = field{name: "hour", hi: 23}
	dayField     = field{name: "day of month", lo: 1, hi: 31}
	monthField   = field{name: "month", lo: 1, hi: 12, names: strings.Fields("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC")}
	weekdayField = field{name: "weekday", hi: 6, names: strings.Fields("SUN MON TUE WED THU FRI SAT")}
)

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
		return Schedule{}, chela.E(chela.Invalid, fmt.Sprintf("a cron expression of %d bytes is too long", len(expr))).
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
		return Schedule{}, chela.E(chela.Invalid, fmt.Sprintf("cron expression %q is never due: no month that it names has such a day", c.text)).
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
	refused := chela.E(chela.Invalid, fmt.Sprintf("cron expression %q has %d fields", expr, len(fields)))
	switch n := len(fields); {
	case n > 0 && strings.Contains(fields[0], "TZ="):
		return nil, chela.E(chela.Invalid, fmt.Sprintf("cron expression %q names a zone", expr)).
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
	refused := chela.E(chela.Invalid, fmt.Sprintf("there is no cron expression %q", name))
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
func (c *cron) parse(fields []string) (err error) {
	c.seconds = 1
	if len(fields) == 6 {
		if c.seconds, err = secondField.plain(fields[0]); err != nil {
			return err
		}
		if err := checkSeconds(c.seconds, fields[0]); err != nil {
			return err
		}
		fields = fields[1:]
	}
	if c.minutes, err = minuteField.plain(fields[0]); err != nil {
		return err
	}
	if c.hours, err = hourField.plain(fields[1]); err != nil {
		return err
	}
	c.realHours = strings.ContainsAny(fields[1], "*/") || c.hours == allHours
	if err := c.days.parseDates(fields[2]); err != nil {
		return err
	}
	if c.months, err = monthField.plain(fields[3]); err != nil {
		return err
	}
	return c.days.parseWeekdays(fields[4])
}

// checkSeconds rejects seconds that are closer than MinEvery.
func checkSeconds(seconds set, text string) error {
	all := seconds.members()
	last := all[len(all)-1] - 60
	for _, s := range all {
		if s-last < int(MinEvery/time.Second) {
			return secondField.refuse(text, "is too often", "keep the seconds 10 or more apart, such as */10, or leave the field out")
		}
		last = s
	}
	return nil
}

// plain reads a list of values, ranges and steps.
func (f field) plain(text string) (set, error) {
	var chosen set
	for item := range strings.SplitSeq(text, ",") {
		some, err := f.item(item)
		if err != nil {
			return 0, err
		}
		chosen |= some
	}
	return chosen, nil
}

// parseDates reads the day-of-month field.
func (d *days) parseDates(text string) error {
	d.anyDay = strings.HasPrefix(text, "*") || text == "?"
	for item := range strings.SplitSeq(text, ",") {
		work, isWork := strings.CutSuffix(item, "W")
		back, isLast := strings.CutPrefix(item, "L")
		switch {
		case text == "?":
			d.plain = span(1, 31)
		case item == "LW":
			d.lastWork = true
		case isWork:
			n, err := dayField.value(work)
			if err != nil {
				return err
			}
			d.near |= 1 << n
		case item == "L":
			d.fromLast |= 1
		case isLast:
			n, err := strconv.ParseUint(strings.TrimPrefix(back, "-"), 10, 8)
			if err != nil || back[0] != '-' || n > 30 {
				return dayField.refuse(item, "is not a day before the last one", "write L for the last day, L-1 to L-30 for those before it, LW for the last weekday")
			}
			d.fromLast |= 1 << n
		default:
			some, err := dayField.item(item)
			if err != nil {
				return err
			}
			d.plain |= some
		}
	}
	return nil
}

// parseWeekdays reads the weekday field.
func (d *days) parseWeekdays(text string) error {
	d.anyWeek = strings.HasPrefix(text, "*") || text == "?"
	for item := range strings.SplitSeq(text, ",") {
		lastOf, isLast := strings.CutSuffix(item, "L")
		name, nth, isNth := strings.Cut(item, "#")
		switch {
		case text == "?":
			d.weekdays = span(0, 6)
		case item == "L":
			return weekdayField.refuse(item, "names no weekday", "write 5L or FRIL for the last Friday of the month, 6 for Saturdays")
		case isLast:
			weekday, err := weekdayField.value(lastOf)
			if err != nil {
				return err
			}
			d.lastOf |= 1 << weekday
		case isNth:
			weekday, err := weekdayField.value(name)
			if err != nil {
				return err
			}
			n, err := strconv.ParseUint(nth, 10, 8)
			if err != nil || n < 1 || n > 5 {
				return weekdayField.refuse(item, "is no weekday of a month", fmt.Sprintf("write %s#1 to %s#5, or %sL for the last one", name, name, name))
			}
			d.nth |= 1 << (weekday + 7*(int(n)-1))
		default:
			some, err := weekdayField.item(item)
			if err != nil {
				return err
			}
			d.weekdays |= some
		}
	}
	return nil
}

// item reads a value, a range, or either with a step.
func (f field) item(text string) (set, error) {
	values, step, stepped := strings.Cut(text, "/")
	lo, hi, err := f.bounds(values, stepped)
	if err != nil {
		return 0, err
	}
	by := 1
	if stepped {
		if by, err = f.step(text, step); err != nil {
			return 0, err
		}
	}
	var chosen set
	for n := lo; n <= hi; n += by {
		chosen |= 1 << f.fold(n)
	}
	return chosen, nil
}

// bounds reads the range before a step, if there is one; a single value with a
// step extends to the last value.
func (f field) bounds(text string, stepped bool) (lo, hi int, err error) {
	if text == "*" {
		return f.lo, f.hi, nil
	}
	first, last, ranged := strings.Cut(text, "-")
	if lo, err = f.value(first); err != nil {
		return 0, 0, err
	}
	switch {
	case ranged:
		hi, err = f.end(lo, first, last)
		return lo, hi, err
	case stepped:
		return lo, f.hi, nil
	default:
		return lo, lo, nil
	}
}

// fold maps weekday 7 to 0, Sunday.
func (f field) fold(n int) int {
	if n > f.hi {
		return f.lo
	}
	return n
}

// end reads the end of a range. Sunday may end a range that began before it.
func (f field) end(lo int, first, last string) (int, error) {
	hi, err := f.value(last)
	if err != nil {
		return 0, err
	}
	if f.isWeekday() && hi == 0 && first != last && (lo > 0 || last == "7") {
		hi = 7
	}
	if hi < lo {
		return 0, f.refuse(first+"-"+last, "runs backwards", fmt.Sprintf("write %s-%s,%s-%s", first, f.spell(f.hi), f.spell(f.lo), last))
	}
	return hi, nil
}

func (f field) isWeekday() bool { return f.name == weekdayField.name }

// step reads the number after a slash.
func (f field) step(item, text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	size := f.hi - f.lo + 1
	switch {
	case err != nil || n == 0:
		return 0, f.refuse(item, "has no step", fmt.Sprintf("write a step from 1 to %d after the slash", size))
	case int(n) > size:
		return 0, f.refuse(item, fmt.Sprintf("has a step of more than %d", size), "use a schedule of kind every for longer spans, since steps restart in each "+f.whole())
	}
	return int(n), nil
}

// whole names the unit that the values of f divide.
func (f field) whole() string {
	switch f.name {
	case secondField.name:
		return "minute"
	case minuteField.name:
		return "hour"
	case hourField.name:
		return "day"
	case dayField.name:
		return "month"
	case monthField.name:
		return "year"
	default:
		return "week"
	}
}

// value reads one value, a number or a name.
func (f field) value(text string) (int, error) {
	if at := slices.Index(f.names, text); at >= 0 {
		return f.lo + at, nil
	}
	if len(text) <= 2 {
		n, err := strconv.ParseUint(text, 10, 8)
		switch {
		case err == nil && f.isWeekday() && n == 7:
			return 0, nil
		case err == nil && int(n) >= f.lo && int(n) <= f.hi:
			return int(n), nil
		}
	}
	return 0, f.refuse(text, "is not "+f.allowed(), f.cure(text))
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
		return "write 0 for the full " + f.whole()
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

// refuse returns Invalid for a part of f.
func (f field) refuse(found, trouble, cure string) error {
	return chela.E(chela.Invalid, fmt.Sprintf("cron field %s: %q %s", f.name, found, trouble)).WithHint(cure)
}
