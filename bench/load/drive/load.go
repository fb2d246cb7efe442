package drive

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"chela"
	"chela/bench/load/measure"
)

// A Load is how a server is loaded with turns, and what is looked at
// meanwhile. Each session has one turn at a time.
type Load struct {
	Target

	Sessions     int           // at once; 0 means 1
	SessionTurns int           // after so many a session is followed by a new one; 0 means never
	Prefix       string        // of the names of sessions, which should be new to the server; empty means one made of the time
	Turns        int           // that are measured; 0 means until the time is over
	Duration     time.Duration // of the measured part; 0 means until all turns were had
	Rate         float64       // turns a second, whether answered or not; 0 means each after the one before
	Patient      bool          // a message that is refused with 429 and Retry-After is sent again after that time
	Warmup       float64       // share of Turns or Duration that is had before anything is measured

	PID  int    // process to look at; 0 for none
	Disk string // folder to look at; empty for none

	Now func() time.Time
}

// A Report is what came of a load.
type Report struct {
	Sessions  int               `json:"sessions"`
	Seconds   float64           `json:"seconds"`
	Turns     int               `json:"turns"` // that were answered rightly
	PerSecond float64           `json:"turns_per_second"`
	Took      measure.Quantiles `json:"took"`            // of right answers; at a rate, from when they were due
	First     measure.Quantiles `json:"first,omitzero"`  // until the first text of a stream
	Errors    map[string]int    `json:"errors"`          // by status or what went wrong
	Said      map[string]string `json:"said,omitempty"`  // the first error of each sort
	Refused   int               `json:"refused"`         // 429, among the errors
	Unpaced   int               `json:"unpaced"`         // of these without Retry-After
	Delayed   int               `json:"delayed"`         // 429 after which a patient load asked again
	CPU       float64           `json:"cpu_ms_per_turn"` // of the process
	Resident  int64             `json:"resident_bytes"`
	Peak      int64             `json:"peak_bytes"`
	Files     int               `json:"files"`
	Disk      float64           `json:"disk_bytes_per_turn"`
}

// Failed returns how many turns had no right answer.
func (r *Report) Failed() int {
	n := 0
	for _, count := range r.Errors {
		n += count
	}
	return n
}

// Run has the turns and reports on those after the warm-up. It is an Invalid
// error when it would never end, Unavailable when not even one turn can be
// had.
func (l Load) Run(ctx context.Context) (*Report, error) {
	if l.Turns <= 0 && l.Duration <= 0 {
		return nil, chela.E(chela.Invalid, "the load has no end").WithHint("give a number of turns or a duration")
	}
	l.Sessions = cmp.Or(l.Sessions, 1)
	client := newClient(l.Sessions)
	defer client.CloseIdleConnections()
	drivers := l.drivers(client)
	if err := drivers[0].probe(ctx); err != nil {
		return nil, err
	}
	warm := &stretch{
		turns: int64(float64(l.Turns) * l.Warmup), duration: time.Duration(float64(l.Duration) * l.Warmup), rate: l.Rate,
	}
	if warm.turns > 0 || warm.duration > 0 {
		if err := l.drive(ctx, warm, drivers); err != nil {
			return nil, err
		}
	}
	before, err := l.look()
	if err != nil {
		return nil, err
	}
	measured := &stretch{turns: int64(l.Turns), duration: l.Duration, rate: l.Rate}
	if err := l.drive(ctx, measured, drivers); err != nil {
		return nil, err
	}
	took := l.Now().Sub(measured.begun)
	after, err := l.look()
	if err != nil {
		return nil, err
	}
	return l.report(drivers, took, before, after), nil
}

// drivers makes one for each session.
func (l *Load) drivers(client *http.Client) []*driver {
	prefix := cmp.Or(l.Prefix, "load"+strconv.FormatInt(l.Now().UnixMicro(), 36))
	drivers, numbers := make([]*driver, l.Sessions), new(atomic.Int64)
	for i := range drivers {
		drivers[i] = &driver{load: l, client: client, name: prefix + "-" + strconv.Itoa(i), numbers: numbers}
	}
	return drivers
}

// A look is what the system tells at one moment.
type look struct {
	process measure.Process
	disk    int64
}

func (l *Load) look() (found look, err error) {
	if l.PID != 0 {
		if found.process, err = measure.ReadProcess(l.PID); err != nil {
			return look{}, err
		}
	}
	if l.Disk != "" {
		found.disk, err = measure.DiskUse(l.Disk)
	}
	return found, err
}

// A stretch is a part of a load. Drivers share it.
type stretch struct {
	turns    int64 // 0 for no limit
	duration time.Duration
	rate     float64
	begun    time.Time
	taken    atomic.Int64
}

// drive has the turns of one stretch, in all sessions at once, and forgets what
// was measured before.
func (l *Load) drive(ctx context.Context, s *stretch, drivers []*driver) error {
	s.begun = l.Now()
	return measure.Together(len(drivers), func(i int) error {
		drivers[i].measured = measured{errors: map[string]int{}, said: map[string]string{}}
		return drivers[i].run(ctx, s)
	})
}

// take claims the next turn of the stretch and says when it is due, which is
// never in the past unless there is a rate.
func (s *stretch) take(now time.Time) (due time.Time, more bool) {
	n := s.taken.Add(1) - 1
	due = now
	if s.rate > 0 {
		due = s.begun.Add(time.Duration(float64(n) / s.rate * float64(time.Second)))
	}
	over := s.turns > 0 && n >= s.turns || s.duration > 0 && due.Sub(s.begun) >= s.duration
	return due, !over
}

// A driver has the turns of one session after the other.
type driver struct {
	load    *Load
	client  *http.Client
	name    string
	numbers *atomic.Int64 // of all messages
	turns   int           // had so far

	measured measured
}

// measured is what a driver found in a stretch.
type measured struct {
	took, first []time.Duration
	errors      map[string]int
	said        map[string]string
	unpaced     int
	delayed     int
}

// probe has a turn that must be answered.
func (d *driver) probe(ctx context.Context) error {
	a, err := d.load.ask(ctx, d.client, d.next(), d.load.Now)
	if err != nil {
		return err
	}
	if a.status != ok {
		return chela.E(chela.Unavailable, fmt.Sprintf("a turn was not answered: %s: %s", a.status, a.detail))
	}
	return nil
}

// next makes the next message.
func (d *driver) next() message {
	name := d.name
	if per := d.load.SessionTurns; per > 0 {
		name += "-" + strconv.Itoa(d.turns/per)
	}
	d.turns++
	return message{session: name, number: d.numbers.Add(1)}
}

func (d *driver) run(ctx context.Context, s *stretch) error {
	for {
		due, more := s.take(d.load.Now())
		if !more {
			return nil
		}
		if err := measure.Pause(ctx, due.Sub(d.load.Now())); err != nil {
			return err
		}
		a, err := d.ask(ctx, d.next())
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		d.measured.add(a, due, d.load.Now())
	}
}

// ask has one turn; a patient load asks until it is not refused.
func (d *driver) ask(ctx context.Context, m message) (answer, error) {
	for {
		a, err := d.load.ask(ctx, d.client, m, d.load.Now)
		if err != nil || !d.load.Patient || a.status != refusal || a.after <= 0 {
			return a, err
		}
		d.measured.delayed++
		if err := measure.Pause(ctx, a.after); err != nil {
			return a, err
		}
	}
}

func (m *measured) add(a answer, due, now time.Time) {
	if a.status == ok {
		m.took = append(m.took, now.Sub(due))
		if !a.first.IsZero() {
			m.first = append(m.first, a.first.Sub(due))
		}
		return
	}
	m.errors[a.status]++
	if m.said[a.status] == "" {
		m.said[a.status] = a.detail
	}
	if a.status == refusal && a.after <= 0 {
		m.unpaced++
	}
}

// refusal is the status for too many requests.
var refusal = strconv.Itoa(http.StatusTooManyRequests)

func (l *Load) report(drivers []*driver, took time.Duration, before, after look) *Report {
	all := measured{errors: map[string]int{}, said: map[string]string{}}
	for _, d := range drivers {
		all.took = append(all.took, d.measured.took...)
		all.first = append(all.first, d.measured.first...)
		all.unpaced += d.measured.unpaced
		all.delayed += d.measured.delayed
		for status, n := range d.measured.errors {
			all.errors[status] += n
			all.said[status] = cmp.Or(all.said[status], d.measured.said[status])
		}
	}
	r := &Report{
		Sessions: l.Sessions, Seconds: took.Seconds(), Turns: len(all.took),
		PerSecond: float64(len(all.took)) / took.Seconds(),
		Took:      measure.QuantilesOf(all.took), First: measure.QuantilesOf(all.first),
		Errors: all.errors, Said: all.said, Refused: all.errors[refusal], Unpaced: all.unpaced, Delayed: all.delayed,
		Resident: after.process.Resident, Peak: after.process.Peak, Files: after.process.Files,
	}
	if r.Turns > 0 {
		r.CPU = measure.Milliseconds(after.process.CPU-before.process.CPU) / float64(r.Turns)
		r.Disk = float64(after.disk-before.disk) / float64(r.Turns)
	}
	return r
}
