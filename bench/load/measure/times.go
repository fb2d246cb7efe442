// Package measure holds what every load shares: quantiles of times, what the
// system tells about a process and a folder, and the few places where
// goroutines begin.
package measure

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Quantiles say how some times are spread, in milliseconds. All are 0 where
// there was none.
type Quantiles struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50_ms"`
	P95   float64 `json:"p95_ms"`
	P99   float64 `json:"p99_ms"`
	Max   float64 `json:"max_ms"`
}

// QuantilesOf returns the quantiles of times, each of which is one of them: the
// smallest that is at least as long as that share of all (nearest rank).
func QuantilesOf(times []time.Duration) Quantiles {
	if len(times) == 0 {
		return Quantiles{}
	}
	sorted := slices.Sorted(slices.Values(times))
	at := func(share float64) float64 {
		rank := int(math.Ceil(share * float64(len(sorted))))
		return Milliseconds(sorted[max(rank, 1)-1])
	}
	return Quantiles{Count: len(sorted), P50: at(.5), P95: at(.95), P99: at(.99), Max: at(1)}
}

// Milliseconds returns d as a number that has a fraction.
func Milliseconds(d time.Duration) float64 { return d.Seconds() * 1e3 }

// A Point is a value at a time after the beginning.
type Point struct {
	At    time.Duration
	Value float64
}

// Slope returns by how much values grow in a minute: the straight line through
// the points that leaves the least squares. It is 0 for fewer than two points
// in time.
func Slope(points []Point) float64 {
	var n, x, y, xx, xy float64
	for _, p := range points {
		at := p.At.Minutes()
		n, x, y, xx, xy = n+1, x+at, y+p.Value, xx+at*at, xy+at*p.Value
	}
	under := n*xx - x*x
	if len(points) < 2 || under == 0 {
		return 0
	}
	return (n*xy - x*y) / under
}

// Number shows three digits that matter, or all of a large number.
func Number(v float64) string {
	switch size := math.Abs(v); {
	case size >= 100 || v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	case size >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}
