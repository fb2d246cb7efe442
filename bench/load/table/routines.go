package table

import (
	"context"
	"time"

	"chela"
	"chela/bench/load/drive"
	"chela/bench/load/measure"
)

// routines measures how late routines fire while 64 sessions have turns, and while
// nothing else happens.
func routines(ctx context.Context, p place) (rows []row, err error) {
	err = p.with(ctx, p.text, installed, func(h *home, s *server) error {
		f := drive.Fires{
			Target: drive.Target{URL: s.url, Token: s.token}, Routines: p.turns(200), Window: max(p.spell(40*time.Second), 2*time.Second).Round(time.Second),
			Lead: max(p.spell(10*time.Second), time.Second), Now: p.Now,
		}
		idle, err := f.Run(ctx)
		if err != nil {
			return err
		}
		l := p.load(h, s)
		l.Sessions, l.Warmup, l.Duration = 64, 0, f.Lead+f.Window
		var loaded *drive.FiresReport
		var r *drive.Report
		err = measure.Together(2, func(i int) (err error) {
			if i == 0 {
				loaded, err = f.Run(ctx)
			} else {
				r, err = l.Run(ctx)
			}
			return err
		})
		if err == nil {
			err = faultless(r)
		}
		if err != nil {
			return err
		}
		rows = firesRows(idle, loaded, r)
		return nil
	})
	return rows, err
}

func firesRows(idle, loaded *drive.FiresReport, r *drive.Report) []row {
	wrong := func(r *drive.FiresReport) int { return r.Missing + r.Early + r.Failed }
	return []row{
		found("a routine fires late, 64 sessions", loaded.All.Fired.Max, "ms").atMost(1000).with("of %d: median %s, p99 %s; %s turns/s beside it",
			loaded.All.Fired.Count, measure.Number(loaded.All.Fired.P50), measure.Number(loaded.All.Fired.P99), measure.Number(r.PerSecond)),
		found("a routine fires late, nothing else", idle.All.Fired.Max, "ms").atMost(1000).with("of %d: median %s, p99 %s",
			idle.All.Fired.Count, measure.Number(idle.All.Fired.P50), measure.Number(idle.All.Fired.P99)),
		found("a routine that says something begins late, 64 sessions", begun(loaded).Max, "ms").with("p99 %s; nothing else: %s",
			measure.Number(begun(loaded).P99), measure.Number(begun(idle).Max)),
		found("a run has ended, 64 sessions", loaded.All.Ended.Max, "ms").with("median %s, p99 %s; nothing else: %s",
			measure.Number(loaded.All.Ended.P50), measure.Number(loaded.All.Ended.P99), measure.Number(idle.All.Ended.Max)),
		found("due times missed, early or ended badly", float64(wrong(loaded)+wrong(idle)), "").atMost(0).with("%s%s", idle.Said, loaded.Said),
	}
}

// begun is of runs that wait for no place.
func begun(r *drive.FiresReport) measure.Quantiles { return r.Actions[chela.ActionNotify].Begun }
