package rule_test

import (
	"cmp"
	"fmt"
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
			text := fmt.Sprintf("[heartbeat.active_hours]\nstart = %q\nend = %q\n", start, end)
			c, err := config.Load(config.Input{Home: t.TempDir(), ReadFile: func(string) ([]byte, error) { return []byte(text), nil }})
			var hours chela.ActiveHours
			if err == nil {
				hours = c.Heartbeat.ActiveHours
			}
			whole := chela.ActiveHours{Start: cmp.Or(start, "00:00"), End: cmp.Or(end, "24:00")}
			_, meant := rule.ParseWindow(whole.Start, whole.End, time.UTC)
			if taken := err == nil; taken != (meant == nil) {
				t.Errorf("%q to %q: taken %v, but %v", start, end, taken, meant)
			}
			if set := start != "" || end != ""; meant == nil && set && hours != whole {
				t.Errorf("%q to %q: got %+v", start, end, hours)
			}
		}
	}
}
