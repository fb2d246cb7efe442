package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"chela/internal/background/schedule"
)

// A wall is what a clock shows, in seconds, as if it were in UTC.
type wall int64

func (w wall) date() time.Time { return time.Unix(int64(w), 0).UTC() }
func (w wall) second() int     { return w.ofDay() % 60 }
func (w wall) minute() int     { return w.ofDay() / 60 % 60 }
func (w wall) hour() int       { return w.ofDay() / 3600 }
func (w wall) ofDay() int      { return int((w%86400 + 86400) % 86400) }

// A part is a field of an expression, and what it means.
type part struct {
	text    string
	matches func(wall) bool
}

// reference is an expression with the meaning of each part, in the most naive
// way there is: it looks at every wall time.
type reference struct {
	second, minute, hour, date, month, weekday part
	sixFields                                  bool

	// What was looked at is remembered.
	clock []bool
	days  map[wall]bool
}

func (r reference) String() string {
	fields := []string{r.minute.text, r.hour.text, r.date.text, r.month.text, r.weekday.text}
	if r.sixFields {
		fields = slices.Insert(fields, 0, r.second.text)
	}
	return strings.Join(fields, " ")
}

func (r reference) matches(w wall) bool {
	if !r.clock[w.ofDay()] {
		return false
	}
	day := w - wall(w.ofDay())
	chosen, known := r.days[day]
	if !known {
		chosen = r.month.matches(day) && r.matchesDay(day)
		r.days[day] = chosen
	}
	return chosen
}

func (r reference) matchesDay(day wall) bool {
	free := func(p part) bool { return p.text[0] == '*' || p.text == "?" }
	if free(r.date) || free(r.weekday) {
		return r.date.matches(day) && r.weekday.matches(day)
	}
	return r.date.matches(day) || r.weekday.matches(day)
}

// real reports whether hours are real ones.
func (r reference) real() bool {
	all := true
	for h := range wall(24) {
		all = all && r.hour.matches(h*3600)
	}
	return all || strings.ContainsAny(r.hour.text, "*/")
}

// A film is what a clock showed, a picture each step, in seconds.
type film struct {
	start time.Time
	step  wall
	walls []wall
}

func record(zone *time.Location, start, end time.Time, step wall) film {
	f := film{start: start, step: step}
	for t := start; t.Before(end); t = t.Add(time.Duration(step) * time.Second) {
		_, offset := t.In(zone).Zone()
		f.walls = append(f.walls, wall(t.Unix()+int64(offset)))
	}
	return f
}

// at is when picture i was taken.
func (f film) at(i int) time.Time {
	return f.start.Add(time.Duration(i) * time.Duration(f.step) * time.Second)
}

// due lists the times at which r is due, by the rules of the package.
func (f film) due(r reference) (all []time.Time) {
	shown := map[wall]bool{} // of those that match
	real := r.real()
	for i, w := range f.walls {
		now := r.matches(w) && (real || !shown[w])
		if now && !real {
			shown[w] = true
		}
		missed := f.missed(r, i)
		for _, m := range missed {
			shown[m] = true
		}
		if now || len(missed) > 0 && (!real || !f.soon(r, i)) {
			all = append(all, f.at(i))
		}
	}
	return all
}

// missed lists what matches between picture i and the one before it.
func (f film) missed(r reference, i int) (all []wall) {
	if i == 0 {
		return nil
	}
	for w := f.walls[i-1] + f.step; w < f.walls[i]; w += f.step {
		if r.matches(w) {
			all = append(all, w)
		}
	}
	return all
}

// soon reports whether a wall time of the hour from picture i on matches.
func (f film) soon(r reference, i int) bool {
	end := min(i+int(3600/f.step), len(f.walls))
	return slices.ContainsFunc(f.walls[i:end], r.matches)
}

// number draws a list of values, ranges and steps of a field.
func number(t *rapid.T, lo, hi int, value func(wall) int) part {
	n := func(lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, "value") }
	items := n(-2, 3)
	if items <= 0 {
		return part{"*", func(wall) bool { return true }}
	}
	var texts []string
	var chosen [64]bool
	for range items {
		first, last, by := n(lo, hi), hi, 1
		text := fmt.Sprint(first)
		switch n(0, 4) {
		case 0:
			last = first
		case 1:
			last = n(first, hi)
			text = fmt.Sprintf("%d-%d", first, last)
		case 2:
			last, by = n(first, hi), n(1, hi-lo+1)
			text = fmt.Sprintf("%d-%d/%d", first, last, by)
		case 3:
			by = n(1, hi-lo+1)
			text = fmt.Sprintf("%d/%d", first, by)
		case 4:
			first, by = lo, n(1, hi-lo+1)
			text = fmt.Sprintf("*/%d", by)
		}
		texts = append(texts, text)
		for v := first; v <= last; v += by {
			chosen[v] = true
		}
	}
	return part{strings.Join(texts, ","), func(w wall) bool { return chosen[value(w)] }}
}

// lastDay is the length of the month of d.
func lastDay(d time.Time) int {
	return time.Date(d.Year(), d.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// isNearest reports whether day is the working day nearest to a date.
func isNearest(day time.Time, date int) bool {
	for _, off := range []int{0, -1, 1, 2, -2} {
		d := time.Date(day.Year(), day.Month(), date+off, 0, 0, 0, 0, time.UTC)
		if date <= lastDay(day) && d.Month() == day.Month() && d.Weekday() != time.Saturday && d.Weekday() != time.Sunday {
			return d.Day() == day.Day()
		}
	}
	return false
}

// onDay returns what matches the wall times of days.
func onDay(is func(time.Time) bool) func(wall) bool {
	return func(w wall) bool { return is(w.date()) }
}

// dates draws the field day of month.
func dates(t *rapid.T) part {
	n := rapid.IntRange(0, 30).Draw(t, "n")
	special := rapid.SampledFrom([]part{
		{"", nil},
		{"?", func(wall) bool { return true }},
		{"L", onDay(func(d time.Time) bool { return d.Day() == lastDay(d) })},
		{fmt.Sprintf("L-%d", n), onDay(func(d time.Time) bool { return d.Day() == lastDay(d)-n })},
		{fmt.Sprintf("%dW", n+1), onDay(func(d time.Time) bool { return isNearest(d, n+1) })},
		{"LW", onDay(func(d time.Time) bool { return isNearest(d, lastDay(d)) })},
	}).Draw(t, "special date")
	return combine(number(t, 1, 31, func(w wall) int { return w.date().Day() }), special)
}

// weekdays draws the field weekday.
func weekdays(t *rapid.T) part {
	day := rapid.IntRange(0, 7).Draw(t, "weekday")
	n := rapid.IntRange(1, 5).Draw(t, "nth")
	is := func(d time.Time) bool { return int(d.Weekday()) == day%7 }
	special := rapid.SampledFrom([]part{
		{"", nil},
		{"?", func(wall) bool { return true }},
		{"FRI-SUN", onDay(func(d time.Time) bool { return d.Weekday() == 5 || d.Weekday() == 6 || d.Weekday() == 0 })},
		{fmt.Sprintf("%dL", day), onDay(func(d time.Time) bool { return is(d) && d.Day()+7 > lastDay(d) })},
		{fmt.Sprintf("%d#%d", day, n), onDay(func(d time.Time) bool { return is(d) && (d.Day()-1)/7+1 == n })},
	}).Draw(t, "special weekday")
	return combine(number(t, 0, 6, func(w wall) int { return int(w.date().Weekday()) }), special)
}

// combine puts a special item into a list, or in its place.
func combine(plain, special part) part {
	switch {
	case special.text == "":
		return plain
	case plain.text == "*" || special.text == "?":
		return special
	default:
		return part{plain.text + "," + special.text, func(w wall) bool { return plain.matches(w) || special.matches(w) }}
	}
}

// seconds draws seconds that are far enough apart.
func seconds(t *rapid.T) part {
	first, by := rapid.IntRange(0, 9).Draw(t, "second"), rapid.SampledFrom([]int{10, 12, 15, 20, 30, 60}).Draw(t, "by")
	return part{fmt.Sprintf("%d/%d", first, by), func(w wall) bool { return w.second() >= first && (w.second()-first)%by == 0 }}
}

func expression(t *rapid.T, sixFields bool) reference {
	r := reference{
		second:    part{"0", func(w wall) bool { return w.second() == 0 }},
		minute:    number(t, 0, 59, wall.minute),
		hour:      number(t, 0, 23, wall.hour),
		date:      dates(t),
		month:     number(t, 1, 12, func(w wall) int { return int(w.date().Month()) }),
		weekday:   weekdays(t),
		sixFields: sixFields,
		days:      map[wall]bool{},
	}
	if sixFields {
		r.second = seconds(t)
	}
	for w := range wall(86400) {
		r.clock = append(r.clock, r.second.matches(w) && r.minute.matches(w) && r.hour.matches(w))
	}
	return r
}

// check compares what is due while a film was taken, but for its first
// two days, which may lack what came before, and its last hour.
func (f film) check(t *rapid.T, r reference, zone *time.Location) {
	t.Helper()
	s, err := schedule.ParseCron(r.String(), zone)
	want := f.due(r)
	if err != nil {
		if len(want) > 0 {
			t.Fatalf("%s is refused but due at %s: %v", r, want[0], err)
		}
		return
	}
	from, end := f.start.AddDate(0, 0, 2), f.at(len(f.walls)-int(3600/f.step))
	want = slices.DeleteFunc(want, func(due time.Time) bool { return !due.After(from) || due.After(end) })
	after := from
	for _, w := range append(want, time.Time{}) {
		got, ok := s.Next(after)
		if w.IsZero() && (!ok || got.After(end)) {
			break
		}
		if !ok || !got.Equal(w) {
			t.Fatalf("%s in %s is after %s due at %s, %t; want %s", r, zone, after.In(zone), got, ok, w.In(zone))
		}
		after = got
	}
	for range 20 {
		after := f.at(rapid.IntRange(2*86400/int(f.step), len(f.walls)-1).Draw(t, "after"))
		i := slices.IndexFunc(want, func(due time.Time) bool { return due.After(after) })
		if next, ok := s.Next(after); i >= 0 && (!ok || !next.Equal(want[i])) {
			t.Fatalf("%s in %s is after %s due at %s, %t; want %s", r, zone, after.In(zone), next, ok, want[i].In(zone))
		}
	}
}

// A place is a zone, and what its clock showed around a change, recorded when it
// is first needed.
type place struct {
	zone *time.Location
	film func() film
}

// TestReference compares a year of minutes in a zone with random expressions.
// What fails is printed with its seed.
func TestReference(t *testing.T) {
	t.Parallel()
	var places []place
	for _, p := range []struct {
		zone string
		year int
	}{
		{"UTC", 2024},
		{"Europe/Zurich", 2025},
		{"America/New_York", 2025},
		{"Australia/Lord_Howe", 2024},
		{"Pacific/Apia", 2011},
		{"America/Sao_Paulo", 2018},
		{"Asia/Beirut", 2022},
		{"Africa/Cairo", 2024},
		{"Antarctica/Troll", 2025},
		{"Africa/Casablanca", 2024},
		{"America/St_Johns", 2011},
		{"Asia/Kathmandu", 1986},
		{"Pacific/Kwajalein", 1993},
		{"America/Caracas", 2007},
		{"Asia/Pyongyang", 2018},
		{"", 2028},
	} {
		zone := rule(t)
		if p.zone != "" {
			zone = load(t, p.zone)
		}
		start := time.Date(p.year, 1, 1, 0, 0, 0, 0, time.UTC)
		places = append(places, place{zone, sync.OnceValue(func() film {
			return record(zone, start.AddDate(0, 0, -2), start.AddDate(1, 0, 2), 60)
		})})
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(places).Draw(t, "place")
		p.film().check(t, expression(t, false), p.zone)
	})
}

// TestReferenceSeconds compares the seconds before and after a change.
func TestReferenceSeconds(t *testing.T) {
	t.Parallel()
	var places []place
	for _, p := range []struct{ zone, change string }{
		{"Europe/Zurich", "2025-10-26T01:00:00Z"},
		{"America/Sao_Paulo", "2018-02-18T02:00:00Z"},
		{"Australia/Lord_Howe", "2024-10-05T15:30:00Z"},
		{"Pacific/Apia", "2011-12-30T10:00:00Z"},
		{"Pacific/Kwajalein", "1969-09-30T13:00:00Z"},
		{"Africa/Monrovia", "1972-01-07T00:44:30Z"},
	} {
		zone, change := load(t, p.zone), instant(t, p.change)
		places = append(places, place{zone, sync.OnceValue(func() film {
			return record(zone, change.Add(-50*time.Hour), change.Add(26*time.Hour), 1)
		})})
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(places).Draw(t, "place")
		p.film().check(t, expression(t, true), p.zone)
	})
}
