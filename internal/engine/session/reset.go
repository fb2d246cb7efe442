package session

import (
	"cmp"
	"slices"
	"time"

	"chela"
)

// Resets configure when people's conversations restart automatically. The zero
// value is never.
type Resets struct {
	Daily        bool           // each day at Hour and Minute
	Hour, Minute int            // in Zone
	Zone         *time.Location // nil is UTC
	Idle         time.Duration  // after this time without activity; 0 means never
}

// Why returns the reason for a session to restart when the last message was at
// last and a new one arrives at now: "daily", "idle", or "" if it continues.
// Sessions without people, such as job sessions, always continue.
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

// newest returns the latest daily reset not after now. An hour skipped or
// repeated by daylight saving time counts once.
func (r Resets) newest(now time.Time) time.Time {
	zone := cmp.Or(r.Zone, time.UTC)
	year, month, day := now.In(zone).Date()
	at := time.Date(year, month, day, r.Hour, r.Minute, 0, 0, zone)
	if at.After(now) {
		at = time.Date(year, month, day-1, r.Hour, r.Minute, 0, 0, zone)
	}
	return at
}

// ofPeople reports whether people write in a session.
func ofPeople(key chela.SessionKey) bool {
	k, err := chela.ParseSessionKey(key)
	return err == nil && slices.Contains([]chela.KeyKind{chela.KeyMain, chela.KeyDirect, chela.KeyGroup, chela.KeyChannel}, k.Kind)
}

// A Reason is why a conversation ended.
type Reason string

// The reasons.
const (
	Asked    Reason = "asked"    // a person started a new thread
	Daily    Reason = "daily"    // the hour of the daily reset passed
	Idle     Reason = "idle"     // no message for session.idle_minutes
	Unloaded Reason = "unloaded" // no message for a while, and it was evicted from memory
	Archived Reason = "archived" // no message for session.archive_days
)

// An End reports the end of a conversation. Its thread stays readable and can
// be continued.
type End struct {
	Session chela.SessionKey
	Thread  chela.ThreadID
	Reason  Reason
}

// An EndFunc is called after the commit for each ended conversation, in the
// process that ended it. It must not block.
type EndFunc func(End)
