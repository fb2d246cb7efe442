package rule_test

import (
	"strings"
	"testing"
	"time"

	"chela"
	"chela/internal/background/routine/rule"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func window(t *testing.T, start, end, place string) rule.Window {
	t.Helper()
	w, err := rule.ParseWindow(start, end, zone(t, place))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func instant(t *testing.T, s string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		start, end string
		hint       string // empty: fine
	}{
		{"", "", ""},
		{"08:00", "22:30", ""},
		{"22:00", "06:00", ""},
		{"00:00", "24:00", ""},
		{"12:00", "24:00", ""},
		{"12:00", "00:00", ""},
		{"08:00", "08:00", "use 00:00 and 24:00 for the whole day"},
		{"00:00", "00:00", "use 00:00 and 24:00 for the whole day"},
		{"24:00", "24:00", "use 00:00"},
		{"24:00", "06:00", "use 00:00"},
		{"08:00", "", "use HH:MM"},
		{"", "08:00", "use HH:MM"},
		{"8:00", "22:00", "use HH:MM"},
		{"08:00", "22:0", "use HH:MM"},
		{"08:00", "24:01", "use HH:MM"},
		{"08:00", "25:00", "use HH:MM"},
		{"08:60", "22:00", "use HH:MM"},
		{"08:00:00", "22:00", "use HH:MM"},
		{" 08:00", "22:00", "use HH:MM"},
		{"-8:00", "22:00", "use HH:MM"},
		{"8am", "10pm", "use HH:MM"},
	}
	for _, test := range tests {
		_, err := rule.ParseWindow(test.start, test.end, time.UTC)
		switch {
		case test.hint == "" && err != nil:
			t.Errorf("%s–%s: %v", test.start, test.end, err)
		case test.hint != "" && (chela.KindOf(err) != chela.Invalid || !strings.HasPrefix(chela.HintOf(err), test.hint)):
			t.Errorf("%s–%s: got %v (%s), want an Invalid error with %q", test.start, test.end, err, chela.HintOf(err), test.hint)
		}
	}
}

func TestContains(t *testing.T) {
	t.Parallel()
	tests := []struct {
		start, end, place string
		at                string
		want              bool
	}{
		{"", "", "UTC", "2026-01-01T00:00:00Z", true},
		{"00:00", "24:00", "UTC", "2026-01-01T23:59:59Z", true},
		{"08:00", "22:00", "UTC", "2026-01-01T07:59:59Z", false},
		{"08:00", "22:00", "UTC", "2026-01-01T08:00:00Z", true},
		{"08:00", "22:00", "UTC", "2026-01-01T21:59:59.999999999Z", true},
		{"08:00", "22:00", "UTC", "2026-01-01T22:00:00Z", false},
		{"12:00", "24:00", "UTC", "2026-01-01T23:59:59Z", true},
		{"12:00", "24:00", "UTC", "2026-01-01T00:00:00Z", false},
		{"12:00", "00:00", "UTC", "2026-01-01T23:59:59Z", true},
		{"12:00", "00:00", "UTC", "2026-01-01T00:00:00Z", false},
		{"22:00", "06:00", "UTC", "2026-01-01T21:59:59Z", false},
		{"22:00", "06:00", "UTC", "2026-01-01T22:00:00Z", true},
		{"22:00", "06:00", "UTC", "2026-01-01T00:00:00Z", true},
		{"22:00", "06:00", "UTC", "2026-01-01T05:59:59Z", true},
		{"22:00", "06:00", "UTC", "2026-01-01T06:00:00Z", false},
		// The place decides, not where the time was read.
		{"08:00", "22:00", "Asia/Tokyo", "2026-01-01T00:00:00+01:00", true},
		{"08:00", "22:00", "Asia/Kathmandu", "2026-01-01T02:14:59Z", false},
		{"08:00", "22:00", "Asia/Kathmandu", "2026-01-01T02:15:00Z", true},
		// In Berlin clocks go from 02:00 to 03:00 on 29 March 2026 at 01:00 UTC, and
		// from 03:00 to 02:00 on 25 October at 01:00 UTC.
		{"02:30", "06:00", "Europe/Berlin", "2026-03-29T00:59:59Z", false},
		{"02:30", "06:00", "Europe/Berlin", "2026-03-29T01:00:00Z", true},
		{"08:00", "22:00", "Europe/Berlin", "2026-03-28T06:30:00Z", false},
		{"08:00", "22:00", "Europe/Berlin", "2026-03-29T06:30:00Z", true},
		{"02:15", "02:45", "Europe/Berlin", "2026-10-25T00:20:00Z", true},
		{"02:15", "02:45", "Europe/Berlin", "2026-10-25T00:50:00Z", false},
		{"02:15", "02:45", "Europe/Berlin", "2026-10-25T01:20:00Z", true},
	}
	for _, test := range tests {
		w := window(t, test.start, test.end, test.place)
		if got := w.Contains(instant(t, test.at)); got != test.want {
			t.Errorf("%s–%s %s at %s: got %v, want %v", test.start, test.end, test.place, test.at, got, test.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("08:00", "22:00", int64(0))
	f.Add("22:00", "24:00", int64(1_774_746_000))
	f.Fuzz(func(t *testing.T, start, end string, seconds int64) {
		w, err := rule.ParseWindow(start, end, time.UTC)
		if err != nil {
			return
		}
		at := time.Unix(seconds%(1<<40), 0)
		if day := at.Add(24 * time.Hour); w.Contains(at) != w.Contains(day) {
			t.Errorf("%s–%s at %v: not the same a day later", start, end, at)
		}
	})
}
