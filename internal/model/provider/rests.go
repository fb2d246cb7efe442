package provider

import (
	"sync"
	"time"
)

// Cooldowns tracks cooldowns of keys and models. The zero value is ready; it may be
// shared by any number of wrappers and is safe for concurrent use.
type Cooldowns struct {
	mu    sync.Mutex
	until map[string]time.Time // guarded by mu
}

// let puts a name into cooldown until a time; the zero time ends its cooldown.
func (r *Cooldowns) let(name string, until time.Time) {
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

// ready returns the names that are not in cooldown, in order. If all are, it
// returns the one whose cooldown ends first.
func (r *Cooldowns) ready(now time.Time, names []string) []int {
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
