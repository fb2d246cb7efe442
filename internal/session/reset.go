package session

import (
	"time"

	"chela"
)

// Resets say when a conversation of people begins anew by itself. The zero
// value is never.
type Resets struct {
	Daily        bool           // each day at Hour and Minute
	Hour, Minute int            // in Zone
	Zone         *time.Location // nil is UTC
	Idle         time.Duration  // after so long without activity; 0 means never
}

// Why returns why a session begins anew when something is said at now and was
// last said at last: "daily", "idle", or "" if it goes on. Sessions in which
// nobody speaks, such as those of jobs, go on.
func (r Resets) Why(key chela.SessionKey, last, now time.Time) Reason {
	switch {
	case !ofPeople(key):
		return ""
	case r.Daily && last.Before(r.newest(now)):
		return Daily
	case r.Idle > 0 && now.Sub(last) >= r.Idle:
		return Idle
	}
	return ""
}

// newest returns the newest time of the daily reset that is not after now. An
// hour that a change of clocks leaves out or brings twice comes once.
func (r Resets) newest(now time.Time) time.Time {
	zone := r.Zone
	if zone == nil {
		zone = time.UTC
	}
	year, month, day := now.In(zone).Date()
	at := time.Date(year, month, day, r.Hour, r.Minute, 0, 0, zone)
	if at.After(now) {
		at = time.Date(year, month, day-1, r.Hour, r.Minute, 0, 0, zone)
	}
	return at
}

// ofPeople reports whether people speak in a session.
func ofPeople(key chela.SessionKey) bool {
	k, err := chela.ParseSessionKey(key)
	if err != nil {
		return false
	}
	switch k.Kind {
	case chela.KeyMain, chela.KeyDirect, chela.KeyGroup, chela.KeyChannel:
		return true
	default:
		return false
	}
}

// A Reason says why a conversation ended.
type Reason string

// The reasons.
const (
	Asked    Reason = "asked"    // a person began a new thread
	Daily    Reason = "daily"    // the hour of the daily reset passed
	Idle     Reason = "idle"     // nobody spoke for session.idle_minutes
	Unloaded Reason = "unloaded" // nobody spoke for a while, and it left memory
	Archived Reason = "archived" // nobody spoke for session.archive_days
)

// An End is a conversation that ended. It stays readable, and whoever speaks in
// its thread goes on with it.
type End struct {
	Session chela.SessionKey
	Thread  chela.ThreadID
	Reason  Reason
}

// An EndFunc is told of each conversation that ended, once that is committed,
// by the process in which it did. It must not block.
type EndFunc func(End)
