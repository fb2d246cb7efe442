package session_test

import (
	"testing"
	"time"

	"chela"
	"chela/internal/engine/session"
)

func moment(t *testing.T, s string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestDailyReset asks at which moments a conversation begins anew, in zones
// that change their clocks and in some that do it oddly.
func TestDailyReset(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, zone   string
		hour, minute int
		last, now    string
		want         session.Reason
	}{
		{"same morning", "Europe/Berlin", 4, 0, "2026-01-10T04:00:00+01:00", "2026-01-10T23:59:00+01:00", ""},
		{"over midnight", "Europe/Berlin", 4, 0, "2026-01-10T23:00:00+01:00", "2026-01-11T03:59:59+01:00", ""},
		{"at the hour", "Europe/Berlin", 4, 0, "2026-01-10T23:00:00+01:00", "2026-01-11T04:00:00+01:00", session.Daily},
		{"after the hour", "Europe/Berlin", 4, 0, "2026-01-11T03:59:59+01:00", "2026-01-11T04:00:01+01:00", session.Daily},
		{"days later", "Europe/Berlin", 4, 0, "2026-01-01T12:00:00+01:00", "2026-01-11T03:00:00+01:00", session.Daily},
		{"the hour is local", "America/New_York", 4, 0, "2026-01-11T08:59:00Z", "2026-01-11T09:00:00Z", session.Daily},
		{"and only that", "America/New_York", 4, 0, "2026-01-11T03:00:00Z", "2026-01-11T05:00:00Z", ""},
		{"another day in UTC", "Asia/Tokyo", 4, 0, "2026-01-10T18:59:00Z", "2026-01-10T19:00:00Z", session.Daily},
		{"no zone is UTC", "", 4, 0, "2026-01-11T03:59:00Z", "2026-01-11T04:00:00Z", session.Daily},
		{"half an hour", "Asia/Kolkata", 4, 30, "2026-01-10T22:59:00Z", "2026-01-10T23:00:00Z", session.Daily},
		{"midnight", "Europe/Berlin", 0, 0, "2026-01-10T23:59:59+01:00", "2026-01-11T00:00:00+01:00", session.Daily},
		{"clocks go forward before it", "Europe/Berlin", 4, 0, "2026-03-29T01:59:00+01:00", "2026-03-29T03:59:00+02:00", ""},
		{"and then it comes", "Europe/Berlin", 4, 0, "2026-03-29T03:59:00+02:00", "2026-03-29T04:00:00+02:00", session.Daily},
		{"clocks go back before it", "Europe/Berlin", 4, 0, "2026-10-25T02:30:00+02:00", "2026-10-25T03:59:00+01:00", ""},
		{"and it comes once", "Europe/Berlin", 4, 0, "2026-10-25T04:00:00+01:00", "2026-10-26T03:59:00+01:00", ""},
		{"an hour that is left out", "Europe/Berlin", 2, 30, "2026-03-29T01:20:00+01:00", "2026-03-29T03:40:00+02:00", session.Daily},
		{"and comes once", "Europe/Berlin", 2, 30, "2026-03-29T03:40:00+02:00", "2026-03-30T02:29:00+02:00", ""},
		{"an hour that comes twice", "Europe/Berlin", 2, 30, "2026-10-25T01:00:00+02:00", "2026-10-25T02:40:00+01:00", session.Daily},
		{"resets once", "Europe/Berlin", 2, 30, "2026-10-25T02:40:00+01:00", "2026-10-26T02:29:00+01:00", ""},
		{"midnight that is left out", "America/Santiago", 0, 0, "2026-09-05T22:00:00-04:00", "2026-09-06T01:00:00-03:00", session.Daily},
		{"and comes once as well", "America/Santiago", 0, 0, "2026-09-06T01:00:00-03:00", "2026-09-06T23:59:00-03:00", ""},
		{"a day that is left out", "Pacific/Apia", 4, 0, "2011-12-29T23:00:00-10:00", "2011-12-31T03:00:00+14:00", ""},
		{"a clock that was set back", "Europe/Berlin", 4, 0, "2026-01-12T12:00:00+01:00", "2026-01-11T12:00:00+01:00", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := session.Resets{Daily: true, Hour: c.hour, Minute: c.minute}
			if c.zone != "" {
				var err error
				if r.Zone, err = time.LoadLocation(c.zone); err != nil {
					t.Fatal(err)
				}
			}
			if got := r.Why("agent:main:main", moment(t, c.last), moment(t, c.now)); got != c.want {
				t.Errorf("%s, then %s: %q, want %q", c.last, c.now, got, c.want)
			}
		})
	}
}

func TestIdleReset(t *testing.T) {
	t.Parallel()
	last := moment(t, "2026-01-10T12:00:00Z")
	for _, c := range []struct {
		name   string
		resets session.Resets
		after  time.Duration
		want   session.Reason
	}{
		{"never", session.Resets{}, 1000 * time.Hour, ""},
		{"too early", session.Resets{Idle: time.Hour}, time.Hour - 1, ""},
		{"in time", session.Resets{Idle: time.Hour}, time.Hour, session.Idle},
		{"daily first", session.Resets{Idle: time.Hour, Daily: true, Hour: 4}, 17 * time.Hour, session.Daily},
		{"before the daily one", session.Resets{Idle: time.Hour, Daily: true, Hour: 4}, 2 * time.Hour, session.Idle},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := c.resets.Why("agent:main:dm:al", last, last.Add(c.after)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestOnlyPeopleBeginAnew shows which sessions a reset is for.
func TestOnlyPeopleBeginAnew(t *testing.T) {
	t.Parallel()
	for key, want := range map[chela.SessionKey]session.Reason{
		"agent:main:main": session.Idle, "agent:main:dm:al": session.Idle, "agent:main:telegram:dm:al": session.Idle,
		"agent:main:telegram:group:g": session.Idle, "agent:main:slack:channel:c:thread:t": session.Idle,
		"agent:main:subagent:x": "", "agent:main:job:x": "", "cron:morning": "", "hook:x": "", "no key": "",
	} {
		r := session.Resets{Idle: time.Minute}
		if got := r.Why(key, time.Unix(0, 0), time.Unix(100, 0)); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}
