package table

import (
	"context"
	"fmt"
	"slices"
	"time"

	"chela"
	"chela/bench/load/drive"
	"chela/bench/load/fake"
	"chela/bench/load/measure"
)

const (
	sessionTurns = 50 // of a session, before a new one takes its place: what a model sees stays short
	warmup       = 0.1
	perSecond    = "turns/s"
)

// installed are the settings that a new home has: what is measured is what people get.
const installed = ""

// starts measures how long a small home takes to be ready, and what a server
// takes that has nothing to do.
func starts(ctx context.Context, p place) (rows []row, err error) {
	var ready []time.Duration
	err = p.with(ctx, p.text, installed, func(h *home, first *server) error {
		if err := first.stop(); err != nil {
			return err
		}
		for range 5 {
			s, err := h.start(ctx)
			if err != nil {
				return err
			}
			ready = append(ready, s.ready)
			if len(ready) == 5 {
				rows, err = idle(ctx, p, s)
			}
			if stopErr := s.stop(); err == nil {
				err = stopErr
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	q := measure.QuantilesOf(ready)
	first := found("ready after start, small home", q.P50, "ms").atMost(100).with("at most %s", measure.Number(q.Max))
	return append([]row{first}, rows...), nil
}

func idle(ctx context.Context, p place, s *server) ([]row, error) {
	if err := measure.Pause(ctx, p.spell(5*time.Second)); err != nil {
		return nil, err
	}
	before, err := measure.ReadProcess(s.pid)
	if err != nil {
		return nil, err
	}
	watched := p.spell(30 * time.Second)
	if err := measure.Pause(ctx, watched); err != nil {
		return nil, err
	}
	after, err := measure.ReadProcess(s.pid)
	if err != nil {
		return nil, err
	}
	share := (after.CPU - before.CPU).Seconds() / watched.Seconds()
	return []row{
		found("resident memory, idle", megabytes(after.Resident), "MB").atMost(30),
		found("CPU, idle", share*100, "% of a core").atMost(.5),
	}, nil
}

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }

// one measures what a server adds to a turn of one session.
func one(ctx context.Context, p place) (rows []row, err error) {
	err = p.with(ctx, p.text, installed, func(h *home, s *server) error {
		l := p.load(h, s)
		l.Turns = p.turns(2000)
		o, err := drive.Compare(ctx, l, drive.Target{URL: p.text, Model: fake.Model})
		if err != nil {
			return err
		}
		rows = []row{
			found("median overhead of a turn, 1 session", o.Added, "ms").atMost(3).
				with("%s ms, straight %s", measure.Number(o.Through.P50), measure.Number(o.Direct.P50)),
			found("p99 of a turn, 1 session", o.Through.P99, "ms"),
			found("CPU of a turn, 1 session", o.CPU, "ms").atMost(2),
		}
		return nil
	})
	return rows, err
}

// run has a load in a home of its own, in which every turn must be answered.
func (p place) run(ctx context.Context, base string, change func(*drive.Load)) (r *drive.Report, err error) {
	err = p.with(ctx, base, installed, func(h *home, s *server) error {
		l := p.load(h, s)
		change(&l)
		r, err = l.Run(ctx)
		if err != nil {
			return err
		}
		return faultless(r)
	})
	return r, err
}

// faultless is an error if turns of a load failed.
func faultless(r *drive.Report) error {
	if n := r.Failed(); n > 0 {
		return chela.E(chela.Unavailable, fmt.Sprintf("%d of %d turns failed: %v: %v", n, n+r.Turns, r.Errors, r.Said))
	}
	return nil
}

func many(ctx context.Context, p place) ([]row, error) {
	var r *drive.Report
	var rested measure.Process
	err := p.with(ctx, p.text, installed, func(h *home, s *server) (err error) {
		l := p.load(h, s)
		l.Sessions, l.Turns = 64, p.turns(50_000)
		if r, err = l.Run(ctx); err != nil {
			return err
		}
		if err = faultless(r); err != nil {
			return err
		}
		if err = measure.Pause(ctx, p.spell(rest)); err != nil {
			return err
		}
		rested, err = measure.ReadProcess(s.pid)
		return err
	})
	if err != nil {
		return nil, err
	}
	rows := []row{
		found("text turns, 64 sessions", r.PerSecond, perSecond).atLeast(500),
		found("p95 of a turn, 64 sessions", r.Took.P95, "ms").atMost(150).
			with("median %s, p99 %s, max %s", measure.Number(r.Took.P50), measure.Number(r.Took.P99), measure.Number(r.Took.Max)),
		found("CPU of a turn, 64 sessions", r.CPU, "ms"),
		found("resident memory after 50,000 turns", megabytes(rested.Resident), "MB").atMost(80).
			with("%s at work, at most %s", measure.Number(megabytes(r.Resident)), measure.Number(megabytes(r.Peak))),
	}
	if p.database == "" {
		rows = append(rows, found("disk for a text turn", r.Disk/1e3, "kB").atMost(10))
	}
	return rows, nil
}

// rest is how long a server does nothing before its memory is looked at.
const rest = 12 * time.Second

func streaming(ctx context.Context, p place) ([]row, error) {
	r, err := p.run(ctx, p.text, func(l *drive.Load) { l.Sessions, l.Turns, l.Stream = 64, p.turns(10_000), true })
	if err != nil {
		return nil, err
	}
	return []row{found("streamed text turns, 64 sessions", r.PerSecond, perSecond).
		with("first text p95 %s ms", measure.Number(r.First.P95))}, nil
}

func thousand(ctx context.Context, p place) ([]row, error) {
	r, err := p.run(ctx, p.text, func(l *drive.Load) { l.Sessions, l.Turns, l.Patient = 1000, p.turns(20_000), true })
	if err != nil {
		return nil, err
	}
	return []row{
		found("text turns, 1,000 sessions", r.PerSecond, perSecond).atLeast(400).
			with("median %s ms, p95 %s ms, %d times asked to come again", measure.Number(r.Took.P50), measure.Number(r.Took.P95), r.Delayed),
		found("resident memory, 1,000 sessions", megabytes(r.Peak), "MB").atMost(200),
	}, nil
}

func withTool(ctx context.Context, p place) ([]row, error) {
	r, err := p.run(ctx, p.tool, func(l *drive.Load) { l.Sessions, l.Turns = 64, p.turns(10_000) })
	if err != nil {
		return nil, err
	}
	return []row{found("turns with one tool call, 64 sessions", r.PerSecond, perSecond).atLeast(250).
		with("p95 %s ms, CPU of a turn %s ms", measure.Number(r.Took.P95), measure.Number(r.CPU))}, nil
}

// events measures how soon readers of one session get its events: a message a
// second causes about five of them.
func events(ctx context.Context, p place) (rows []row, err error) {
	err = p.with(ctx, p.text, installed, func(_ *home, s *server) error {
		w := drive.Watch{
			Target: drive.Target{URL: s.url, Token: s.token}, Readers: p.turns(1000), Rate: 1, Duration: p.spell(30 * time.Second),
			Session: string(chela.Key{Kind: chela.KeyDirect, Agent: "main", ID: "load"}.Session()), Now: p.Now,
		}
		r, err := w.Run(ctx)
		if err != nil {
			return err
		}
		rows = []row{
			found("p99 of an event to 1,000 readers", r.Took.P99, "ms").atMost(100).
				with("%s events/s, median %s, max %s", measure.Number(r.PerSecond), measure.Number(r.Took.P50), measure.Number(r.Took.Max)),
			found("events missing, doubled or out of order", float64(r.Missing+r.Duplicate+r.Unordered+r.Strange), "").atMost(0).
				with("%d reconnects", r.Reconnects),
		}
		return nil
	})
	return rows, err
}

// overload offers three times as many turns as there can be.
func overload(ctx context.Context, p place) (rows []row, err error) {
	err = p.with(ctx, p.text, installed, func(h *home, s *server) error {
		l := p.load(h, s)
		l.Sessions, l.Turns = 64, p.turns(10_000)
		full, err := l.Run(ctx)
		if err == nil {
			err = faultless(full)
		}
		if err != nil {
			return err
		}
		l.Sessions, l.Turns, l.Duration, l.Rate = 1000, 0, p.spell(20*time.Second), 3*full.PerSecond
		r, err := l.Run(ctx)
		if err != nil {
			return err
		}
		rows = overloadRows(full, r)
		return nil
	})
	return rows, err
}

func overloadRows(full, r *drive.Report) []row {
	others := r.Failed() - r.Refused
	return []row{
		found("at 3 times the capacity: turns done", r.PerSecond, perSecond).
			with("%s before, %s offered", measure.Number(full.PerSecond), measure.Number(3*full.PerSecond)),
		found("at 3 times the capacity: p95 over that before", r.Took.P95/max(full.Took.P95, .001), "x").atMost(3).
			with("%s ms, %s before", measure.Number(r.Took.P95), measure.Number(full.Took.P95)),
		found("at 3 times the capacity: resident memory", megabytes(r.Peak), "MB").atMost(200),
		found("at 3 times the capacity: refused", share(r.Refused, r.Turns+r.Failed()), "%"),
		found("at 3 times the capacity: refused without Retry-After", float64(r.Unpaced), "").atMost(0),
		found("at 3 times the capacity: failed otherwise", float64(others), "").atMost(0).with("%v", r.Errors),
	}
}

// share is n of all in percent.
func share(n, all int) float64 { return 100 * float64(n) / float64(max(all, 1)) }

// The home that a large one is: 10,000 sessions with 1,000,000 entries, two of
// which are a turn.
const largeTurns = 10_000 * sessionTurns

// soak loads a server for ten minutes, goes on until its home is a large one,
// and begins it again.
func soak(ctx context.Context, p place) (rows []row, err error) {
	err = p.with(ctx, p.text, installed, func(h *home, s *server) error {
		l := p.load(h, s)
		l.Sessions, l.Warmup, l.Duration = 64, 0, p.spell(10*time.Minute)
		soaked, err := l.Soak(ctx, p.Progress, p.spell(10*time.Second), p.spell(drive.Settled))
		if err == nil {
			err = faultless(soaked.Report)
		}
		if err != nil {
			return err
		}
		rows = soakRows(soaked)
		if l.Turns = p.turns(largeTurns) - soaked.Turns; l.Turns > 0 {
			l.Duration = 0
			if _, err := l.Run(ctx); err != nil {
				return err
			}
		}
		if err := s.stop(); err != nil {
			return err
		}
		more, err := large(ctx, h, max(p.turns(largeTurns), soaked.Turns))
		rows = append(rows, more...)
		return err
	})
	return rows, err
}

func soakRows(s *drive.Soak) []row {
	return []row{
		found("memory after a soak of 10 minutes, over that after 2", s.Growth, "x").atMost(1.1).
			with("%s MB, %s kB a minute, %d turns", measure.Number(megabytes(s.Report.Resident)),
				measure.Number(s.Soaked.Resident/1e3), s.Turns),
		found("open files gained in a minute of it", s.Soaked.Files, "").atMost(1),
	}
}

// large measures three starts of a server with a large home.
func large(ctx context.Context, h *home, turns int) ([]row, error) {
	var ready []time.Duration
	for range 3 {
		s, err := h.start(ctx)
		if err != nil {
			return nil, err
		}
		ready = append(ready, s.ready)
		if err := s.stop(); err != nil {
			return nil, err
		}
	}
	return []row{found("ready after start, large home", measure.QuantilesOf(ready).P50, "ms").atMost(1000).
		with("%d sessions, %d entries, at most %s", turns/sessionTurns, 2*turns, measure.Number(measure.Milliseconds(slices.Max(ready))))}, nil
}
