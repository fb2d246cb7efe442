package chela_test

import (
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"chela"
)

// clock is a time that moves on when it is told to.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func TestIDsArePrefixedAndUnique(t *testing.T) {
	t.Parallel()
	ids := chela.NewIDs((&clock{time.Unix(1_700_000_000, 0)}).now, rand.Reader)
	made := map[string]func() string{
		"thr_":  func() string { return string(ids.Thread()) },
		"ent_":  func() string { return string(ids.Entry()) },
		"turn_": func() string { return string(ids.Turn()) },
		"call_": func() string { return string(ids.Call()) },
		"apr_":  func() string { return string(ids.Approval()) },
		"gra_":  func() string { return string(ids.Grant()) },
		"in_":   func() string { return string(ids.Inbox()) },
		"out_":  func() string { return string(ids.Outbox()) },
		"use_":  func() string { return string(ids.Usage()) },
		"work_": func() string { return string(ids.Work()) },
		"tok_":  func() string { return string(ids.Token()) },
		"node_": func() string { return string(ids.Node()) },
		"req_":  func() string { return string(ids.Request()) },
	}
	for prefix, next := range made {
		seen := map[string]bool{}
		for range 1000 {
			id := next()
			rest, ok := strings.CutPrefix(id, prefix)
			if !ok || len(rest) != 20 || strings.Trim(rest, "0123456789abcdefghjkmnpqrstvwxyz") != "" {
				t.Fatalf("id %q is not %q and 20 letters of the alphabet", id, prefix)
			}
			if seen[id] {
				t.Fatalf("id %q was made twice in one millisecond", id)
			}
			seen[id] = true
		}
	}
}

func TestIDsSortByTime(t *testing.T) {
	t.Parallel()
	c := &clock{time.Unix(0, 0)}
	ids := chela.NewIDs(c.now, rand.Reader)
	var made []chela.EntryID
	for _, step := range []time.Duration{1, time.Second, time.Hour, 24 * time.Hour, 365 * 24 * time.Hour, 50 * 365 * 24 * time.Hour} {
		for range 10 {
			c.at = c.at.Add(max(step, time.Millisecond))
			made = append(made, ids.Entry())
		}
	}
	if !slices.IsSorted(made) {
		t.Errorf("ids made one after the other are not sorted: %q", made)
	}
}

func TestIDsMayBeMadeTogether(t *testing.T) {
	t.Parallel()
	ids := chela.NewIDs(time.Now, rand.Reader)
	var mu sync.Mutex
	var all sync.WaitGroup
	seen := map[chela.CallID]bool{}
	for range 8 {
		all.Go(func() {
			for range 200 {
				id := ids.Call()
				mu.Lock()
				seen[id] = true
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(seen) != 1600 {
		t.Errorf("%d of 1600 ids are distinct", len(seen))
	}
}

func TestIDsPanicWithoutRandomness(t *testing.T) {
	t.Parallel()
	ids := chela.NewIDs(time.Now, iotest.ErrReader(errors.New("empty")))
	defer func() {
		if recover() == nil {
			t.Error("an id was made without randomness")
		}
	}()
	ids.Turn()
}
