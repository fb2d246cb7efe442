package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"chela"
	"chela/bench/load/drive"
	"chela/bench/load/measure"
)

// Loss is the share by which a program may be worse than an earlier one.
const Loss = 0.1

// A Versus compares a program with an earlier one. Both run in the same homes with the
// same load, taking turns, so that what else the machine does meets both.
type Versus struct {
	Bench

	Against string // path of the earlier program
	Rounds  int    // 0 means 5
}

// A figure is one number of a run. Of some less is better.
type figure struct {
	what string
	unit string
	more bool // is better
	of   func(one, many *drive.Report) float64
}

var figures = []figure{
	{"text turns, 64 sessions", perSecond, true, func(_, many *drive.Report) float64 { return many.PerSecond }},
	{"CPU of a turn, 64 sessions", "ms", false, func(_, many *drive.Report) float64 { return many.CPU }},
	{"resident memory, 64 sessions", "MB", false, func(_, many *drive.Report) float64 { return megabytes(many.Peak) }},
	{"CPU of a turn, 1 session", "ms", false, func(one, _ *drive.Report) float64 { return one.CPU }},
	{"median of a turn, 1 session", "ms", false, func(one, _ *drive.Report) float64 { return one.Took.P50 }},
}

// Run compares the programs and prints a line for each figure. ErrMissed is the error
// when the median of the ratios of one is more than Loss worse.
func (v Versus) Run(ctx context.Context, w io.Writer) (err error) {
	if v.Scale == 0 {
		v.Scale = 1
	}
	programs := []string{v.Against, v.Program}
	for i, path := range programs {
		if programs[i], err = filepath.Abs(path); err != nil {
			return err
		}
		if _, err := os.Stat(programs[i]); err != nil {
			return chela.E(chela.NotFound, path+" is not there").WithHint("build it with make build")
		}
	}
	ctx, stop := context.WithCancel(ctx)
	end, err := v.serveFakes(ctx)
	if err != nil {
		stop()
		return err
	}
	defer func() {
		stop()
		err = errors.Join(err, end())
	}()
	values := make([][2][]float64, len(figures))
	for round := range max(v.Rounds, 1) {
		for n := range programs {
			which := (n + round) % 2 // each is first as often as the other
			fmt.Fprintf(v.Progress, "round %d: %s\n", round+1, filepath.Base(programs[which]))
			one, many, err := v.measureOne(ctx, programs[which])
			if err != nil {
				return fmt.Errorf("%s: %w", programs[which], err)
			}
			for i, f := range figures {
				values[i][which] = append(values[i][which], f.of(one, many))
			}
		}
	}
	return judge(w, values)
}

// measureOne runs a program in a home of its own.
func (v Versus) measureOne(ctx context.Context, program string) (one, many *drive.Report, err error) {
	b := v.Bench
	b.Program = program
	p := place{Bench: &b, name: "SQLite"}
	if many, err = p.run(ctx, v.text, func(l *drive.Load) { l.Sessions, l.Turns = 64, p.turns(12_800) }); err != nil {
		return nil, nil, err
	}
	one, err = p.run(ctx, v.text, func(l *drive.Load) { l.Sessions, l.Turns = 1, p.turns(1000) })
	return one, many, err
}

// judge prints the medians of both and the median of the ratios of each round.
func judge(w io.Writer, values [][2][]float64) error {
	lost := false
	fmt.Fprintf(w, "%-32s %10s %10s %8s\n", "measured", "before", "now", "ratio")
	for i, f := range figures {
		var ratios []float64
		for n, before := range values[i][0] {
			ratios = append(ratios, values[i][1][n]/max(before, 1e-9))
		}
		ratio, verdict := median(ratios), "ok"
		if f.more && ratio < 1-Loss || !f.more && ratio > 1+Loss {
			lost, verdict = true, "WORSE"
		}
		fmt.Fprintf(w, "%-32s %10s %10s %8.3f %s %s\n", f.what, measure.Number(median(values[i][0])), measure.Number(median(values[i][1])), ratio, f.unit, verdict)
	}
	if lost {
		return fmt.Errorf("%w: it is more than %.0f %% worse than the earlier program", ErrMissed, 100*Loss)
	}
	return nil
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
