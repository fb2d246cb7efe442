package main_test

import (
	"sync"
	"testing"
)

// some chooses at which points of a story to kill: at all for the whole table,
// and where the story makes a new home. Otherwise they are the first of each
// name, but for steps that other stories have, and some of the others, which are
// shared out among the engines as both pass them.
func (s story) some(engine string, points []kill) []kill {
	if *wholeTable || s.newHome {
		return points
	}
	step, shift := max(s.sample, 2), 0
	if engine == "postgres" {
		shift = step / 2
	}
	seen := map[string]bool{}
	var chosen []kill
	for i, k := range points {
		if s.sample == 0 && !seen[k.name] || i%step == shift {
			chosen = append(chosen, k)
		}
		seen[k.name] = true
	}
	return chosen
}

// again chooses at which points of a recovery to kill a second time: everywhere
// for the whole table, otherwise after every third of the first kills, each time
// at another place.
func again(turn int, points []kill) []kill {
	switch {
	case *wholeTable || len(points) == 0:
		return points
	case turn%3 != 0:
		return nil
	}
	return points[turn*7%len(points):][:1]
}

// A census counts the kills in the stories of one engine.
type census struct {
	mu      sync.Mutex
	stories int             // that were told
	points  int             // that the stories pass
	planned int             // kills at them
	killed  int             // of those that happened
	left    int             // of those that were left out with -run
	names   map[string]bool // of the failpoints
	met     map[string]bool // names of those with a kill
}

func newCensus() *census { return &census{names: map[string]bool{}, met: map[string]bool{}} }

// plan notes at which points of a story there are to be kills. Of one that is only
// sampled, the names of the others are left to the whole table.
func (c *census) plan(s story, points, some []kill) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stories++
	c.points, c.planned, c.left = c.points+len(points), c.planned+len(some), c.left+len(some)
	if s.sample > 0 && !*wholeTable {
		return
	}
	for _, k := range points {
		c.names[k.name] = true
	}
}

// add notes a play with one kill, if that happened.
func (c *census) add(p *player, planned kill) {
	p.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left--
	if p.passed(planned.process, planned.name) >= planned.nth {
		c.killed++
		c.met[planned.name] = true
	}
}

// check fails unless there was a kill at every failpoint that the stories pass,
// if none was left out.
func (c *census) check(t *testing.T) {
	t.Helper()
	t.Logf("%d kills of %d that were planned, at %d points with %d of %d names", c.killed, c.planned, c.points, len(c.met), len(c.names))
	for name := range c.names {
		if !c.met[name] && c.left == 0 && c.stories == len(stories)+len(backgroundStories) {
			t.Errorf("no kill at %s", name)
		}
	}
}
