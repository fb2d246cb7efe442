package chela

import (
	"encoding/json"
	"time"
)

// A Span is a duration. In JSON it is a whole number of milliseconds in a field
// whose name ends in _ms.
type Span time.Duration

// Duration converts the span to a time.Duration.
func (s Span) Duration() time.Duration { return time.Duration(s) }

// String formats the span like 1h30m0s.
func (s Span) String() string { return time.Duration(s).String() }

// MarshalJSON implements json.Marshaler.
func (s Span) MarshalJSON() ([]byte, error) {
	ms, rest := time.Duration(s)/time.Millisecond, time.Duration(s)%time.Millisecond
	switch { // round away from zero: zero and negative spans have a meaning of their own
	case rest > 0:
		ms++
	case rest < 0:
		ms--
	}
	return json.Marshal(int64(ms))
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Span) UnmarshalJSON(raw []byte) error {
	var ms int64
	if err := json.Unmarshal(raw, &ms); err != nil {
		return err
	}
	*s = Span(time.Duration(ms) * time.Millisecond)
	return nil
}

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
