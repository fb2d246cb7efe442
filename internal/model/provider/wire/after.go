package wire

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// maxAfter bounds a Retry-After, so that numbers stay in range.
const maxAfter = 7 * 24 * time.Hour

// after reads how long to wait: Retry-After-Ms in milliseconds, Retry-After in
// seconds or as a time, else the reset of the exhausted limit
// (x-ratelimit-reset-… as a duration, anthropic-ratelimit-…-reset as a time).
// Times are relative to the response's Date, so the local clock does not
// matter. It returns 0 if no header is set.
func after(h http.Header) time.Duration {
	if d, ok := number(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	if d, ok := number(h.Get("Retry-After"), time.Second); ok {
		return d
	}
	if d := until(h, http.TimeFormat, h.Get("Retry-After")); d > 0 {
		return d
	}
	var longest time.Duration
	for _, what := range []string{"Requests", "Tokens", "Input-Tokens", "Output-Tokens"} {
		if h.Get("X-Ratelimit-Remaining-"+what) == "0" {
			d, err := time.ParseDuration(h.Get("X-Ratelimit-Reset-" + what))
			if err == nil {
				longest = max(longest, d)
			}
		}
		if h.Get("Anthropic-Ratelimit-"+what+"-Remaining") == "0" {
			longest = max(longest, until(h, time.RFC3339, h.Get("Anthropic-Ratelimit-"+what+"-Reset")))
		}
	}
	return min(longest, maxAfter)
}

func number(s string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(n) || n < 0 {
		return 0, false
	}
	return time.Duration(min(n*float64(unit), float64(maxAfter))), true
}

// until returns the time from the response's date to a time; 0 if either is
// missing or the time has passed.
func until(h http.Header, layout, value string) time.Duration {
	at, err := time.Parse(layout, value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), maxAfter)
}
