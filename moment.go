package chela

import "time"

// Moment writes a point in time as people read it, to the second, in a zone that it
// names; nil is UTC. The zero time is empty.
func Moment(t time.Time, zone *time.Location) string {
	if t.IsZero() {
		return ""
	}
	if zone == nil {
		zone = time.UTC
	}
	return t.In(zone).Format("2006-01-02 15:04:05 MST")
}
