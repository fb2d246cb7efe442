package provider

import (
	"sync"
	"time"
)

// Rests remembers which keys and models are let be, and until when. The zero
// value is ready; it may be shared by any number of wrappers and used by several
// goroutines at once.
type Rests struct {
	mu    sync.Mutex
	until map[string]time.Time // guarded by mu
}

// let lets a name be until a time; the zero time ends its rest.
func (r *Rests) let(name string, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if until.IsZero() {
		delete(r.until, name)
		return
	}
	if r.until == nil {
		r.until = map[string]time.Time{}
	}
	r.until[name] = until
}

// ready returns the names that do not rest, in their order. If all of them rest,
// it returns the one whose rest ends first.
func (r *Rests) ready(now time.Time, names []string) []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ready []int
	first := 0
	for i, name := range names {
		if !now.Before(r.until[name]) {
			ready = append(ready, i)
		}
		if r.until[name].Before(r.until[names[first]]) {
			first = i
		}
	}
	if ready == nil {
		ready = []int{first}
	}
	return ready
}
