package measure_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela/bench/load/measure"
)

func TestQuantiles(t *testing.T) {
	t.Parallel()
	hundred := make([]time.Duration, 100) // 100 ms down to 1 ms
	for i := range hundred {
		hundred[i] = time.Duration(100-i) * time.Millisecond
	}
	for _, tt := range []struct {
		name  string
		times []time.Duration
		want  measure.Quantiles
	}{
		{"none", nil, measure.Quantiles{}},
		{"one", hundred[95:96], measure.Quantiles{Count: 1, P50: 5, P95: 5, P99: 5, Max: 5}},
		{"two", hundred[98:], measure.Quantiles{Count: 2, P50: 1, P95: 2, P99: 2, Max: 2}},
		{"a hundred", hundred, measure.Quantiles{Count: 100, P50: 50, P95: 95, P99: 99, Max: 100}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, measure.QuantilesOf(tt.times)); diff != "" {
				t.Errorf("quantiles (-want +got):\n%s", diff)
			}
		})
	}
	if hundred[0] != 100*time.Millisecond {
		t.Error("the times themselves were sorted")
	}
}

func TestSlope(t *testing.T) {
	t.Parallel()
	at := func(minutes, value float64) measure.Point {
		return measure.Point{At: time.Duration(minutes * float64(time.Minute)), Value: value}
	}
	for _, tt := range []struct {
		name   string
		points []measure.Point
		want   float64
	}{
		{"none", nil, 0},
		{"one", []measure.Point{at(1, 5)}, 0},
		{"two at once", []measure.Point{at(1, 5), at(1, 7)}, 0},
		{"flat", []measure.Point{at(0, 5), at(1, 5), at(2, 5)}, 0},
		{"line", []measure.Point{at(2, 10), at(4, 14), at(8, 22)}, 2},
		{"down", []measure.Point{at(0, 10), at(.5, 9)}, -2},
		{"up and down", []measure.Point{at(0, 1), at(1, 3), at(2, 1)}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := measure.Slope(tt.points); got < tt.want-1e-9 || got > tt.want+1e-9 {
				t.Errorf("slope %v, want %v", got, tt.want)
			}
		})
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{
		0: "0", 7: "7", 1.234: "1.23", 12.34: "12.3", 123.4: "123", 12345.6: "12346", -1.5: "-1.50", -250.2: "-250",
	} {
		if got := measure.Number(v); got != want {
			t.Errorf("Number(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestTogether(t *testing.T) {
	t.Parallel()
	var sum atomic.Int64
	broken := errors.New("broken")
	err := measure.Together(10, func(i int) error {
		sum.Add(int64(i))
		if i == 3 {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) || sum.Load() != 45 {
		t.Errorf("error %v, sum %d", err, sum.Load())
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		if err := measure.Pause(ctx, 400*time.Millisecond); err != nil || time.Since(begun) != 400*time.Millisecond {
			t.Errorf("error %v after %v", err, time.Since(begun))
		}
		if err := measure.Pause(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Second {
			t.Errorf("error %v after %v", err, time.Since(begun))
		}
		if err := measure.Pause(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("no time to wait, ended: error %v", err)
		}
	})
}

func TestReadProcess(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	before, err := measure.ReadProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	spent := before
	for spent.CPU == before.CPU { // until a tick is counted
		if spent, err = measure.ReadProcess(os.Getpid()); err != nil {
			t.Fatal(err)
		}
	}
	if spent.CPU < before.CPU || spent.Resident < 1<<20 || spent.Peak < spent.Resident/2 || spent.Files < 3 {
		t.Errorf("process %+v", spent)
	}
	if _, err := measure.ReadProcess(1 << 30); err == nil {
		t.Error("a process that cannot be was found")
	}
}

func TestDiskUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, size := range map[string]int{"a": 10, "sub/b": 200, "sub/deep/c": 3000} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := measure.DiskUse(dir); err != nil || got != 3210 {
		t.Errorf("%d bytes, error %v", got, err)
	}
	if _, err := measure.DiskUse(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there has a size")
	}
}
