package engine

import (
	"errors"
	"testing"
	"time"
)

// TestClock measures a server's clock from a machine whose clock is ahead.
func TestClock(t *testing.T) {
	t.Parallel()
	server := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	ahead := 4 * time.Second
	var took time.Duration // of the next request
	c := &clock{now: func() time.Time { return server.Add(ahead) }}
	measure := func(err error) {
		c.measure(func() (time.Time, error) {
			server = server.Add(took / 2)
			at := server
			server = server.Add(took / 2)
			return at, err
		})
	}
	expect := func(when string, off time.Duration, due bool) {
		t.Helper()
		if got := c.Now().Sub(server); got != off {
			t.Errorf("%s the clock is %v off, want %v", when, got, off)
		}
		if c.due() != due {
			t.Errorf("%s a measurement is due: %v, want %v", when, !due, due)
		}
	}
	expect("before the first measurement", ahead, true)
	measure(errors.New("no connection"))
	expect("after an error", ahead, true)
	took = 2 * time.Second
	measure(nil)
	expect("after a slow first measurement", 0, false)
	server = server.Add(syncEvery - took)
	expect("later", 0, false)
	server = server.Add(time.Second)
	expect("when the measurement is old", 0, true)
	ahead += 40 * time.Millisecond // the local clock drifts
	measure(nil)
	expect("after a slow measurement", 40*time.Millisecond, true)
	took = 10 * time.Millisecond
	measure(nil)
	expect("after a fast measurement", 0, false)
}

// TestClockCountsOn: between measurements the clock counts on from the last one,
// whatever the wall clock of the machine shows.
func TestClockCountsOn(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Now}
	server := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	c.measure(func() (time.Time, error) { return server, nil })
	if passed := c.Now().Sub(server); passed < 0 || passed > time.Minute {
		t.Errorf("%v passed", passed)
	}
}
