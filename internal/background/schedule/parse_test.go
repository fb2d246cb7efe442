package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/background/schedule"
)

// TestSpellings gives expressions that mean the same.
func TestSpellings(t *testing.T) {
	t.Parallel()
	for _, c := range [][]string{
		{"0 9 * * 1-5", "0 9 * * MON-FRI", " 00  09\t* * mon,tue,Wed,4,5 ", "0 0 9 * * 1-5", "0 9 ? * 1-5", "0 9 * 1-12 1-5", "0 9 * JAN-DEC 1-5/1"},
		{"*/15 * * * *", "0/15 * * * *", "0-59/15 * * * *", "0,15,30,45 * * * *", "0 0,15,30,45 0-23 ? * ?", "45,30-40/15,0-29/15 */1 * * *"},
		{"0 0 * * 0", "0 0 * * 7", "0 0 * * SUN", "0 0 * * sun-sun", "0 0 * * 7-7", "@weekly", "@Weekly"},
		{"0 0 * * 6,0", "0 0 * * SAT-SUN", "0 0 * * 6-7"},
		{"0 0 * * 0-6", "0 0 * * 0-7", "0 0 * * SUN-SAT", "0 0 * * MON-SUN", "@daily", "@midnight", " @daily\n"},
		{"0 0 * * 5,0", "0 0 * * 5-7/2"},
		{"0 0 * * 7-2", "0 0 * * 0-2", "0 0 * * SUN,MON,TUE"},
		{"0 12 * * 5L", "0 12 * * FRIL", "0 12 ? * 05l"},
		{"0 12 * * 7#2", "0 12 * * SUN#2", "0 12 * * 0#02"},
		{"0 12 L * *", "0 12 L-0 * *", "0 12 l * ?"},
		{"0 12 LW,15W * *", "0 12 15w,lw * *"},
	} {
		want := due(parse(t, c[0], "Europe/Zurich"), instant(t, "2025-01-01T00:00:00Z"), 400)
		for _, same := range c[1:] {
			if diff := cmp.Diff(want, due(parse(t, same, "Europe/Zurich"), instant(t, "2025-01-01T00:00:00Z"), 400)); diff != "" {
				t.Errorf("%q is not %q (-want +got):\n%s", same, c[0], diff)
			}
		}
	}
}

func TestRefusedExpressions(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string]string{
		"":                                      `cron expression "" has 0 fields; write 5 fields, minute hour day month weekday, such as 0 9 * * MON-FRI, or 6 with the second before them`,
		"0 9 * *":                               `cron expression "0 9 * *" has 4 fields; write 5 fields, minute hour day month weekday, such as 0 9 * * MON-FRI, or 6 with the second before them`,
		"0 0 9 * * ? 2026":                      `cron expression "0 0 9 * * ? 2026" has 7 fields; leave out the year: write 6 fields, second minute hour day month weekday`,
		"CRON_TZ=UTC 0 9 * * *":                 `cron expression "CRON_TZ=UTC 0 9 * * *" names a zone; leave it out, and set the zone of the schedule`,
		"@dayly":                                `there is no cron expression "@dayly"; did you mean @daily?`,
		"@every 5m":                             `there is no cron expression "@every 5m"; this is an interval: use a trigger of kind every, with 30m or 1d12h`,
		"@reboot":                               `there is no cron expression "@reboot"; use one of @annually, @daily, @hourly, @midnight, @monthly, @weekly, @yearly, or 5 fields`,
		"60 * * * *":                            `cron field minute: "60" is not 0 to 59; write 0 for the full hour`,
		"60 0 9 * * *":                          `cron field second: "60" is not 0 to 59; write 0 for the full minute`,
		"0 24 * * *":                            `cron field hour: "24" is not 0 to 23; write 0 for midnight`,
		"0 0 0 * *":                             `cron field day of month: "0" is not 1 to 31; write *, a value, a range such as 2-6, a step such as */2, or a list of these with commas`,
		"0 0 32 * *":                            `cron field day of month: "32" is not 1 to 31; write *, a value, a range such as 2-6, a step such as */2, or a list of these with commas`,
		"0 0 * 13 *":                            `cron field month: "13" is not 1 to 12 or JAN to DEC; write *, a value, a range such as FEB-JUN, a step such as */2, or a list of these with commas`,
		"0 0 * * 8":                             `cron field weekday: "8" is not 0 to 7 or SUN to SAT; write *, a value, a range such as MON-FRI, a step such as */2, or a list of these with commas`,
		"0 9 * * MNO":                           `cron field weekday: "MNO" is not 0 to 7 or SUN to SAT; did you mean MON?`,
		"0 9 * * Monday":                        `cron field weekday: "MONDAY" is not 0 to 7 or SUN to SAT; write MON`,
		"0 9 * SEPT *":                          `cron field month: "SEPT" is not 1 to 12 or JAN to DEC; write SEP`,
		"0 9 * * MON-":                          `cron field weekday: "" is not 0 to 7 or SUN to SAT; write *, a value, a range such as MON-FRI, a step such as */2, or a list of these with commas`,
		"0 22-6 * * *":                          `cron field hour: "22-6" runs backwards; write 22-23,0-6`,
		"0 9 * * FRI-MON":                       `cron field weekday: "FRI-MON" runs backwards; write FRI-SAT,SUN-MON`,
		"*/0 * * * *":                           `cron field minute: "*/0" has no step; write a step from 1 to 60 after the slash`,
		"*/x * * * *":                           `cron field minute: "*/X" has no step; write a step from 1 to 60 after the slash`,
		"*/90 * * * *":                          `cron field minute: "*/90" has a step of more than 60; use a schedule of kind every for longer spans, since steps restart in each hour`,
		"0 */36 * * *":                          `cron field hour: "*/36" has a step of more than 24; use a schedule of kind every for longer spans, since steps restart in each day`,
		"0,, * * * *":                           `cron field minute: "" is not 0 to 59; write *, a value, a range such as 1-5, a step such as */2, or a list of these with commas`,
		"1.5 * * * *":                           `cron field minute: "1.5" is not 0 to 59; write *, a value, a range such as 1-5, a step such as */2, or a list of these with commas`,
		"+5 * * * *":                            `cron field minute: "+5" is not 0 to 59; write *, a value, a range such as 1-5, a step such as */2, or a list of these with commas`,
		"? * * * *":                             `cron field minute: "?" is not 0 to 59; write *; ? is for day of month and weekday alone`,
		"0 L * * *":                             `cron field hour: "L" is not 0 to 23; write L, L-3, LW and 15W as day of month, 5L and MON#2 as weekday, alone or in a list`,
		"0 0 1-5W * *":                          `cron field day of month: "1-5" is not 1 to 31; write *, a value, a range such as 2-6, a step such as */2, or a list of these with commas`,
		"0 0 L-31 * *":                          `cron field day of month: "L-31" is not a day before the last one; write L for the last day, L-1 to L-30 for those before it, LW for the last weekday`,
		"0 0 L5 * *":                            `cron field day of month: "L5" is not a day before the last one; write L for the last day, L-1 to L-30 for those before it, LW for the last weekday`,
		"0 0 * * L":                             `cron field weekday: "L" names no weekday; write 5L or FRIL for the last Friday of the month, 6 for Saturdays`,
		"0 0 * * MON#6":                         `cron field weekday: "MON#6" is no weekday of a month; write MON#1 to MON#5, or MONL for the last one`,
		"* * * * * *":                           `cron field second: "*" is too often; keep the seconds 10 or more apart, such as */10, or leave the field out`,
		"5,55,0 * * * * *":                      `cron field second: "5,55,0" is too often; keep the seconds 10 or more apart, such as */10, or leave the field out`,
		"0 0 31 2 *":                            `cron expression "0 0 31 2 *" is never due: no month that it names has such a day; correct day of month and month; the last day of a month is L`,
		"0 0 30,31 FEB ?":                       `cron expression "0 0 30,31 FEB ?" is never due: no month that it names has such a day; correct day of month and month; the last day of a month is L`,
		"0 0 31W 4,6,9,11 *":                    `cron expression "0 0 31W 4,6,9,11 *" is never due: no month that it names has such a day; correct day of month and month; the last day of a month is L`,
		"0 0 L-29 2 *":                          `cron expression "0 0 L-29 2 *" is never due: no month that it names has such a day; correct day of month and month; the last day of a month is L`,
		strings.Repeat("1,", 250) + "1 * * * *": `a cron expression of 509 bytes is too long; use at most 500, with ranges and steps instead of lists`,
	} {
		_, err := schedule.ParseCron(expr, nil)
		if kind := chela.KindOf(err); kind != chela.Invalid {
			t.Errorf("%q: kind %q, want %q", expr, kind, chela.Invalid)
			continue
		}
		if diff := cmp.Diff(want, chela.MessageOf(err)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", expr, diff)
		}
	}
}

func TestRefusedSpans(t *testing.T) {
	t.Parallel()
	for span, want := range map[time.Duration]string{
		9 * time.Second:                "every 9s is too often; use 10s or more",
		0:                              "every 0s is too often; use 10s or more",
		time.Minute + time.Millisecond: "every 1m0.001s is not a whole number of seconds; use 1m0s",
	} {
		_, err := schedule.Every(span, time.Time{})
		if diff := cmp.Diff(want, chela.MessageOf(err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", span, diff)
		}
	}
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	const form = " is not a time; write date and time, such as 2026-03-29 14:30, or 2026-03-29T14:30:00+02:00"
	for text, want := range map[string]string{
		"2026-07-01 09:00":             "2026-07-01T09:00:00+02:00",
		" 2026-07-01t09:00:15 ":        "2026-07-01T09:00:15+02:00",
		"2026-07-01T09:00:00Z":         "2026-07-01T11:00:00+02:00",
		"2026-07-01 09:00:00.25-07:00": "2026-07-01T18:00:00.25+02:00",
		"2025-03-30 02:30":             "2025-03-30T03:00:00+02:00", // does not exist
		"2025-10-26 02:30":             "2025-10-26T02:30:00+02:00", // comes twice
		"1800-01-01 00:00":             "1800-01-01T00:00:00+00:34",
		"":                             `""` + form,
		"2026-07-01":                   `"2026-07-01"` + form,
		"2026-02-30 09:00":             `"2026-02-30 09:00"` + form,
		"tomorrow":                     `"tomorrow"` + form,
	} {
		at, err := schedule.ParseTime(text, load(t, "Europe/Zurich"))
		got := at.Format(time.RFC3339Nano)
		if err != nil {
			got = chela.MessageOf(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	if at, err := schedule.ParseTime("2026-07-01 09:00", nil); err != nil || at.Format(time.RFC3339) != "2026-07-01T09:00:00Z" {
		t.Errorf("without a zone: %s, %v", at, err)
	}
}

// TestZero shows that a Schedule that was not made is never due.
func TestZero(t *testing.T) {
	t.Parallel()
	var s schedule.Schedule
	if due, more := s.Missed(time.Time{}, time.Unix(1<<40, 0), 3); len(due)+more != 0 {
		t.Errorf("%v and %d more were due", due, more)
	}
	if parse(t, "@daily", "UTC") == s || schedule.At(time.Time{}) == s {
		t.Error("a schedule that was made is the zero value")
	}
}

// FuzzParseCron parses expressions, describes them and finds their next due time.
func FuzzParseCron(f *testing.F) {
	for _, expr := range []string{"0 9 * * MON-FRI", "*/20 */15 1-23/2 L-3,15W,LW feb,12 5L,MON#2", "@yearly", "0 0 29 2 */7", "0 0 31 2 *", "* * * * * ſ", "5/10 ? ? ? ?"} {
		f.Add(expr, int64(1767225600))
	}
	zone := load(f, "Australia/Lord_Howe")
	f.Fuzz(func(t *testing.T, expr string, seconds int64) {
		s, err := schedule.ParseCron(expr, zone)
		if err != nil {
			if chela.KindOf(err) != chela.Invalid || chela.HintOf(err) == "" {
				t.Fatalf("%q: %v without a kind or a hint", expr, err)
			}
			return
		}
		if s.Describe() == "" {
			t.Fatalf("%q has no words", expr)
		}
		after := time.Unix(seconds, 0)
		if next, ok := s.Next(after); ok && !next.After(after) {
			t.Fatalf("%q is due at %s after %s", expr, next, after)
		}
	})
}

// FuzzParseTime parses times, and parses the written form of each result again.
func FuzzParseTime(f *testing.F) {
	for _, text := range []string{"2026-07-01 09:00", "2025-03-30T02:30:00.5+01:00"} {
		f.Add(text)
	}
	zone := load(f, "Europe/Zurich")
	f.Fuzz(func(t *testing.T, text string) {
		at, err := schedule.ParseTime(text, zone)
		if err != nil {
			return
		}
		if again, err := schedule.ParseTime(at.Format(time.RFC3339Nano), zone); err != nil || !at.Equal(again) {
			t.Fatalf("%q is spelt %q, which is not the same: %v", text, at, err)
		}
	})
}
