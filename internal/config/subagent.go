package config

import (
	"slices"
	"time"

	"chela"
	"chela/internal/config/field"
)

// Subagents limits the sessions that turns start for a part of their work.
type Subagents struct {
	Timeout      time.Duration // of the one turn of a subagent; 0 means the limit of all turns
	ArchiveAfter time.Duration // after its end, until its session is archived; 0 means never
	Depth        int           // below a session of people; 1: subagents may not spawn
	Most         int           // running or queued, of one session
}

// NewSubagents returns the defaults.
func NewSubagents() Subagents {
	return Subagents{Timeout: 30 * time.Minute, ArchiveAfter: time.Hour, Depth: 1, Most: 5}
}

// maxDepth limits the nesting of subagents.
const maxDepth = 10

// SubagentKeys are the keys of [subagents].
var SubagentKeys = []field.Key[Subagents]{
	field.Named("timeout", func(s *Subagents) field.Field { return field.Span(&s.Timeout, 0, day) }),
	field.Named("archive_after", func(s *Subagents) field.Field { return field.Span(&s.ArchiveAfter, 0, 365*day) }),
	field.Named("depth", func(s *Subagents) field.Field { return field.Number(&s.Depth, 0, maxDepth) }),
	field.Named("most", func(s *Subagents) field.Field { return field.Number(&s.Most, 1, 1000) }),
}

// AnyAgent matches every agent in a list of agents.
const AnyAgent = "*"

// AgentSubagents configures the subagents of one agent.
type AgentSubagents struct {
	Allow    []string // other agents that it may spawn, or [Any]
	Depth    int      // as in [Subagents], which is the default
	Model    string   // of its subagents, as provider/model; empty: the model of their agent
	Thinking chela.ThinkingLevel
}

// May reports whether an agent may spawn a subagent of another agent, or of
// itself.
func (s AgentSubagents) May(own, other string) bool {
	return s.Depth > 0 && (own == other || slices.Contains(s.Allow, other) || slices.Contains(s.Allow, AnyAgent))
}

var thinkingLevels = []chela.ThinkingLevel{
	chela.ThinkingOff, chela.ThinkingMinimal, chela.ThinkingLow, chela.ThinkingMedium, chela.ThinkingHigh, chela.ThinkingXHigh,
}

// SpawningKeys are the keys of [agents.NAME.subagents].
var SpawningKeys = []field.Key[AgentSubagents]{
	field.Named("allow", func(s *AgentSubagents) field.Field {
		return field.List(&s.Allow, `a list of agents, or "*" for all`, func(name string) bool { return name == AnyAgent || chela.ValidName(name) })
	}),
	field.Named("depth", func(s *AgentSubagents) field.Field { return field.Number(&s.Depth, 0, maxDepth) }),
	field.Named("model", func(s *AgentSubagents) field.Field { return field.Model(&s.Model) }),
	field.Named("thinking", func(s *AgentSubagents) field.Field { return field.Choice(&s.Thinking, thinkingLevels) }),
}
