package config

import (
	"slices"
	"strings"
	"time"

	"chela"
	"chela/internal/config/field"
	"chela/internal/config/tomlfile"
)

// A setting is one key of config.toml. In its key, * stands for a name that
// people choose and [] for an index in a list of sections.
type setting struct {
	key   string
	names []string // its environment variables besides the CHELA_ name
	at    func(c *Config, n string) field.Field
}

// settings lists every key, in the order of the documentation. The defaults are
// in [newLoader].
var settings = slices.Concat(
	homeSettings,
	below("providers.*.", ProviderKeys, (*Config).provider),
	below("models.*.", ModelKeys, (*Config).modelOf),
	below("unknown_model.", UnknownModelKeys, func(c *Config, _ string) *UnknownModel { return &c.Unknown }),
	below("agents.*.", AgentKeys, (*Config).agent),
	below("chain.", ChainKeys, func(c *Config, _ string) *Chain { return &c.Chain }),
	below("routing.", RoutingKeys, func(c *Config, _ string) *Routing { return &c.Routing }),
	below("gateway.", GatewayKeys, func(c *Config, _ string) *Gateway { return &c.Gateway }),
	below("queue.", QueueKeys, func(c *Config, _ string) *chela.QueueSettings { return &c.Queue.QueueSettings }),
	below("queue.channels.*.", QueueKeys, func(c *Config, n string) *chela.QueueSettings { return c.Queue.Channel(n) }),
	below("limits.", LimitKeys, func(c *Config, _ string) *Limits { return &c.Limits }),
	below("compaction.", CompactionKeys, func(c *Config, _ string) *Compaction { return &c.Compaction }),
	below("lanes.", LaneKeys, func(c *Config, _ string) *Lanes { return &c.Lanes }),
	below("jobs.", JobKeys, func(c *Config, _ string) *Jobs { return &c.Jobs }),
	below("jobs.", JobLaneKeys, func(c *Config, _ string) *Lanes { return &c.Lanes }),
	below("subagents.", SubagentKeys, func(c *Config, _ string) *Subagents { return &c.Subagents }),
	below("subagents.", SubagentLaneKeys, func(c *Config, _ string) *Lanes { return &c.Lanes }),
	below("routines.", RoutineKeys, func(c *Config, _ string) *Routines { return &c.Routines }),
	below("routines.", RoutineLaneKeys, func(c *Config, _ string) *Lanes { return &c.Lanes }),
	below("heartbeat.", HeartbeatKeys, func(c *Config, _ string) *Heartbeat { return &c.Heartbeat }),
	below("repair.", RepairKeys, func(c *Config, _ string) *Repair { return &c.Repair }),
	below("sandbox.", SandboxKeys, func(c *Config, _ string) *Sandbox { return &c.Sandbox }),
	below("resources.", ResourceKeys, func(c *Config, _ string) *Resources { return &c.Resources }),
	below("database.", DatabaseKeys, func(c *Config, _ string) *Database { return &c.Database }),
	below("session.", SessionKeys, func(c *Config, _ string) *Session { return &c.Session }),
	[]setting{{"session.identity_links.*", nil, func(c *Config, peer string) field.Field { return c.Session.Link(peer) }}},
	below("approvals.", ApprovalKeys, func(c *Config, _ string) *Approvals { return &c.Approvals }),
	below("policy[].", RuleKeys, (*Config).rule),
	hookSettings,
	below("tools.", ToolKeys, func(c *Config, _ string) *Tools { return &c.Tools }),
	below("log.", LogKeys, func(c *Config, _ string) *Log { return &c.Log }),
)

// homeSettings are the keys outside any section.
var homeSettings = []setting{
	{"name", []string{"AGENT_NAME"}, func(c *Config, _ string) field.Field { return field.Text(&c.Name, "a name on one line", field.OneLine) }},
	{"timezone", nil, func(c *Config, _ string) field.Field { return timezone(c) }},
	{"model", nil, func(c *Config, _ string) field.Field { return field.Model(&c.Model) }},
	{"cheap_model", nil, func(c *Config, _ string) field.Field { return field.Model(&c.CheapModel) }},
	{"fallbacks", nil, func(c *Config, _ string) field.Field { return field.Models(&c.Fallbacks) }},
	{"record", nil, func(c *Config, _ string) field.Field { return field.Text(&c.Record, "a folder", field.OneLine) }},
	{"replay", nil, func(c *Config, _ string) field.Field { return field.Text(&c.Replay, "a folder", field.OneLine) }},
	{"listen", nil, func(c *Config, _ string) field.Field {
		return field.Text(&c.Listen, `an address and a port, such as "127.0.0.1:7717" or "[::1]:7717"; "0.0.0.0:7717" is every address`, isHostPort)
	}},
}

// hookSettings are the keys of [[hooks]]. They are listed for each hook, with
// its defaults.
var hookSettings = below("hooks[].", HookKeys, (*Config).hook)

// below returns settings for the keys of named sections; at returns the section
// of a name.
func below[S any](prefix string, keys []field.Key[S], at func(c *Config, n string) *S) []setting {
	all := make([]setting, len(keys))
	for i, k := range keys {
		all[i] = setting{prefix + k.Name, k.Names, func(c *Config, n string) field.Field { return k.At(at(c, n)) }}
	}
	return all
}

// localZone denotes the zone of the machine.
const localZone = "local"

// timezone is the name of a zone, and the zone.
func timezone(c *Config) field.Field {
	f := field.Text(&c.Timezone, `the name of a time zone, such as "Europe/Berlin", or "local" for that of the machine`, field.OneLine)
	put := f.Put
	f.Put = func(v any) error {
		name, _ := v.(string)
		zone, err := time.LoadLocation(name)
		switch {
		case name == localZone:
			zone = time.Local
		case name == "" || err != nil:
			return field.ErrUnwanted
		}
		c.zone = zone
		return put(v)
	}
	return f
}

// later are documented keys and sections that this version does not implement.
// They are refused, because a limit that is accepted and not enforced is worse
// than none.
var later = []string{
	"channels",
}

// match reports whether s is the setting at path, and the name or index that
// the path has in place of * or [].
func (s setting) match(path []string) (name string, ok bool) {
	name, rest, ok := matchKey(s.key, path)
	return name, ok && rest == ""
}

// matchKey matches a key against a path. It returns the rest of the key after
// the path.
func matchKey(key string, path []string) (name, rest string, ok bool) {
	rest = key
	for _, part := range path {
		if rest == "" {
			return "", "", false
		}
		if tomlfile.IsPlace(part) {
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

// knownKeys returns every key and section, with the names of path in it.
func knownKeys(path []string) []string {
	var keys []string
	for _, s := range settings {
		parts := strings.Split(s.key, ".")
		for i, part := range parts {
			if part == "*" && i < len(path) {
				parts[i] = tomlfile.Join(path[i : i+1])
			}
			if i < len(path) || i == len(parts)-1 {
				keys = append(keys, strings.Join(parts[:i+1], "."))
			}
		}
	}
	return keys
}
