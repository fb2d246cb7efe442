package api_test

import (
	"testing"
	"time"

	"chela"
	"chela/internal/api"
)

func TestParseSince(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("there", 2*3600)
	now := time.Date(2026, 5, 4, 23, 0, 0, 0, time.UTC) // the fifth, there
	for text, want := range map[string]string{
		"2026-03-01": "2026-03-01T00:00:00+02:00",
		"0d":         "2026-05-05T00:00:00+02:00",
		"30d":        "2026-04-05T00:00:00+02:00",
		"":           "",
		"-1d":        "",
		"36501d":     "",
		"yesterday":  "",
		"2026-3-1":   "",
	} {
		got, err := api.ParseSince("since", text, now, zone)
		if want == "" {
			if chela.KindOf(err) != chela.Invalid {
				t.Errorf("%q: %v, %v", text, got, err)
			}
			continue
		}
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%q: %s, %v, want %s", text, got.Format(time.RFC3339), err, want)
		}
	}
}
