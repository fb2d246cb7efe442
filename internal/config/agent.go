package config

import (
	"slices"

	"chela/internal/config/field"
)

// An Agent is one [agents.NAME] section.
type Agent struct {
	Name       string
	Model      string // provider/model
	CheapModel string
	Fallbacks  []string
	Prompt     string   // appended to the system prompt
	Allow      []string // tools offered to it; empty means all
	Deny       []string // tools withheld from it
	Subagents  AgentSubagents
}

// AgentKeys are the keys of [agents.NAME].
var AgentKeys = slices.Concat([]field.Key[Agent]{
	field.Named("model", func(a *Agent) field.Field { return field.Model(&a.Model) }),
	field.Named("cheap_model", func(a *Agent) field.Field { return field.Model(&a.CheapModel) }),
	field.Named("fallbacks", func(a *Agent) field.Field { return field.Models(&a.Fallbacks) }),
	field.Named("prompt", func(a *Agent) field.Field { return field.Text(&a.Prompt, "text", field.AnyText) }),
	field.Named("tools.allow", func(a *Agent) field.Field { return toolNames(&a.Allow) }),
	field.Named("tools.deny", func(a *Agent) field.Field { return toolNames(&a.Deny) }),
}, field.Within("subagents.", SpawningKeys, func(a *Agent) *AgentSubagents { return &a.Subagents }))

func toolNames(at *[]string) field.Field {
	return field.List(at, "a list of tool names", field.AnyText)
}
