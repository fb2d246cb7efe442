package config

import (
	"strconv"
	"strings"
	"time"

	"chela"
)

// A setting is one key of config.toml. In its key, * stands for a name that
// people choose and [] for a place in a list of sections.
type setting struct {
	key   string
	names []string // what the environment calls it besides its CHELA_ name
	field func(c *Config, n string) field
}

// What a setting may be, where it is one of several words, and what a later
// version will take.
var (
	queueModes      = []chela.QueueMode{chela.QueueCollect, chela.QueueFollowup}
	laterQueueModes = []chela.QueueMode{chela.QueueSteer, "steer-backlog", "queue", "interrupt"}
	dmScopes        = []chela.DMScope{chela.ScopeMain, chela.ScopePerPeer, chela.ScopePerChannelPeer}
	verdicts        = []chela.Verdict{chela.Deny, chela.Ask, chela.Allow}
	effects         = []chela.Effect{
		chela.EffectRead, chela.EffectWrite, chela.EffectNetwork, chela.EffectExecute, chela.EffectSend, chela.EffectSpend,
	}
)

// settings are all keys there are, in the order of the documentation. The
// defaults are in [newLoader].
var settings = []setting{
	{"name", []string{"AGENT_NAME"}, func(c *Config, _ string) field { return text(&c.Name, "a name on one line", oneLine) }},
	{"model", nil, func(c *Config, _ string) field { return model(&c.Model) }},
	{"providers.*.kind", nil, func(c *Config, n string) field { return choice(&c.provider(n).Kind, supportedKinds, laterKinds...) }},
	{"providers.*.base_url", nil, func(c *Config, n string) field {
		f := text(&c.provider(n).BaseURL, "an http or https URL without credentials", webURL)
		f.secret = true // a URL with a password is refused, and not repeated
		return f
	}},
	{"providers.*.api_key", nil, func(c *Config, n string) field {
		p := c.provider(n)
		return keyReference(&p.reference, func() bool { return p.Key.IsSet() })
	}},
	{"agents.*.model", nil, func(c *Config, n string) field { return model(&c.agent(n).Model) }},
	{"agents.*.prompt", nil, func(c *Config, n string) field { return text(&c.agent(n).Prompt, "text", anyText) }},
	{"agents.*.tools.allow", nil, func(c *Config, n string) field { return toolNames(&c.agent(n).Allow) }},
	{"agents.*.tools.deny", nil, func(c *Config, n string) field { return toolNames(&c.agent(n).Deny) }},
	{"queue.mode", nil, func(c *Config, _ string) field { return choice(&c.Queue.Mode, queueModes, laterQueueModes...) }},
	{"limits.steps", nil, func(c *Config, _ string) field { return number(&c.Limits.Steps, 1, 1000) }},
	{"limits.turn_timeout", nil, func(c *Config, _ string) field { return span(&c.Limits.TurnTimeout, time.Second, 24*time.Hour) }},
	{"lanes.main", nil, func(c *Config, _ string) field { return number(&c.Lanes.Main, 1, 10_000) }},
	{"lanes.job", []string{"MAX_PARALLEL_JOBS"}, func(c *Config, _ string) field { return number(&c.Lanes.Job, 1, 10_000) }},
	{"lanes.subagent", nil, func(c *Config, _ string) field { return number(&c.Lanes.Subagent, 1, 10_000) }},
	{"lanes.cron", nil, func(c *Config, _ string) field { return number(&c.Lanes.Cron, 1, 10_000) }},
	{"sandbox.mode", nil, func(c *Config, _ string) field {
		return choice(&c.Sandbox.Mode, []SandboxMode{SandboxAuto, SandboxProcess, SandboxOff}, "docker")
	}},
	{"database.url", []string{"DATABASE_URL"}, func(c *Config, _ string) field { return databaseURL(&c.Database.URL) }},
	{"session.dm_scope", nil, func(c *Config, _ string) field { return choice(&c.Session.DMScope, dmScopes) }},
	{"session.identity_links.*", nil, identityLink},
	{"approvals.expires", nil, func(c *Config, _ string) field { return span(&c.Approvals.Expires, time.Minute, 365*24*time.Hour) }},
	{"policy[].tool", nil, func(c *Config, n string) field { return text(&c.rule(n).Tool, "a tool name", oneLine) }},
	{"policy[].effect", nil, func(c *Config, n string) field { return choice(&c.rule(n).Effect, effects) }},
	{"policy[].pattern", nil, func(c *Config, n string) field { return text(&c.rule(n).Pattern, "a pattern on one line", oneLine) }},
	{"policy[].agent", nil, func(c *Config, n string) field { return text(&c.rule(n).Agent, "an agent's name", chela.ValidName) }},
	{"policy[].channel", nil, func(c *Config, n string) field { return text(&c.rule(n).Channel, "a channel's name", chela.ValidName) }},
	{"policy[].group", nil, func(c *Config, n string) field { return text(&c.rule(n).Group, "a group's id", oneLine) }},
	{"policy[].sender", nil, func(c *Config, n string) field { return text(&c.rule(n).Sender, "a sender's id", oneLine) }},
	{"policy[].verdict", nil, func(c *Config, n string) field { return choice(&c.rule(n).Verdict, verdicts) }},
	{"tools.http_allow", nil, func(c *Config, _ string) field {
		return list(&c.Tools.HTTPAllow, `a list of hosts, addresses or prefixes such as "10.1.0.0/16"`, hostOrPrefix)
	}},
	{"log.level", nil, func(c *Config, _ string) field {
		return choice(&c.Log.Level, []string{"debug", "info", "warn", "error"})
	}},
	{"log.format", nil, func(c *Config, _ string) field { return choice(&c.Log.Format, []string{"text", "json"}) }},
}

// later are keys and sections of the documentation that this version does not
// act on. They are refused, because a limit that is accepted and not kept is
// worse than none.
var later = []string{
	"listen", "channels", "agents.*.subagents",
	"queue.debounce_ms", "queue.cap", "queue.drop",
	"limits.usd_per_day", "limits.actions_per_hour",
}

func toolNames(at *[]string) field { return list(at, "a list of tool names", anyText) }

func model(at *string) field {
	return text(at, `provider/model, such as "offline/rules"`, func(s string) bool {
		provider, name, ok := strings.Cut(s, "/")
		return ok && chela.ValidName(provider) && oneLine(name)
	})
}

func identityLink(c *Config, peer string) field {
	person := c.Session.IdentityLinks[peer]
	f := text(&person, "the name of a person", oneLine)
	put := f.put
	f.put = func(v any) error {
		if err := put(v); err != nil {
			return err
		}
		c.Session.IdentityLinks[peer] = person
		return nil
	}
	f.show = func() string { return c.Session.IdentityLinks[peer] }
	return f
}

// match reports whether s is the setting at path, and which name or place the
// path has where the key has * or [].
func (s setting) match(path []string) (name string, ok bool) {
	name, rest, ok := matchKey(s.key, path)
	return name, ok && rest == ""
}

// matchKey compares a key with a path. It returns what is left of the key
// after the path.
func matchKey(key string, path []string) (name, rest string, ok bool) {
	rest = key
	for _, part := range path {
		if rest == "" {
			return "", "", false
		}
		if isPlace(part) {
			if !strings.HasPrefix(rest, "[]") {
				return "", "", false
			}
			name, rest = part, strings.TrimPrefix(rest[2:], ".")
			continue
		}
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		switch rest[:end] {
		case part:
		case "*":
			name = part
		default:
			return "", "", false
		}
		rest = strings.TrimPrefix(rest[end:], ".")
	}
	return name, rest, true
}

// placeMark begins a part of a path that is a place in a list. No key of a
// file can begin with it, because it is not UTF-8.
const placeMark = "\xff"

// place returns the part of a path that stands for the n-th of a list, from 1.
func place(n int) string { return placeMark + strconv.Itoa(n) }

func isPlace(part string) bool { return strings.HasPrefix(part, placeMark) }

// find returns the setting at path.
func find(path []string) (setting, string, bool) {
	for _, s := range settings {
		if name, ok := s.match(path); ok {
			return s, name, true
		}
	}
	return setting{}, "", false
}

// section reports whether some setting is below path, and whether path is a
// list of sections.
func section(path []string) (ok, list bool) {
	for _, s := range settings {
		if _, rest, ok := matchKey(s.key, path); ok && rest != "" {
			return true, strings.HasPrefix(rest, "[")
		}
	}
	return false, false
}

// isLater reports whether path is, or is below, a key of later.
func isLater(path []string) bool {
	for _, key := range later {
		for n := range path {
			if _, rest, ok := matchKey(key, path[:n+1]); ok && rest == "" {
				return true
			}
		}
	}
	return false
}

// join writes a path as people write it.
func join(path []string) string {
	var b strings.Builder
	for i, part := range path {
		if i > 0 && !isPlace(part) {
			b.WriteByte('.')
		}
		switch {
		case isPlace(part):
			b.WriteString("[" + part[len(placeMark):] + "]")
		case isBare(part):
			b.WriteString(part)
		default:
			b.WriteString(quote(part))
		}
	}
	return b.String()
}

// isBare reports whether TOML lets a key stand without quotes.
func isBare(s string) bool {
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return s != ""
}

// knownKeys returns every key and section, with the names of path in it.
func knownKeys(path []string) []string {
	var keys []string
	for _, s := range settings {
		parts := strings.Split(s.key, ".")
		for i, part := range parts {
			if part == "*" && i < len(path) {
				parts[i] = join(path[i : i+1])
			}
			if i < len(path) || i == len(parts)-1 {
				keys = append(keys, strings.Join(parts[:i+1], "."))
			}
		}
	}
	return keys
}
