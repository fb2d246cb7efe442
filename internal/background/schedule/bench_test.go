package schedule_test

import (
	"testing"
	"time"

	"chela/internal/background/schedule"
)

func BenchmarkNext(b *testing.B) {
	zone, err := time.LoadLocation("Europe/Zurich")
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, expr string }{
		{"every minute", "* * * * *"},
		{"every quarter", "*/15 * * * *"},
		{"daily", "0 9 * * *"},
		{"weekdays", "30 8 * * MON-FRI"},
		{"last Friday", "0 17 * * 5L"},
		{"yearly", "0 0 1 1 *"},
		{"leap day", "0 0 29 2 *"},
		{"leap Sunday", "0 0 29 2 */7"},
	} {
		s, err := schedule.ParseCron(c.expr, zone)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			after := time.Date(2026, 7, 1, 12, 34, 56, 0, time.UTC)
			for b.Loop() {
				if _, ok := s.Next(after); !ok {
					b.Fatal("never due")
				}
			}
		})
	}
}
