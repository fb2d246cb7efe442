package edge

import (
	"sync"
	"time"
)

// maxMeters is the number of senders tracked by a Meter.
const maxMeters = 10_000

// A Meter limits each sender to a rate per minute, with a burst of the same
// size after a pause: a token bucket. It is safe for concurrent use.
type Meter struct {
	perMinute int // 0 is no limit
	now       func() time.Time

	mu      sync.Mutex
	buckets map[string]bucket // guarded by mu
	swept   time.Time         // guarded by mu; time of the last pruning
}

// A bucket is the remaining allowance of a sender at a time.
type bucket struct {
	left float64
	at   time.Time
}

// NewMeter returns a meter. A limit of 0 is none.
func NewMeter(perMinute int, now func() time.Time) *Meter {
	return &Meter{perMinute: perMinute, now: now, buckets: map[string]bucket{}}
}

// Take counts one action of a sender. An action over the limit is not counted,
// and Take returns the time until there is room again.
func (m *Meter) Take(sender string) (after time.Duration, ok bool) {
	if m.perMinute == 0 {
		return 0, true
	}
	now := m.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	b, known := m.buckets[sender]
	if !known {
		m.prune(now)
		b = bucket{left: float64(m.perMinute), at: now}
	}
	b = m.filled(b, now)
	if b.left < 1 {
		m.buckets[sender] = b
		return time.Duration((1 - b.left) * float64(time.Minute) / float64(m.perMinute)), false
	}
	b.left--
	m.buckets[sender] = b
	return 0, true
}

// filled returns a bucket as of now.
func (m *Meter) filled(b bucket, now time.Time) bucket {
	gained := now.Sub(b.at).Minutes() * float64(m.perMinute)
	return bucket{left: min(b.left+max(gained, 0), float64(m.perMinute)), at: now}
}

// prune makes room for a sender: it removes full buckets, which take a minute
// at most to fill, and if there are none, an arbitrary one. m.mu is held.
func (m *Meter) prune(now time.Time) {
	if len(m.buckets) < maxMeters {
		return
	}
	if now.Sub(m.swept) >= time.Minute {
		m.swept = now
		for sender, b := range m.buckets {
			if m.filled(b, now).left >= float64(m.perMinute) {
				delete(m.buckets, sender)
			}
		}
	}
	for sender := range m.buckets {
		if len(m.buckets) < maxMeters {
			return
		}
		delete(m.buckets, sender)
	}
}
