package bench_test

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

// A row is one line of the table: what was measured, and what it should be.
type row struct {
	what      string
	value     float64
	low, high float64 // of the rounds; both 0 if there was one
	unit      string
	target    string  // "<=", ">=", "==", or empty where none is set
	limit     float64 // of the target
	more      string  // what the value is made of
}

// misses reports whether the row has a target and does not meet it.
func (r row) misses() bool {
	switch r.target {
	case "<=":
		return r.value > r.limit
	case ">=":
		return r.value < r.limit
	case "==":
		return r.value != r.limit
	default:
		return false
	}
}

// print writes the row as one line.
func (r row) print(w io.Writer) {
	spread, target, verdict := "", "", ""
	if r.low != 0 || r.high != 0 {
		spread = number(r.low) + " to " + number(r.high)
	}
	if r.target != "" {
		target, verdict = r.target+" "+number(r.limit), "ok"
	}
	if r.misses() {
		verdict = "MISS"
	}
	fmt.Fprintf(w, "%-42s %9s %-8s %-16s %-10s %-5s %s\n", r.what, number(r.value), r.unit, spread, target, verdict, r.more)
}

// heading writes the first line of the table.
func heading(w io.Writer) {
	fmt.Fprintf(w, "%-42s %9s %-8s %-16s %-10s %-5s %s\n", "measured", "median", "", "rounds", "target", "", "")
}

// number shows three digits that matter, or all of a large number.
func number(v float64) string {
	switch {
	case v >= 100 || v == float64(int64(v)):
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

// A sample is what the rounds of one measurement came to.
type sample []float64

func (s sample) median() float64 {
	sorted := slices.Sorted(slices.Values(s))
	return sorted[len(sorted)/2]
}

// row puts the median and the spread of the rounds into a row.
func (s sample) row(r row) row {
	r.value, r.low, r.high = s.median(), slices.Min(s), slices.Max(s)
	r.unit = cmp.Or(r.unit, "x")
	return r
}
