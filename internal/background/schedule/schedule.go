package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"chela"
)

// A Schedule says when something is due. It is made by ParseCron, Every,
// ParseEvery, At and ParseAt, is immutable, and can be compared with ==. The
// zero value is never due.
type Schedule struct {
	kind   kind
	cron   cron
	every  time.Duration
	anchor time.Time // origin of the intervals
	at     time.Time
}

type kind uint8

const (
	never kind = iota
	byCron
	bySpan
	once
)

// MinEvery is the shortest interval between due times, for schedules of any
// kind.
const MinEvery = 10 * time.Second

// Every returns the schedule that is due at anchor and at each interval after
// it. A zero anchor aligns days to midnight UTC, weeks to Monday. It returns
// Invalid for an interval below MinEvery or with a fraction of a second.
func Every(span time.Duration, anchor time.Time) (Schedule, error) {
	switch {
	case span < MinEvery:
		return Schedule{}, chela.E(chela.Invalid, fmt.Sprintf("every %s is too often", span)).
			WithHint("use 10s or more")
	case span%time.Second != 0:
		return Schedule{}, chela.E(chela.Invalid, fmt.Sprintf("every %s is not a whole number of seconds", span)).
			WithHint(fmt.Sprintf("use %s", span.Truncate(time.Second)))
	}
	return Schedule{kind: bySpan, every: span, anchor: anchor.Round(0)}, nil
}

// units lists the units of intervals in text, longest first.
var units = []struct {
	name string
	span time.Duration
}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}

// longest bounds the number of any unit in text.
const longest = 36500 * 24 * time.Hour

// ParseEvery is Every with the interval as text: numbers with the units w, d,
// h, m and s, the longest first, such as 90m or 1d12h. A day is 24 hours. It
// returns Invalid for any other form.
func ParseEvery(text string, anchor time.Time) (Schedule, error) {
	rest, span := strings.ToLower(strings.TrimSpace(text)), time.Duration(0)
	refused := chela.E(chela.Invalid, fmt.Sprintf("%q is not a span of time", text)).
		WithHint("write a whole number with a unit w, d, h, m or s: 90m, 12h, 1d12h")
	if rest == "" {
		return Schedule{}, refused
	}
	for _, u := range units {
		count, after, found := strings.Cut(rest, u.name)
		if !found {
			continue
		}
		n, err := strconv.ParseUint(count, 10, 32)
		if err != nil || n > uint64(longest/u.span) {
			return Schedule{}, refused
		}
		rest, span = after, span+time.Duration(n)*u.span
	}
	if rest != "" {
		return Schedule{}, refused
	}
	return Every(span, anchor)
}

// At returns the schedule that is due once, at t.
func At(t time.Time) Schedule { return Schedule{kind: once, at: t.Round(0)} }

// ParseAt returns the schedule that is due once, at a time of RFC 3339 or at a
// wall time in zone: "2026-03-29 02:30", with seconds or without, "T" or a
// space in between. A nil zone is UTC. A wall time in a gap is the end of the
// gap; a repeated one is its first occurrence. It returns Invalid for any other
// form.
func ParseAt(text string, zone *time.Location) (Schedule, error) {
	if zone == nil {
		zone = time.UTC
	}
	spelt := strings.Replace(strings.ToUpper(strings.TrimSpace(text)), " ", "T", 1)
	if t, err := time.Parse(time.RFC3339, spelt); err == nil {
		return At(t.In(zone)), nil
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if wall, err := time.Parse(layout, spelt); err == nil {
			return At(time.Unix(firstReading(zone, wall.Unix(), earliest), 0).In(zone)), nil
		}
	}
	return Schedule{}, chela.E(chela.Invalid, fmt.Sprintf("%q is not a time", text)).
		WithHint("write date and time, such as 2026-03-29 14:30, or 2026-03-29T14:30:00+02:00")
}

// IsZero reports whether s is the zero value.
func (s Schedule) IsZero() bool { return s.kind == never }

// String returns the canonical text of s, which parses back to s: its
// expression, interval or time.
func (s Schedule) String() string {
	switch s.kind {
	case byCron:
		return s.cron.text
	case bySpan:
		return spanText(s.every)
	case once:
		return s.at.Format(time.RFC3339Nano)
	default:
		return "never"
	}
}

func spanText(span time.Duration) string {
	var text strings.Builder
	for _, u := range units {
		if n := span / u.span; n > 0 {
			fmt.Fprintf(&text, "%d%s", n, u.name)
			span %= u.span
		}
	}
	return text.String()
}
