// Package table measures a chela from its start on: it makes homes for it in
// temporary folders, with the fake model as its only one, loads it in several
// ways, and prints what was found beside the targets of the project.
package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"chela"
	"chela/bench/load/drive"
	"chela/bench/load/fake"
	"chela/bench/load/measure"
)

// A Bench measures one program.
type Bench struct {
	Program  string  // path of chela
	Database string  // URL of an empty PostgreSQL database; empty measures SQLite alone
	Config   string  // path of more settings; empty for none
	Only     string  // words with commas between; steps whose name has none of them are left out
	Scale    float64 // of numbers of turns and of times; 0 means 1
	Now      func() time.Time
	Progress io.Writer

	text, tool string // addresses of the fake models
}

// ErrMissed says that a target was missed, or could not be measured.
var ErrMissed = errors.New("not every target is met")

// A place is where a home keeps its rows.
type place struct {
	*Bench
	name     string
	database string
}

// A step measures one thing in one place.
type step struct {
	name string
	run  func(ctx context.Context, p place) ([]row, error)
	once bool // on SQLite alone
}

var steps = []step{
	{name: "start", run: starts},
	{name: "one session", run: one},
	{name: "many sessions", run: many},
	{name: "streams", run: streaming},
	{name: "thousand sessions", run: thousand},
	{name: "tool", run: withTool},
	{name: "events", run: events},
	{name: "overload", run: overload},
	{name: "routines", run: routines},
	{name: "soak", run: soak, once: true},
}

// Run measures everything and prints the table to w. ErrMissed is the error
// when a target was missed; the table is whole then.
func (b Bench) Run(ctx context.Context, w io.Writer) (err error) {
	if b.Scale == 0 {
		b.Scale = 1
	}
	if b.Program, err = filepath.Abs(b.Program); err != nil {
		return err
	}
	if _, err := os.Stat(b.Program); err != nil {
		return chela.E(chela.NotFound, b.Program+" is not there").WithHint("make build builds it")
	}
	ctx, stop := context.WithCancel(ctx)
	end, err := b.serveFakes(ctx)
	if err != nil {
		stop()
		return err
	}
	defer func() {
		stop()
		err = errors.Join(err, end())
	}()
	places := []place{{Bench: &b, name: "SQLite"}}
	if b.Database != "" {
		places = append(places, place{Bench: &b, name: "PostgreSQL", database: b.Database})
	}
	rows, err := b.measure(ctx, places)
	if err != nil {
		return err
	}
	var names []string
	for _, p := range places {
		names = append(names, p.name)
	}
	fmt.Fprintf(w, "%s/%s, %d cores, %s, scale %s\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), measure.Number(b.Scale))
	printTable(w, names, rows)
	if slices.ContainsFunc(rows, row.misses) {
		return ErrMissed
	}
	return nil
}

// pieces is how many events a streamed answer of the fake models has.
const pieces = 8

// serveFakes begins the fake models, which end with ctx; end waits for them.
func (b *Bench) serveFakes(ctx context.Context) (end func() error, err error) {
	var ends []func() error
	for mode, at := range map[fake.Mode]*string{fake.Text: &b.text, fake.Tool: &b.tool} {
		s, err := fake.New(fake.Config{Mode: mode, Chunks: pieces})
		if err != nil {
			return nil, err
		}
		ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		*at = "http://" + ln.Addr().String() + "/v1"
		ends = append(ends, measure.Begin(func() error { return s.Run(ctx, ln) }))
	}
	return func() error {
		var errs []error
		for _, end := range ends {
			errs = append(errs, end())
		}
		return errors.Join(errs...)
	}, nil
}

// measure has all steps in all places. The error is that of ctx: one of a step
// is a row.
func (b *Bench) measure(ctx context.Context, places []place) (rows []row, err error) {
	for n, p := range places {
		var here []row
		for _, s := range steps {
			if !b.wants(s.name) || s.once && n > 0 {
				continue
			}
			fmt.Fprintf(b.Progress, "%s: %s\n", p.name, s.name)
			found, err := s.run(ctx, p)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			here = append(here, found...)
			if err != nil {
				fmt.Fprintf(b.Progress, "%s: %s: %v\n", p.name, s.name, err)
				here = append(here, missing(s.name, err))
			}
		}
		rows = side(rows, here, n)
	}
	return append(rows, compared(rows)...), nil
}

func (b *Bench) wants(name string) bool {
	words := strings.Split(b.Only, ",")
	return b.Only == "" || slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, strings.TrimSpace(word)) })
}

// compared tells what share of the first place's turns a second the other has.
func compared(rows []row) (ratios []row) {
	for _, r := range rows {
		if r.unit != perSecond || r.target == "" || len(r.cells) < 2 || !r.cells[0].measured || !r.cells[1].measured {
			continue
		}
		ratios = append(ratios, found(r.what+", PostgreSQL over SQLite", r.cells[1].value/r.cells[0].value, "").atLeast(.5))
	}
	return ratios
}

// turns scales a number of turns.
func (b *Bench) turns(n int) int { return max(int(float64(n)*b.Scale), 1) }

// spell scales a time.
func (b *Bench) spell(d time.Duration) time.Duration { return time.Duration(float64(d) * b.Scale) }

// with calls use with a new server that has a home of its own and asks the
// model at base.
func (p place) with(ctx context.Context, base, settings string, use func(*home, *server) error) (err error) {
	h, err := p.newHome(ctx, base, p.database, settings)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.remove()) }()
	s, err := h.start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	return use(h, s)
}

// load is turns with the agent of a server.
func (p place) load(h *home, s *server) drive.Load {
	l := drive.Load{
		Target:       drive.Target{URL: s.url + "/v1", Token: s.token, Model: "chela"},
		SessionTurns: sessionTurns, Warmup: warmup, PID: s.pid, Now: p.Now,
	}
	if p.database == "" {
		l.Disk = h.dir
	}
	return l
}
