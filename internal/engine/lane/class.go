package lane

// This part of the package limits concurrency: per lane class, a process runs a
// maximum number of turns at once and lets a maximum number wait for a slot.

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"chela"
	"chela/internal/engine/turn"
)

const (
	defaultPlaces = 4

	// defaultWaiting is how many turns of a class may wait for a slot: with
	// four slots and turns of a few seconds the last of them waits for minutes,
	// which is still useful.
	defaultWaiting = 1000
)

// Places are the slots of all classes in this process. They are safe for
// concurrent use.
type Places struct {
	classes map[chela.Class]*class
	alone   chan struct{} // holds one token while a turn runs that must run alone
}

type class struct {
	places  chan struct{} // one token per running turn
	limit   int64         // maximum number of running and waiting turns
	present atomic.Int64  // running and waiting turns, and messages that may become one
}

// NewPlaces returns slots for the given number of concurrent turns per class, by
// default 4, and for the given number of waiting turns, by default 1,000.
func NewPlaces(turns map[chela.Class]int, waiting int) *Places {
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

// Enter counts in a turn, or a message that may become one. It reports whether
// there is room, and returns the function that counts it out.
func (p *Places) Enter(of chela.Class) (leave func(), room bool) {
	c := p.classes[of]
	return func() { c.present.Add(-1) }, c.present.Add(1) <= c.limit
}

// Limit returns the maximum number of running and waiting turns of a class.
func (p *Places) Limit(of chela.Class) int64 { return p.classes[of].limit }

// Take waits for a slot and returns the function that frees it. A turn that is
// stopped or cut off while waiting proceeds without a slot, because ending it
// needs none. Turns with alone set run one at a time.
func (p *Places) Take(ctx context.Context, of chela.Class, alone bool, h *turn.Handle) (free func()) {
	wanted := []chan struct{}{p.classes[of].places}
	if alone {
		wanted = []chan struct{}{p.alone, wanted[0]}
	}
	var taken []chan struct{}
	for _, places := range wanted {
		if takePlace(ctx, places, h) {
			taken = append(taken, places)
		}
	}
	return func() {
		for _, places := range slices.Backward(taken) {
			<-places
		}
	}
}

// takePlace waits for a slot. It reports false if the turn is stopped or cut off
// first.
func takePlace(ctx context.Context, places chan struct{}, h *turn.Handle) bool {
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
