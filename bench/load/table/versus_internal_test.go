package table

import (
	"errors"
	"strings"
	"testing"
)

// TestJudge: what is more than a tenth worse is a loss, whichever way is better.
func TestJudge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		turns, cpu []float64 // of the later program; 100 before
		lost       bool
	}{
		"the same":         {[]float64{100, 100, 100}, []float64{100, 100, 100}, false},
		"faster":           {[]float64{200, 200, 200}, []float64{50, 50, 50}, false},
		"a little slower":  {[]float64{91, 91, 91}, []float64{109, 109, 109}, false},
		"slower":           {[]float64{89, 89, 89}, []float64{100, 100, 100}, true},
		"more work":        {[]float64{100, 100, 100}, []float64{111, 111, 111}, true},
		"once much slower": {[]float64{10, 100, 100}, []float64{100, 1000, 100}, false},
	} {
		values := make([][2][]float64, len(figures))
		same := []float64{100, 100, 100}
		for i := range values {
			values[i] = [2][]float64{same, same}
		}
		values[0][1], values[1][1] = c.turns, c.cpu
		var out strings.Builder
		err := judge(&out, values)
		if errors.Is(err, ErrMissed) != c.lost || strings.Contains(out.String(), "WORSE") != c.lost {
			t.Errorf("%s: %v\n%s", name, err, out.String())
		}
	}
}
