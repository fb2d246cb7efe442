package drive

import (
	"context"
	"fmt"
	"io"
	"time"

	"chela"
	"chela/bench/load/measure"
)

// A Sample is what the system told during a soak.
type Sample struct {
	Seconds  float64 `json:"seconds"`
	Resident int64   `json:"resident_bytes"`
	Files    int     `json:"files"`
	Disk     int64   `json:"disk_bytes"`
}

// A Soak is a long load, and what the system told all along.
type Soak struct {
	*Report

	Samples []Sample `json:"samples"`
	Soaked  Slopes   `json:"per_minute"`
	Growth  float64  `json:"resident_growth"` // at the end over that when settled, along the slope
}

// Slopes are by how much things grow in a minute once the soak is settled.
type Slopes struct {
	Resident float64 `json:"resident_bytes"`
	Files    float64 `json:"files"`
	Disk     float64 `json:"disk_bytes"`
}

// Settled is when a soak looks at its process for growth for the first time:
// caches and pools are full by then.
const Settled = 2 * time.Minute

// Soak runs l and samples its process and folder every so often. Each sample
// is a line on progress too. Growth is that after settled.
func (l Load) Soak(ctx context.Context, progress io.Writer, every, settled time.Duration) (*Soak, error) {
	if l.PID == 0 || every <= 0 {
		return nil, chela.E(chela.Invalid, "a soak needs a process to look at, and how often")
	}
	s := &Soak{}
	begun := l.Now()
	ctx, stop := context.WithCancel(ctx)
	err := measure.Together(2, func(i int) (err error) {
		defer stop() // whichever ends first ends the other
		if i == 1 {
			return l.sample(ctx, s, progress, every)
		}
		s.Report, err = l.Run(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("soak for %v: %w", l.Now().Sub(begun).Round(time.Second), err)
	}
	s.sum(settled)
	return s, nil
}

// sample adds samples to s until ctx ends.
func (l Load) sample(ctx context.Context, s *Soak, progress io.Writer, every time.Duration) error {
	begun := l.Now()
	for n := 1; ; n++ {
		due := begun.Add(time.Duration(n) * every)
		if measure.Pause(ctx, due.Sub(l.Now())) != nil {
			return nil
		}
		found, err := l.look()
		if err != nil {
			return err
		}
		at := Sample{
			Seconds: l.Now().Sub(begun).Seconds(), Resident: found.process.Resident, Files: found.process.Files, Disk: found.disk,
		}
		s.Samples = append(s.Samples, at)
		fmt.Fprintf(progress, "%5.0f s  %6.1f MB resident  %5d files  %8.1f MB on disk\n",
			at.Seconds, float64(at.Resident)/1e6, at.Files, float64(at.Disk)/1e6)
	}
}

// sum computes by how much things grow.
func (s *Soak) sum(settled time.Duration) {
	grow := func(value func(Sample) float64) float64 {
		var points []measure.Point
		for _, at := range s.Samples {
			if when := time.Duration(at.Seconds * float64(time.Second)); when >= settled {
				points = append(points, measure.Point{At: when, Value: value(at)})
			}
		}
		return measure.Slope(points)
	}
	s.Soaked = Slopes{
		Resident: grow(func(at Sample) float64 { return float64(at.Resident) }),
		Files:    grow(func(at Sample) float64 { return float64(at.Files) }),
		Disk:     grow(func(at Sample) float64 { return float64(at.Disk) }),
	}
	if n := len(s.Samples); n > 0 {
		last := s.Samples[n-1]
		gained := s.Soaked.Resident * max(last.Seconds-settled.Seconds(), 0) / 60
		s.Growth = float64(last.Resident) / (float64(last.Resident) - gained)
	}
}
