package chela_test

import (
	"testing"
	"time"

	"chela"
)

func TestMoment(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 4, 5, 6, 7, time.UTC)
	zone := time.FixedZone("CET", 3600)
	for _, c := range []struct {
		at   time.Time
		zone *time.Location
		want string
	}{
		{at, nil, "2026-11-22 04:05:06 UTC"}, {at.In(zone), nil, "2026-11-22 04:05:06 UTC"}, {at, zone, "2026-11-22 05:05:06 CET"}, {time.Time{}, zone, ""},
	} {
		if got := chela.Moment(c.at, c.zone); got != c.want {
			t.Errorf("%v in %v is %q, want %q", c.at, c.zone, got, c.want)
		}
	}
}
