package background

import (
	"slices"
	"time"

	"chela"
	"chela/internal/config/field"
)

// Subagents bound the sessions that turns begin for a part of their work.
type Subagents struct {
	Timeout      time.Duration // of the one turn that a subagent has; 0 means that of all turns
	ArchiveAfter time.Duration // after its end, from when on its session is put away; 0 means never
	Depth        int           // below a session of people; 1: its subagents have none of their own
	Most         int           // of one session that run or wait at once
}

// NewSubagents returns the defaults.
func NewSubagents() Subagents {
	return Subagents{Timeout: 30 * time.Minute, ArchiveAfter: time.Hour, Depth: 1, Most: 5}
}

// maxDepth bounds how deep subagents may go.
const maxDepth = 10

// SubagentKeys are the keys of [subagents].
var SubagentKeys = []field.Key[Subagents]{
	field.Named("timeout", func(s *Subagents) field.Field { return field.Span(&s.Timeout, 0, day) }),
	field.Named("archive_after", func(s *Subagents) field.Field { return field.Span(&s.ArchiveAfter, 0, 365*day) }),
	field.Named("depth", func(s *Subagents) field.Field { return field.Number(&s.Depth, 0, maxDepth) }),
	field.Named("most", func(s *Subagents) field.Field { return field.Number(&s.Most, 1, 1000) }),
}

// Any stands in a list of agents for all of them.
const Any = "*"

// Spawning is what one agent may do with subagents.
type Spawning struct {
	Allow    []string // other agents that it may have work, or [Any]
	Depth    int      // as that of [Subagents], from which it is taken if the agent has none
	Model    string   // of its subagents, as provider/model; empty: each has its agent's
	Thinking chela.ThinkingLevel
}

// May reports whether an agent may have another one work for it, or itself.
func (s Spawning) May(own, other string) bool {
	return s.Depth > 0 && (own == other || slices.Contains(s.Allow, other) || slices.Contains(s.Allow, Any))
}

var thinkingLevels = []chela.ThinkingLevel{
	chela.ThinkingOff, chela.ThinkingMinimal, chela.ThinkingLow, chela.ThinkingMedium, chela.ThinkingHigh, chela.ThinkingXHigh,
}

// SpawningKeys are the keys of [agents.NAME.subagents].
var SpawningKeys = []field.Key[Spawning]{
	field.Named("allow", func(s *Spawning) field.Field {
		return field.List(&s.Allow, `a list of agents, or "*" for all`, func(name string) bool { return name == Any || chela.ValidName(name) })
	}),
	field.Named("depth", func(s *Spawning) field.Field { return field.Number(&s.Depth, 0, maxDepth) }),
	field.Named("model", func(s *Spawning) field.Field { return field.Model(&s.Model) }),
	field.Named("thinking", func(s *Spawning) field.Field { return field.Choice(&s.Thinking, thinkingLevels) }),
}
