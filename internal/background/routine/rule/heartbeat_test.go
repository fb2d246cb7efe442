package rule_test

import (
	"cmp"
	"testing"
	"time"

	"chela"
	"chela/internal/background/routine/rule"
	"chela/internal/config"
)

// TestHeartbeatHours takes the hours that somebody can mean, and no others.
func TestHeartbeatHours(t *testing.T) {
	t.Parallel()
	times := []string{"", "00:00", "08:00", "8:00", "08:00:00", "23:59", "24:00", "24:01", "12:60", "-1:00", "noon"}
	for _, start := range times {
		for _, end := range times {
			h := config.NewHeartbeat()
			var err error
			for _, k := range config.HeartbeatKeys {
				switch k.Name {
				case "active_hours.start":
					err = k.At(&h).Put(start)
				case "active_hours.end":
					if err == nil {
						err = k.At(&h).Put(end)
					}
				}
			}
			h.Complete()
			_, problem, _ := h.Problem()
			whole := chela.ActiveHours{Start: cmp.Or(start, "00:00"), End: cmp.Or(end, "24:00")}
			_, meant := rule.ParseWindow(whole.Start, whole.End, time.UTC)
			if taken := err == nil && problem == ""; taken != (meant == nil) {
				t.Errorf("%q to %q: taken %v, but %v", start, end, taken, meant)
			}
			if set := start != "" || end != ""; meant == nil && set && h.ActiveHours != whole {
				t.Errorf("%q to %q: got %+v", start, end, h.ActiveHours)
			}
		}
	}
}
