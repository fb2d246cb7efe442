package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/background/schedule"
)

// friday is the time at which the phrases of the tests are read.
const friday = "2026-11-27T10:15:30+01:00"

// spell writes a trigger as "cron …", "every …" or "at …".
func spell(t chela.Trigger) string {
	switch t.Kind {
	case chela.TriggerCron:
		return strings.TrimSpace("cron " + t.Cron + " " + t.Zone)
	case chela.TriggerEvery:
		return "every " + t.Every.Duration().String()
	default:
		return string(t.Kind) + " " + t.At.Format(time.RFC3339)
	}
}

// repeating are days that repeat.
var repeating = map[string]string{
	"every weekday at 9":                    "cron 0 9 * * MON-FRI",
	"Every Weekday at 9am.":                 "cron 0 9 * * MON-FRI",
	"weekdays at 9":                         "cron 0 9 * * MON-FRI",
	"at 9 on weekdays":                      "cron 0 9 * * MON-FRI",
	"monday to friday at 9":                 "cron 0 9 * * MON-FRI",
	"mon-fri 9:00":                          "cron 0 9 * * MON-FRI",
	"every monday at 9:30":                  "cron 30 9 * * MON",
	"mondays at 9:30":                       "cron 30 9 * * MON",
	"every monday and thursday at 9":        "cron 0 9 * * MON,THU",
	"every mon, wed, fri at 7":              "cron 0 7 * * MON,WED,FRI",
	"every weekend at 10":                   "cron 0 10 * * SAT,SUN",
	"friday to sunday at noon":              "cron 0 12 * * FRI,SAT,SUN",
	"monday to sunday at 8":                 "cron 0 8 * * *",
	"every week on monday at 9":             "cron 0 9 * * MON",
	"weekly on sunday at 20:00":             "cron 0 20 * * SUN",
	"daily at 18:00":                        "cron 0 18 * * *",
	"every day at 9 and 18":                 "cron 0 9,18 * * *",
	"every day at 9:30, 12:30 and 18:30":    "cron 30 9,12,18 * * *",
	"each day at midnight":                  "cron 0 0 * * *",
	"every day":                             "cron 0 9 * * *",
	"daily":                                 "cron 0 9 * * *",
	"every morning":                         "cron 0 9 * * *",
	"every evening at 8":                    "cron 0 20 * * *",
	"every night at 11":                     "cron 0 23 * * *",
	"every night at 2":                      "cron 0 2 * * *",
	"every day at 7 in the evening":         "cron 0 19 * * *",
	"every afternoon at 2:45":               "cron 45 14 * * *",
	"every day at 12 am":                    "cron 0 0 * * *",
	"every day at 12pm":                     "cron 0 12 * * *",
	"daily at 9 o'clock":                    "cron 0 9 * * *",
	"first of the month":                    "cron 0 9 1 * *",
	"first of the month at 8":               "cron 0 8 1 * *",
	"on the 1st of every month at 8":        "cron 0 8 1 * *",
	"every month on the 15th at 9":          "cron 0 9 15 * *",
	"monthly on the 1st and 15th at 9":      "cron 0 9 1,15 * *",
	"every 1st and 15th at 9":               "cron 0 9 1,15 * *",
	"last day of the month at 18:00":        "cron 0 18 L * *",
	"first monday of the month at 9":        "cron 0 9 * * MON#1",
	"first and third monday of every month": "cron 0 9 * * MON#1,MON#3",
	"every second monday of the month at 9": "cron 0 9 * * MON#2",
	"last friday of the month at 17":        "cron 0 17 * * FRIL",
	"first weekday of the month at 9":       "cron 0 9 1W * *",
	"last weekday of each month at 16":      "cron 0 16 LW * *",
	"every year on 1 may at 9":              "cron 0 9 1 5 *",
	"every may 1 at 9":                      "cron 0 9 1 5 *",
	"yearly on december 24th at 18":         "cron 0 18 24 12 *",
	"every day at 9 Asia/Tokyo":             "cron 0 9 * * * Asia/Tokyo",
	"every day at 9 UTC":                    "cron 0 9 * * * UTC",
	"every hour at :30":                     "cron 30 * * * *",
	"every 2 hours on weekdays":             "cron 0 */2 * * MON-FRI",
	"every 30 minutes on mondays":           "cron */30 * * * MON",
}

// intervals are fixed intervals.
var intervals = map[string]string{
	"every 2 hours":      "every 2h0m0s",
	"every two hours":    "every 2h0m0s",
	"every hour":         "every 1h0m0s",
	"hourly":             "every 1h0m0s",
	"every 30 minutes":   "every 30m0s",
	"every 30m":          "every 30m0s",
	"every 1d12h":        "every 36h0m0s",
	"every half an hour": "every 30m0s",
	"every half hour":    "every 30m0s",
	"every minute":       "every 1m0s",
	"every 30 seconds":   "every 30s",
	"every other day":    "every 48h0m0s",
	"every second day":   "every 48h0m0s",
	"every 2 weeks":      "every 336h0m0s",
	"@every 90m":         "every 1h30m0s",
}

// singles are single times.
var singles = map[string]string{
	"in 20 minutes":              "at 2026-11-27T10:35:30+01:00",
	"in 20m":                     "at 2026-11-27T10:35:30+01:00",
	"in an hour":                 "at 2026-11-27T11:15:30+01:00",
	"in half an hour":            "at 2026-11-27T10:45:30+01:00",
	"in 1 hour and 30 minutes":   "at 2026-11-27T11:45:30+01:00",
	"in 2 days":                  "at 2026-11-29T10:15:30+01:00",
	"in 2 days at 9":             "at 2026-11-29T09:00:00+01:00",
	"in a week":                  "at 2026-12-04T10:15:30+01:00",
	"in 3 months":                "at 2027-02-27T10:15:30+01:00",
	"in 2 years at noon":         "at 2028-11-27T12:00:00+01:00",
	"tomorrow at 9":              "at 2026-11-28T09:00:00+01:00",
	"tomorrow":                   "at 2026-11-28T09:00:00+01:00",
	"tomorrow 9":                 "at 2026-11-28T09:00:00+01:00",
	"tomorrow evening":           "at 2026-11-28T18:00:00+01:00",
	"at 9 tomorrow morning":      "at 2026-11-28T09:00:00+01:00",
	"today at 18:00":             "at 2026-11-27T18:00:00+01:00",
	"today at 8":                 "at 2026-11-27T08:00:00+01:00", // who stores it refuses it
	"tonight at 9":               "at 2026-11-27T21:00:00+01:00",
	"tonight":                    "at 2026-11-27T21:00:00+01:00",
	"at 9":                       "at 2026-11-28T09:00:00+01:00", // today it is over
	"at 11":                      "at 2026-11-27T11:00:00+01:00",
	"6pm":                        "at 2026-11-27T18:00:00+01:00",
	"at noon":                    "at 2026-11-27T12:00:00+01:00",
	"on monday at 9":             "at 2026-11-30T09:00:00+01:00",
	"friday at 9":                "at 2026-12-04T09:00:00+01:00",
	"friday at 11":               "at 2026-11-27T11:00:00+01:00",
	"next friday at 11":          "at 2026-12-04T11:00:00+01:00",
	"next weekday at 9":          "at 2026-11-30T09:00:00+01:00",
	"on the 3rd at 9":            "at 2026-12-03T09:00:00+01:00",
	"first of next month at 9":   "at 2026-12-01T09:00:00+01:00",
	"1 may at 9":                 "at 2027-05-01T09:00:00+02:00",
	"may 1st at 9":               "at 2027-05-01T09:00:00+02:00",
	"1st of december at 9":       "at 2026-12-01T09:00:00+01:00",
	"29 february at 9":           "at 2028-02-29T09:00:00+01:00",
	"1 may 2035 at 9":            "at 2035-05-01T09:00:00+02:00",
	"may 1 2035 at 9 Asia/Tokyo": "at 2035-05-01T09:00:00+09:00",
	"2035-05-01 at 9":            "at 2035-05-01T09:00:00+02:00",
	"2035-05-01 09:00":           "at 2035-05-01T09:00:00+02:00",
	"2035-05-01T09:00:00Z":       "at 2035-05-01T11:00:00+02:00",
}

// expressions are not in words.
var expressions = map[string]string{
	"0 9 * * mon-fri":      "cron 0 9 * * MON-FRI",
	"*/10 0 9 * * *":       "cron */10 0 9 * * *",
	"@daily":               "cron @daily",
	"0 9 * * * Asia/Tokyo": "cron 0 9 * * * Asia/Tokyo",
}

// TestParseWhen reads each phrase on Friday, 2026-11-27 at 10:15:30 in Zurich.
func TestParseWhen(t *testing.T) {
	t.Parallel()
	for _, group := range []map[string]string{repeating, intervals, singles, expressions} {
		for text, want := range group {
			got, err := schedule.ParseWhen(text, instant(t, friday), load(t, "Europe/Zurich"))
			if err != nil {
				t.Errorf("%q: %s", text, chela.MessageOf(err))
			} else if diff := cmp.Diff(want, spell(got)); diff != "" {
				t.Errorf("%q (-want +got):\n%s", text, diff)
			}
		}
	}
}

// TestParseWhenOverClockChanges reads phrases shortly before the clocks change.
func TestParseWhenOverClockChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, now, text, want string }{
		{"Europe/Zurich", "2026-03-28T12:00:00+01:00", "tomorrow at 2:30", "at 2026-03-29T03:00:00+02:00"}, // does not exist
		{"Europe/Zurich", "2026-10-24T12:00:00+02:00", "tomorrow at 2:30", "at 2026-10-25T02:30:00+02:00"}, // comes twice
		{"Europe/Zurich", "2026-10-24T12:00:00+02:00", "in 1 day", "at 2026-10-25T12:00:00+01:00"},         // 25 hours
		{"Europe/Zurich", "2026-10-24T12:00:00+02:00", "in 24 hours", "at 2026-10-25T11:00:00+01:00"},
		{"Europe/Zurich", "2026-03-28T12:00:00+01:00", "in 1 day", "at 2026-03-29T12:00:00+02:00"}, // 23 hours
		{"Europe/Zurich", "2026-03-28T23:59:00+01:00", "in 3 hours", "at 2026-03-29T03:59:00+02:00"},
		{"Europe/Zurich", "2026-10-25T02:40:00+02:00", "at 2:30", "at 2026-10-26T02:30:00+01:00"}, // the second 2:30 is not due
		{"Australia/Lord_Howe", "2026-10-03T12:00:00+10:30", "tomorrow at 2:15", "at 2026-10-04T02:30:00+11:00"},
		{"Pacific/Apia", "2011-12-29T12:00:00-10:00", "tomorrow at 9", "at 2011-12-31T00:00:00+14:00"}, // a day that does not exist
		{"America/New_York", "2026-01-31T23:30:00-05:00", "in a month", "at 2026-02-28T23:30:00-05:00"},
		{"America/New_York", "2026-01-31T23:30:00-05:00", "tomorrow at noon", "at 2026-02-01T12:00:00-05:00"},
		{"America/New_York", "2026-02-01T04:30:00Z", "today at 23:45", "at 2026-01-31T23:45:00-05:00"}, // still Saturday there
	} {
		got, err := schedule.ParseWhen(c.text, instant(t, c.now), load(t, c.zone))
		if err != nil {
			t.Errorf("%q: %s", c.text, chela.MessageOf(err))
		} else if diff := cmp.Diff(c.want, spell(got)); diff != "" {
			t.Errorf("%q at %s in %s (-want +got):\n%s", c.text, c.now, c.zone, diff)
		}
	}
}

// TestRefusedPhrases: each refusal says what is wrong and shows a form that is allowed.
func TestRefusedPhrases(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                          "it names no day; write one such as " + schedule.Forms,
		"whenever":                  `the word "whenever" is unknown; write one such as ` + schedule.Forms,
		"evry monday at 9":          `the word "evry" is unknown; did you mean every? Allowed are ` + schedule.Forms,
		"tomorow at 9":              `the word "tomorow" is unknown; did you mean tomorrow? Allowed are ` + schedule.Forms,
		"30m":                       "it is unclear whether it repeats; write every 30m or in 30m",
		"20 minutes":                "it is unclear whether it repeats; write every 20 minutes or in 20 minutes",
		"every":                     "it is unclear how often that is; write one such as every 2 hours, every 2 weeks, every weekday at 9 or every monday at 9",
		"every other monday at 9":   "it is unclear how often that is; write one such as every 2 hours, every 2 weeks, every weekday at 9 or every monday at 9",
		"every second monday at 9":  `it is unclear whether that is every second week; write second monday of the month at 9, or "every 2 weeks" without a day`,
		"every 2 days at 9":         `a fixed interval has neither a day nor a time; write one such as every 2 hours, every 48h or daily at 9, or cron "0 9 */2 * *"`,
		"every 7 minutes on monday": "such an interval cannot be limited to weekdays; write one such as every 30 minutes on weekdays, or every 2 hours on mondays",
		"every 3 months":            `months and years are not counted; write the months in cron, as "0 9 1 */3 *"`,
		"every month at 9":          "it names no day; write one such as first of the month at 9, every monday at 9 or every year on 1 may at 9",
		"weekly":                    "it names no day; write one such as first of the month at 9, every monday at 9 or every year on 1 may at 9",
		"every tomorrow at 9":       "it repeats, but names a single day; leave out the day, or what repeats",
		"every monday and the 1st":  "it names several kinds of days; make a schedule for each",
		"every day at 9:00, 18:30":  "one cron expression cannot have these times; make a schedule for each, or choose times with the same minutes, such as 9:30 and 18:30",
		"tomorrow at 9 and 18":      "it has several times of one day; make a schedule for each, or write what repeats: daily at 9 and 18",
		"tomorrow at 25":            "there is no such hour; write 0:00 to 23:59, or 12am to 11pm; midnight is 0:00",
		"tomorrow at 13pm":          "there is no such hour; write 0:00 to 23:59, or 12am to 11pm; midnight is 0:00",
		"tomorrow at half past 9":   `"half" is not a time of day; write one such as 9, 9:30, 18:00, 6pm, noon or midnight`,
		"today or monday at 9":      `the word "or" is unknown; write one such as ` + schedule.Forms,
		"tomorrow and monday at 9":  "it names several days; make a schedule for each, or write what repeats: every monday and thursday at 9",
		"31 february at 9":          "there is no such day; choose a day that the month has",
		"29 february 2035 at 9":     "there is no such day; choose a day that the month has",
		"first monday at 9":         "it is unclear of which month; write one such as first monday of the month at 9",
		"in a while":                "it is unclear when that is; write one such as in 20 minutes, in 2 hours or in 3 days at 9",
		"in 20 minutes at 9":        "it is unclear when that is; write one such as in 20 minutes, in 2 hours or in 3 days at 9",
		"in 9999 years":             "it is too far away; write a time before the year 9999",
		"every 5000 weeks":          "it is longer than a year; write a date for each time",
		"every hour from 9 to 17":   `it limits the hours of a day; set active hours ("09:00-17:00") beside it, or write a cron expression such as "*/30 9-16 * * MON-FRI"`,
	} {
		_, err := schedule.ParseWhen(text, instant(t, friday), load(t, "Europe/Zurich"))
		if kind := chela.KindOf(err); kind != chela.Invalid {
			t.Errorf("%q: kind %q, want %q", text, kind, chela.Invalid)
			continue
		}
		if diff := cmp.Diff(`"`+text+`" is not a schedule: `+want, chela.MessageOf(err)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	for text, want := range map[string]string{
		"every 5 seconds":             "every 5s is too often; use 10s or more",
		"0 25 * * *":                  `cron field hour: "25" is not 0 to 23; write *, a value, a range such as 1-5, a step such as */2, or a list of these with commas`,
		"every day at 9 Mars/Olympus": `there is no time zone "Mars/Olympus"; use a name such as Europe/Zurich, or leave it out for the owner's zone`,
		strings.Repeat("very ", 200):  "a schedule of 999 bytes is too long; write one such as " + schedule.Forms,
	} {
		_, err := schedule.ParseWhen(text, instant(t, friday), nil)
		if diff := cmp.Diff(want, chela.MessageOf(err)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// FuzzParseWhen parses phrases. What is accepted can be stored, and what is refused
// says how it can be written.
func FuzzParseWhen(f *testing.F) {
	for _, text := range []string{
		"every weekday at 9", "tomorrow at 9", "in 20 minutes", "every 2 hours", "every monday at 9:30", "daily at 18:00 Asia/Tokyo",
		"first and last friday of the month at 6pm", "1 may 2035 at noon", "in 1 year and 2 days at 9 in the evening", "every hour at :15, :45",
		"next mon-fri at 12am", "0 9 * * MON", "@every 1w2d", "2035-05-01 09:00",
	} {
		f.Add(text, int64(1767225600))
	}
	zone := load(f, "Australia/Lord_Howe")
	f.Fuzz(func(t *testing.T, text string, seconds int64) {
		now := time.Unix(seconds%(1<<36), 0)
		got, err := schedule.ParseWhen(text, now, zone)
		if err != nil {
			if chela.KindOf(err) != chela.Invalid || chela.HintOf(err) == "" || got.Kind != "" {
				t.Fatalf("%q: %v without a kind or a hint, or with a trigger", text, err)
			}
			return
		}
		switch got.Kind {
		case chela.TriggerCron:
			_, err = schedule.ParseCron(got.Cron, zone)
		case chela.TriggerEvery:
			_, err = schedule.Every(got.Every.Duration(), now)
		case chela.TriggerAt:
			if got.At.IsZero() {
				t.Fatalf("%q has no time", text)
			}
		default:
			t.Fatalf("%q is of kind %q", text, got.Kind)
		}
		if err != nil {
			t.Fatalf("%q became %+v: %v", text, got, err)
		}
	})
}
