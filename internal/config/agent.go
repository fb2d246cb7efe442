package config

import "chela"

// An Agent is one [agents.NAME] section.
type Agent struct {
	Name       string
	Model      string         `key:"model" is:"model"`
	CheapModel string         `key:"cheap_model" is:"model"`
	Fallbacks  []string       `key:"fallbacks" is:"models"`
	Prompt     string         `key:"prompt" is:"text"`                    // appended to the system prompt
	Allow      []string       `key:"tools.allow" is:"tools"`              // tools offered to it; empty means all
	Deny       []string       `key:"tools.deny" is:"tools"`               // tools withheld from it
	Profile    chela.Profile  `key:"profile" words:"careful normal free"` // empty: that of the home
	Subagents  AgentSubagents `key:"subagents"`
}
