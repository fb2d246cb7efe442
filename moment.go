package chela

import "time"

// Moment formats a time for people, to the second and with its zone; a nil zone
// is UTC. The zero time is empty.
func Moment(t time.Time, zone *time.Location) string {
	if t.IsZero() {
		return ""
	}
	if zone == nil {
		zone = time.UTC
	}
	return t.In(zone).Format("2006-01-02 15:04:05 MST")
}
