package config

import (
	"fmt"
	"slices"
	"strings"

	"chela"
	"chela/internal/config/background"
	"chela/internal/config/field"
)

// twins are keys for one number: how many lanes of a class run at once. The
// section of the work that is done there has a name of its own for it.
var twins = [][2]string{
	{"lanes.job", "jobs.max_parallel"},
	{"lanes.subagent", "subagents.max_parallel"},
	{"lanes.cron", "routines.max_concurrent"},
}

// twin returns the other key for the number of a key; empty if there is none.
func twin(key string) string {
	for _, pair := range twins {
		if i := slices.Index(pair[:], key); i >= 0 {
			return pair[1-i]
		}
	}
	return ""
}

// settleTwins lets the key count that is set where more counts, as if the other
// were not set. Two that are set alike must say the same.
func (l *loader) settleTwins() error {
	for _, pair := range twins {
		one, ok := l.slots[pair[0]]
		other, both := l.slots[pair[1]]
		if !ok || !both {
			continue
		}
		switch of, over := one.origin.rank(), other.origin.rank(); {
		case of > over:
			delete(l.slots, pair[1])
		case of < over:
			delete(l.slots, pair[0])
		case one.shown != other.shown:
			return chela.E(chela.Invalid, fmt.Sprintf("%s: %s is %s, and %s is %s, but they are one number",
				other.origin.place, pair[0], one.shown, pair[1], other.shown)).WithHint("take one of them out")
		}
	}
	return nil
}

// rank tells what counts more: a flag, a CHELA_ name, another name of the
// environment, the file.
func (o origin) rank() int {
	switch {
	case strings.HasPrefix(o.source, "flag "):
		return 3
	case strings.HasPrefix(o.source, "env "+envPrefix):
		return 2
	case strings.HasPrefix(o.source, "env "):
		return 1
	}
	return 0
}

// checkBackground refuses a heartbeat that contradicts itself, and agents that
// there are none of.
func (l *loader) checkBackground() error {
	if key, problem, cure := l.c.Heartbeat.Problem(); problem != "" {
		key = "heartbeat." + key
		return chela.E(chela.Invalid, l.slots[key].origin.place+": "+key+" "+problem).WithHint(cure)
	}
	if err := l.checkAgents("heartbeat.agents", l.c.Heartbeat.Agents); err != nil {
		return err
	}
	for _, name := range l.c.AgentNames() {
		if err := l.checkAgents("agents."+name+".subagents.allow", l.c.agents[name].Subagents.Allow); err != nil {
			return err
		}
	}
	return nil
}

// checkAgents refuses a list with an agent that is not there.
func (l *loader) checkAgents(key string, names []string) error {
	for _, name := range names {
		if _, err := l.c.Agent(name); err != nil && name != background.Any {
			return chela.E(chela.Invalid, fmt.Sprintf("%s: %s: no agent %q", l.slots[key].origin.place, key, field.Cut(name))).
				WithHint(chela.HintOf(err))
		}
	}
	return nil
}
