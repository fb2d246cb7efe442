// Package classes gives turns their places: a process runs so many of each lane
// class at once, and lets so many wait.
package classes

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"chela"
	"chela/internal/control"
)

const (
	defaultPlaces = 4

	// defaultWaiting is how many turns of a class may wait for a place: at the
	// default of four at once and a turn of some seconds, the last of them waits
	// for minutes, and is still worth waiting for.
	defaultWaiting = 1000
)

// Places are the places of all classes in this process. They may be used by
// several goroutines at once.
type Places struct {
	classes map[chela.Class]*class
	alone   chan struct{} // holds one token while a turn runs that must not run beside its like
}

type class struct {
	places  chan struct{} // one token for each turn that runs
	limit   int64         // turns that may be here, running or waiting for a place
	present atomic.Int64  // turns that are here, and messages that may become one
}

// New returns places for so many turns at once of each class, 4 where that is
// not said, and for so many that wait, 1,000 for 0.
func New(turns map[chela.Class]int, waiting int) *Places {
	p := &Places{classes: map[chela.Class]*class{}, alone: make(chan struct{}, 1)}
	for _, name := range []chela.Class{chela.ClassMain, chela.ClassJob, chela.ClassSubagent, chela.ClassCron} {
		places := cmp.Or(turns[name], defaultPlaces)
		p.classes[name] = &class{
			places: make(chan struct{}, places),
			limit:  int64(places + cmp.Or(waiting, defaultWaiting)),
		}
	}
	return p
}

// Enter counts a turn, or a message that may become one, in. It reports whether
// there is room for it, and returns what counts it out.
func (p *Places) Enter(of chela.Class) (leave func(), room bool) {
	c := p.classes[of]
	return func() { c.present.Add(-1) }, c.present.Add(1) <= c.limit
}

// Limit returns how many turns of a class may run and wait.
func (p *Places) Limit(of chela.Class) int64 { return p.classes[of].limit }

// Take waits for the place of a turn and returns what gives it back. A turn that
// is stopped or cut off first goes on without: ending it needs no place. Of turns
// that want to be alone, one runs at a time.
func (p *Places) Take(ctx context.Context, of chela.Class, alone bool, h *control.Handle) (free func()) {
	wanted := []chan struct{}{p.classes[of].places}
	if alone {
		wanted = []chan struct{}{p.alone, wanted[0]}
	}
	var taken []chan struct{}
	for _, places := range wanted {
		if take(ctx, places, h) {
			taken = append(taken, places)
		}
	}
	return func() {
		for _, places := range slices.Backward(taken) {
			<-places
		}
	}
}

// take waits for a place. It reports false when the turn is stopped or cut off
// first.
func take(ctx context.Context, places chan struct{}, h *control.Handle) bool {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer h.Attach(cancel)()
	select {
	case places <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}
