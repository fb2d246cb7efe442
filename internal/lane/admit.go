package lane

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"

	"chela"
	"chela/internal/store"
	"chela/internal/turn/machine"
)

// defaultWaiting is how many turns of a class may wait for a place: at the
// default of four at once and a turn of some seconds, the last of them waits for
// minutes, and is still worth waiting for.
const defaultWaiting = 1000

// A class is the places of one lane class in this process.
type class struct {
	places  chan struct{} // one token for each turn that runs
	limit   int64         // turns that may be here, running or waiting for a place
	present atomic.Int64  // turns that are here, and messages that may become one
}

func newClasses(cfg Config) map[chela.Class]*class {
	classes := map[chela.Class]*class{}
	for _, name := range []chela.Class{chela.ClassMain, chela.ClassJob, chela.ClassSubagent, chela.ClassCron} {
		places := cmp.Or(cfg.Classes[name], 4)
		classes[name] = &class{
			places: make(chan struct{}, places),
			limit:  int64(places + cmp.Or(cfg.Waiting, defaultWaiting)),
		}
	}
	return classes
}

// enter counts a turn, or a message that may become one, in, and returns what
// counts it out.
func (c *class) enter() (leave func()) {
	c.present.Add(1)
	return func() { c.present.Add(-1) }
}

// placesFor returns where a turn needs a place while it runs. Many turns run in
// a process, and when it dies nobody knows over which of them. So those that
// broke two runs already go one by one: whoever breaks the third is to blame.
func (l *Lanes) placesFor(o *opened) []chan struct{} {
	places := []chan struct{}{l.classes[o.class].places}
	if o.left && o.turn.Crashes+1 == machine.MaxCrashes-1 {
		places = []chan struct{}{l.suspect, places[0]}
	}
	return places
}

// take waits for a place and returns what gives it back. It returns nil when the
// turn is stopped or cut off first: ending it needs no place.
func take(ctx context.Context, places chan struct{}, h *holding) (free func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer h.control.Attach(cancel)()
	select {
	case places <- struct{}{}:
		return func() { <-places }
	case <-ctx.Done():
		return nil
	}
}

// admit counts a message in, unless more turns wait already than may: whoever
// is refused at once can come back, and what was accepted is not slowed down.
// Results for a turn that waits for them are always let in. A message that was
// accepted before is answered by its receipt, which is then not nil.
func (l *Lanes) admit(ctx context.Context, in chela.Inbound) (leave func(), again *Receipt, err error) {
	key, err := chela.ParseSessionKey(in.Session)
	if err != nil {
		return nil, nil, err
	}
	c := l.classes[key.Class()]
	leave = c.enter()
	if c.present.Load() <= c.limit || len(in.Results) > 0 {
		return leave, nil, nil
	}
	defer leave()
	err = l.store.Read(ctx, func(r *store.Read) error {
		receipt, err := known(ctx, r, in)
		if chela.KindOf(err) == chela.NotFound {
			return chela.E(chela.Exhausted, fmt.Sprintf("%d turns run or wait already", c.limit)).WithHint("try again in a moment")
		}
		again = &receipt
		return err
	})
	return func() {}, again, err
}
