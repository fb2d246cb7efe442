package bench_test

import (
	"fmt"
	"testing"
)

// longest is how many turns a session has: more do not fit a prompt.
const longest = 500

// BenchmarkTurn has turns in sessions at once: what profiles are taken of.
func BenchmarkTurn(b *testing.B) {
	for _, k := range kinds {
		for _, n := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/%d", k.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for left := b.N; left > 0; left -= n * longest {
					b.StopTimer()
					h := openHome(b, onSQLite(b), n, k, nil)
					b.StartTimer()
					if err := h.all(b.Context(), k, (min(left, n*longest)+n-1)/n); err != nil {
						b.Fatal(err)
					}
					b.StopTimer()
					h.close()
					b.StartTimer()
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
			})
		}
	}
}
