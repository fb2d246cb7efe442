package schedule_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests are the same on machines that have no zones

	"github.com/google/go-cmp/cmp"

	"chela/internal/background/schedule"
)

func load(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// rule returns the zone of Zurich as a rule without a table, which is what a file
// of zones has for the years to come.
func rule(t testing.TB) *time.Location {
	t.Helper()
	part := "TZif2" + strings.Repeat("\x00", 15) +
		strings.Repeat("\x00", 16) + "\x00\x00\x00\x01\x00\x00\x00\x04" + // no table, one offset, four letters
		"\x00\x00\x0e\x10\x00\x00CET\x00"
	zone, err := time.LoadLocationFromTZData("CET", []byte(part+part+"\nCET-1CEST,M3.5.0,M10.5.0/3\n"))
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// parse returns the schedule of an expression in a zone.
func parse(t testing.TB, expr, zone string) schedule.Schedule {
	t.Helper()
	s, err := schedule.ParseCron(expr, load(t, zone))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// instant reads a time of RFC 3339, whose offset tells one of two equal wall
// times from the other.
func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// due lists the times of s after the given one.
func due(s schedule.Schedule, after time.Time, most int) []string {
	var all []string
	for t, ok := s.Next(after); ok && len(all) < most; t, ok = s.Next(t) {
		all = append(all, t.Format(time.RFC3339Nano))
	}
	return all
}

// A zoneCase is what is due in a zone after a time.
type zoneCase struct {
	name, zone, expr, after string
	want                    []string
}

// wallTimes are due when the clock first shows them or a later time.
var wallTimes = []zoneCase{
	{
		"gap", "Europe/Zurich", "30 2 * * *", "2025-03-29T00:00:00Z",
		[]string{"2025-03-29T02:30:00+01:00", "2025-03-30T03:00:00+02:00", "2025-03-31T02:30:00+02:00"},
	},
	{
		"several times in one gap", "Europe/Zurich", "*/15 2,3 * * *", "2025-03-30T00:59:00Z",
		[]string{"2025-03-30T03:00:00+02:00", "2025-03-30T03:15:00+02:00", "2025-03-30T03:30:00+02:00"},
	},
	{
		"gap and what is due at its end", "America/New_York", "0,30 2-3 * * *", "2025-03-09T00:00:00Z",
		[]string{"2025-03-09T03:00:00-04:00", "2025-03-09T03:30:00-04:00", "2025-03-10T02:00:00-04:00"},
	},
	{
		"repeated", "Europe/Zurich", "30 2 * * *", "2025-10-25T12:00:00Z",
		[]string{"2025-10-26T02:30:00+02:00", "2025-10-27T02:30:00+01:00"},
	},
	{
		"asked between both", "America/New_York", "30 1 * * *", "2025-11-02T06:00:00Z",
		[]string{"2025-11-03T01:30:00-05:00"},
	},
	{
		"several in the repeated hour", "America/New_York", "*/30 1 * * *", "2025-11-02T04:00:00Z",
		[]string{"2025-11-02T01:00:00-04:00", "2025-11-02T01:30:00-04:00", "2025-11-03T01:00:00-05:00"},
	},
	{
		"gap of half an hour", "Australia/Lord_Howe", "10 2 * * *", "2024-10-05T00:00:00Z",
		[]string{"2024-10-06T02:30:00+11:00", "2024-10-07T02:10:00+11:00"},
	},
	{
		"after a gap of half an hour", "Australia/Lord_Howe", "40 2 * * *", "2024-10-04T00:00:00Z",
		[]string{"2024-10-05T02:40:00+10:30", "2024-10-06T02:40:00+11:00"},
	},
	{
		"repeated half hour", "Australia/Lord_Howe", "45 1 * * *", "2024-04-06T00:00:00Z",
		[]string{"2024-04-07T01:45:00+11:00", "2024-04-08T01:45:00+10:30"},
	},
	{
		"day that was left out", "Pacific/Apia", "0 9 * * *", "2011-12-29T00:00:00Z",
		[]string{"2011-12-29T09:00:00-10:00", "2011-12-31T00:00:00+14:00", "2011-12-31T09:00:00+14:00"},
	},
	{
		"date that was left out", "Pacific/Apia", "0 9 30 * *", "2011-12-01T00:00:00Z",
		[]string{"2011-12-31T00:00:00+14:00", "2012-01-30T09:00:00+14:00"},
	},
	{
		"date that is left out the next second", "Pacific/Apia", "9/10 * * LW * *", "2011-12-30T09:59:59Z",
		[]string{"2011-12-31T00:00:00+14:00", "2012-01-31T00:00:09+14:00"},
	},
	{
		"day that came twice", "Pacific/Kwajalein", "0 9 30 9 *", "1969-09-01T00:00:00Z",
		[]string{"1969-09-30T09:00:00+11:00", "1970-09-30T09:00:00-12:00"},
	},
	{
		"midnight that does not exist", "America/Sao_Paulo", "0 0 * * *", "2018-11-03T12:00:00Z",
		[]string{"2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00"},
	},
	{
		"midnight that comes after 23:00 twice", "America/Sao_Paulo", "30 23 * * *", "2018-02-17T12:00:00Z",
		[]string{"2018-02-17T23:30:00-02:00", "2018-02-18T23:30:00-03:00"},
	},
	{
		"first of the month without a midnight", "Asia/Amman", "0 0 1 * *", "2016-03-20T00:00:00Z",
		[]string{"2016-04-01T01:00:00+03:00", "2016-05-01T00:00:00+03:00"},
	},
	{
		"midnight in Beirut", "Asia/Beirut", "15 0 * * *", "2022-03-26T12:00:00Z",
		[]string{"2022-03-27T01:00:00+03:00", "2022-03-28T00:15:00+03:00"},
	},
	{
		"midnight in Cairo", "Africa/Cairo", "0 0 * * FRI", "2024-04-24T00:00:00Z",
		[]string{"2024-04-26T01:00:00+03:00", "2024-05-03T00:00:00+03:00"},
	},
	{
		"two hours in Troll", "Antarctica/Troll", "0,30 1-2 * * *", "2025-03-29T12:00:00Z",
		[]string{"2025-03-30T03:00:00+02:00", "2025-03-31T01:00:00+02:00"},
	},
	{
		"two hours again in Troll", "Antarctica/Troll", "30 1,2 * * *", "2025-10-25T12:00:00Z",
		[]string{"2025-10-26T01:30:00+02:00", "2025-10-26T02:30:00+02:00", "2025-10-27T01:30:00Z"},
	},
	{
		"summer time below zero", "Europe/Dublin", "30 1 * * *", "2025-03-29T12:00:00Z",
		[]string{"2025-03-30T02:00:00+01:00", "2025-03-31T01:30:00+01:00"},
	},
	{
		"summer time in January", "Australia/Sydney", "30 2 * * *", "2024-10-05T12:00:00Z",
		[]string{"2024-10-06T03:00:00+11:00", "2024-10-07T02:30:00+11:00"},
	},
	{
		"a minute past midnight", "America/St_Johns", "30 0 * * *", "2011-03-12T12:00:00Z",
		[]string{"2011-03-13T01:01:00-02:30", "2011-03-14T00:30:00-02:30"},
	},
	{
		"Ramadan", "Africa/Casablanca", "30 2 * * *", "2024-03-09T12:00:00Z",
		[]string{"2024-03-10T02:30:00+01:00", "2024-03-11T02:30:00Z"},
	},
	{
		"after Ramadan", "Africa/Casablanca", "30 2 * * *", "2024-04-13T12:00:00Z",
		[]string{"2024-04-14T03:00:00+01:00", "2024-04-15T02:30:00+01:00"},
	},
	{
		"offset with seconds", "Africa/Monrovia", "20 0 7 1 *", "1971-12-01T00:00:00Z",
		[]string{"1972-01-07T00:44:30Z", "1973-01-07T00:20:00Z"},
	},
	{
		"no clocks are changed", "Asia/Kathmandu", "30 2 * * *", "2025-03-29T12:00:00Z",
		[]string{"2025-03-30T02:30:00+05:45", "2025-03-31T02:30:00+05:45"},
	},
}

// realHours are due whenever the clock shows them.
var realHours = []zoneCase{
	{
		"hourly in spring", "Europe/Zurich", "30 * * * *", "2025-03-30T00:00:00Z",
		[]string{"2025-03-30T01:30:00+01:00", "2025-03-30T03:30:00+02:00", "2025-03-30T04:30:00+02:00"},
	},
	{
		"hourly in autumn", "Europe/Zurich", "30 * * * *", "2025-10-25T23:45:00Z",
		[]string{"2025-10-26T02:30:00+02:00", "2025-10-26T02:30:00+01:00", "2025-10-26T03:30:00+01:00"},
	},
	{
		"hourly on a day that ends twice", "America/Sao_Paulo", "30 * 17 2 *", "2018-02-18T00:45:00Z",
		[]string{"2018-02-17T23:30:00-02:00", "2018-02-17T23:30:00-03:00", "2019-02-17T00:30:00-03:00"},
	},
	{
		"all hours named in autumn", "Europe/Zurich", "0 0-23 * * *", "2025-10-25T23:45:00Z",
		[]string{"2025-10-26T02:00:00+02:00", "2025-10-26T02:00:00+01:00", "2025-10-26T03:00:00+01:00"},
	},
	{
		"every 20 minutes in autumn", "Europe/Zurich", "*/20 * * * *", "2025-10-26T00:20:00Z",
		[]string{"2025-10-26T02:40:00+02:00", "2025-10-26T02:00:00+01:00", "2025-10-26T02:20:00+01:00"},
	},
	{
		"every two hours in spring", "Europe/Zurich", "0 */2 * * *", "2025-03-29T22:30:00Z",
		[]string{"2025-03-30T00:00:00+01:00", "2025-03-30T03:00:00+02:00", "2025-03-30T04:00:00+02:00"},
	},
	{
		"every two hours over a gap of half an hour", "Australia/Lord_Howe", "0 */2 * * *", "2024-10-05T12:00:00Z",
		[]string{"2024-10-06T00:00:00+10:30", "2024-10-06T02:30:00+11:00", "2024-10-06T04:00:00+11:00"},
	},
	{
		"every two hours in autumn", "Europe/Zurich", "0 */2 * * *", "2025-10-25T22:30:00Z",
		[]string{"2025-10-26T02:00:00+02:00", "2025-10-26T02:00:00+01:00", "2025-10-26T04:00:00+01:00"},
	},
	{
		"hourly over half an hour", "Australia/Lord_Howe", "0 * * * *", "2024-10-05T14:00:00Z",
		[]string{"2024-10-06T01:00:00+10:30", "2024-10-06T03:00:00+11:00", "2024-10-06T04:00:00+11:00"},
	},
	{
		"hourly in a repeated half hour", "Australia/Lord_Howe", "45 * * * *", "2024-04-06T14:00:00Z",
		[]string{"2024-04-07T01:45:00+11:00", "2024-04-07T01:45:00+10:30", "2024-04-07T02:45:00+10:30"},
	},
	{
		"hourly over a day that was left out", "Pacific/Apia", "15 * * * *", "2011-12-30T09:00:00Z",
		[]string{"2011-12-29T23:15:00-10:00", "2011-12-31T00:15:00+14:00"},
	},
	{
		"hourly in St. John's", "America/St_Johns", "0 * * * *", "2011-03-13T03:00:00Z",
		[]string{"2011-03-13T00:00:00-03:30", "2011-03-13T02:00:00-02:30"},
	},
}

func TestChangedClocks(t *testing.T) {
	t.Parallel()
	for _, c := range slices.Concat(wallTimes, realHours) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := due(parse(t, c.expr, c.zone), instant(t, c.after), len(c.want))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s in %s after %s (-want +got):\n%s", c.expr, c.zone, c.after, diff)
			}
		})
	}
}

// TestLeapYearOfRule shows the last day of a leap year in a zone that goes by a
// rule, for which package time has no end.
func TestLeapYearOfRule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		expr string
		want []string
	}{
		{"30 0,12 * * *", []string{"2028-12-31T00:30:00+01:00", "2028-12-31T12:30:00+01:00", "2029-01-01T00:30:00+01:00"}},
		{"30 */12 * * *", []string{"2028-12-31T00:30:00+01:00", "2028-12-31T12:30:00+01:00", "2029-01-01T00:30:00+01:00"}},
		{"0 9 25 3 *", []string{"2029-03-25T09:00:00+02:00", "2030-03-25T09:00:00+01:00"}},
		{"0 * 25 3 *", []string{"2029-03-25T00:00:00+01:00", "2029-03-25T01:00:00+01:00", "2029-03-25T03:00:00+02:00"}},
	} {
		s, err := schedule.ParseCron(c.expr, rule(t))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, due(s, instant(t, "2028-12-30T12:00:00Z"), len(c.want))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.expr, diff)
		}
	}
}
