package config

import (
	"slices"
	"strings"
	"time"

	"chela"
	"chela/internal/config/address"
	"chela/internal/config/field"
	"chela/internal/config/tomlfile"
)

// A setting is one key of config.toml. In its key, * stands for a name that
// people choose and [] for a place in a list of sections.
type setting struct {
	key   string
	names []string // what the environment calls it besides its CHELA_ name
	at    func(c *Config, n string) field.Field
}

// What a setting may be, where it is one of several words, and what a later
// version will take.
var (
	queueModes = []chela.QueueMode{
		chela.QueueCollect, chela.QueueFollowup, chela.QueueSteer, chela.QueueSteerBacklog, chela.QueuePlain, chela.QueueInterrupt,
	}
	queueDrops = []chela.QueueDrop{chela.DropOld, chela.DropNew, chela.DropSummarize}
	dmScopes   = []chela.DMScope{chela.ScopeMain, chela.ScopePerPeer, chela.ScopePerChannelPeer}
	verdicts   = []chela.Verdict{chela.Deny, chela.Ask, chela.Allow}
	effects    = []chela.Effect{
		chela.EffectRead, chela.EffectWrite, chela.EffectNetwork, chela.EffectExecute, chela.EffectSend, chela.EffectSpend,
	}
)

// settings are all keys there are, in the order of the documentation. The
// defaults are in [newLoader].
var settings = slices.Concat(homeSettings, chainSettings, hookSettings())

// homeSettings are the keys of all that has no list of its own.
var homeSettings = []setting{
	{"name", []string{"AGENT_NAME"}, func(c *Config, _ string) field.Field { return field.Text(&c.Name, "a name on one line", field.OneLine) }},
	{"timezone", nil, func(c *Config, _ string) field.Field { return timezone(c) }},
	{"model", nil, func(c *Config, _ string) field.Field { return model(&c.Model) }},
	{"listen", nil, func(c *Config, _ string) field.Field {
		return field.Text(&c.Listen, `an address and a port, such as "127.0.0.1:7717" or "[::1]:7717"; "0.0.0.0:7717" is every address`, address.IsHostPort)
	}},
	{"gateway.hosts", nil, func(c *Config, _ string) field.Field {
		return field.List(&c.Gateway.Hosts, `a list of host names without port, such as "chela.example"`, address.IsHost)
	}},
	{"gateway.origins", nil, func(c *Config, _ string) field.Field {
		return field.List(&c.Gateway.Origins, `a list of origins as browsers send them, such as "https://chela.example"`, address.IsOrigin)
	}},
	{"gateway.messages_per_minute", nil, func(c *Config, _ string) field.Field {
		return field.Number(&c.Gateway.MessagesPerMinute, 0, 10_000_000)
	}},
	{"gateway.logins_per_minute", nil, func(c *Config, _ string) field.Field {
		return field.Number(&c.Gateway.LoginsPerMinute, 1, 10_000)
	}},
	{"gateway.connections", nil, func(c *Config, _ string) field.Field {
		return field.Number(&c.Gateway.Connections, 1, 1_000_000)
	}},
	{"providers.*.kind", nil, func(c *Config, n string) field.Field {
		return field.Choice(&c.provider(n).Kind, supportedKinds)
	}},
	{"providers.*.base_url", nil, func(c *Config, n string) field.Field {
		f := field.Text(&c.provider(n).BaseURL, "an http or https URL without credentials", address.IsURL)
		f.Secret = true // a URL with a password is refused, and not repeated
		return f
	}},
	{"providers.*.api_key", nil, func(c *Config, n string) field.Field {
		p := c.provider(n)
		return keyReference(&p.reference, func() bool { return p.Key.IsSet() || p.Signing.IsSet() })
	}},
	{"providers.*.region", nil, func(c *Config, n string) field.Field {
		return field.Text(&c.provider(n).Region, `a region of Amazon, such as "us-east-1"`, field.OneLine)
	}},
	{"models.*.window", nil, func(c *Config, n string) field.Field {
		return field.Number(&c.modelOf(n).Window, 1000, 100_000_000)
	}},
	{"models.*.max_output", nil, func(c *Config, n string) field.Field {
		return field.Number(&c.modelOf(n).MaxOutput, 1, 100_000_000)
	}},
	{"models.*.input", nil, func(c *Config, n string) field.Field { return field.Price(&c.modelOf(n).Input, maxPrice) }},
	{"models.*.output", nil, func(c *Config, n string) field.Field { return field.Price(&c.modelOf(n).Output, maxPrice) }},
	{"models.*.cache_read", nil, func(c *Config, n string) field.Field { return field.Price(&c.modelOf(n).CacheRead, maxPrice) }},
	{"models.*.cache_write", nil, func(c *Config, n string) field.Field { return field.Price(&c.modelOf(n).CacheWrite, maxPrice) }},
	{"unknown_model.window", nil, func(c *Config, _ string) field.Field {
		return field.Number(&c.Unknown.Window, 1000, 100_000_000)
	}},
	{"unknown_model.max_output", nil, func(c *Config, _ string) field.Field {
		return field.Number(&c.Unknown.MaxOutput, 1, 100_000_000)
	}},
	{"unknown_model.input", nil, func(c *Config, _ string) field.Field { return field.Dollars(&c.Unknown.Input, maxPrice) }},
	{"unknown_model.output", nil, func(c *Config, _ string) field.Field { return field.Dollars(&c.Unknown.Output, maxPrice) }},
	{"agents.*.model", nil, func(c *Config, n string) field.Field { return model(&c.agent(n).Model) }},
	{"agents.*.prompt", nil, func(c *Config, n string) field.Field { return field.Text(&c.agent(n).Prompt, "text", field.AnyText) }},
	{"agents.*.tools.allow", nil, func(c *Config, n string) field.Field { return toolNames(&c.agent(n).Allow) }},
	{"agents.*.tools.deny", nil, func(c *Config, n string) field.Field { return toolNames(&c.agent(n).Deny) }},
	{"queue.mode", nil, func(c *Config, _ string) field.Field { return field.Choice(&c.Queue.Mode, queueModes) }},
	{"queue.debounce_ms", nil, func(c *Config, _ string) field.Field { return debounce(&c.Queue.DebounceMS) }},
	{"queue.cap", nil, func(c *Config, _ string) field.Field { return field.Number(&c.Queue.Cap, 1, chela.MaxWaiting) }},
	{"queue.drop", nil, func(c *Config, _ string) field.Field { return field.Choice(&c.Queue.Drop, queueDrops) }},
	{"queue.channels.*.mode", nil, func(c *Config, n string) field.Field {
		return field.Choice(&c.channelQueue(n).Mode, queueModes)
	}},
	{"queue.channels.*.debounce_ms", nil, func(c *Config, n string) field.Field { return debounce(&c.channelQueue(n).DebounceMS) }},
	{"queue.channels.*.cap", nil, func(c *Config, n string) field.Field {
		return field.Number(&c.channelQueue(n).Cap, 1, chela.MaxWaiting)
	}},
	{"queue.channels.*.drop", nil, func(c *Config, n string) field.Field {
		return field.Choice(&c.channelQueue(n).Drop, queueDrops)
	}},
	{"limits.steps", nil, func(c *Config, _ string) field.Field { return field.Number(&c.Limits.Steps, 1, 1000) }},
	{"limits.turn_timeout", nil, func(c *Config, _ string) field.Field {
		return field.Span(&c.Limits.TurnTimeout, time.Second, 24*time.Hour)
	}},
	{"limits.repeats", nil, func(c *Config, _ string) field.Field { return field.Number(&c.Limits.Repeats, 0, 1000) }},
	{"limits.idle_steps", nil, func(c *Config, _ string) field.Field { return field.Number(&c.Limits.IdleSteps, 0, 1000) }},
	{"limits.nudges", nil, func(c *Config, _ string) field.Field { return field.Number(&c.Limits.Nudges, 0, 10) }},
	{"limits.usd_per_day", nil, func(c *Config, _ string) field.Field { return field.Dollars(&c.Limits.USDPerDay, maxSpent) }},
	{"limits.usd_per_session", nil, func(c *Config, _ string) field.Field { return field.Dollars(&c.Limits.USDPerSession, maxSpent) }},
	{"limits.usd_per_turn", nil, func(c *Config, _ string) field.Field { return field.Dollars(&c.Limits.USDPerTurn, maxSpent) }},
	{"limits.usd_per_job", nil, func(c *Config, _ string) field.Field { return field.Dollars(&c.Limits.USDPerJob, maxSpent) }},
	{"limits.usd_per_routine", nil, func(c *Config, _ string) field.Field { return field.Dollars(&c.Limits.USDPerRoutine, maxSpent) }},
	{"limits.actions_per_hour", nil, func(c *Config, _ string) field.Field {
		return field.Number(&c.Limits.ActionsPerHour, 0, 100_000_000)
	}},
	{"compaction.reserve_tokens", nil, func(c *Config, _ string) field.Field {
		return field.Number(&c.Compaction.ReserveTokens, 0, 10_000_000)
	}},
	{"compaction.reserve_floor", nil, func(c *Config, _ string) field.Field {
		return field.Number(&c.Compaction.ReserveFloor, 0, 10_000_000)
	}},
	{"compaction.keep_recent_tokens", nil, func(c *Config, _ string) field.Field {
		return field.Number(&c.Compaction.KeepRecentTokens, 0, 10_000_000)
	}},
	{"compaction.memory_flush", nil, func(c *Config, _ string) field.Field { return field.Switch(&c.Compaction.MemoryFlush) }},
	{"compaction.soft_threshold", nil, func(c *Config, _ string) field.Field {
		return field.Number(&c.Compaction.SoftThreshold, 0, 10_000_000)
	}},
	{"lanes.main", nil, func(c *Config, _ string) field.Field { return field.Number(&c.Lanes.Main, 1, 10_000) }},
	{"lanes.job", []string{"MAX_PARALLEL_JOBS"}, func(c *Config, _ string) field.Field { return field.Number(&c.Lanes.Job, 1, 10_000) }},
	{"lanes.subagent", nil, func(c *Config, _ string) field.Field { return field.Number(&c.Lanes.Subagent, 1, 10_000) }},
	{"lanes.cron", nil, func(c *Config, _ string) field.Field { return field.Number(&c.Lanes.Cron, 1, 10_000) }},
	{"lanes.waiting", nil, func(c *Config, _ string) field.Field { return field.Number(&c.Lanes.Waiting, 1, 1_000_000) }},
	{"sandbox.mode", nil, func(c *Config, _ string) field.Field {
		return field.Choice(&c.Sandbox.Mode, []SandboxMode{SandboxAuto, SandboxProcess, SandboxOff}, "docker")
	}},
	{"database.url", []string{"DATABASE_URL"}, func(c *Config, _ string) field.Field { return databaseURL(&c.Database.URL) }},
	{"session.dm_scope", nil, func(c *Config, _ string) field.Field { return field.Choice(&c.Session.DMScope, dmScopes) }},
	{"session.identity_links.*", nil, identityLink},
	{"session.daily_reset", nil, func(c *Config, _ string) field.Field { return field.TimeOfDay(&c.Session.DailyReset) }},
	{"session.idle_minutes", nil, func(c *Config, _ string) field.Field {
		return field.Number(&c.Session.IdleMinutes, 0, 525_600)
	}},
	{"session.idle_unload", nil, func(c *Config, _ string) field.Field {
		return field.Span(&c.Session.IdleUnload, time.Second, 24*time.Hour)
	}},
	{"session.archive_days", nil, func(c *Config, _ string) field.Field { return field.Number(&c.Session.ArchiveDays, 0, 36_500) }},
	{"approvals.expires", nil, func(c *Config, _ string) field.Field {
		return field.Span(&c.Approvals.Expires, time.Minute, 365*24*time.Hour)
	}},
	{"policy[].tool", nil, func(c *Config, n string) field.Field {
		return field.Text(&c.rule(n).Tool, "a tool name", field.OneLine)
	}},
	{"policy[].effect", nil, func(c *Config, n string) field.Field { return field.Choice(&c.rule(n).Effect, effects) }},
	{"policy[].pattern", nil, func(c *Config, n string) field.Field {
		return field.Text(&c.rule(n).Pattern, "a pattern on one line", field.OneLine)
	}},
	{"policy[].agent", nil, func(c *Config, n string) field.Field {
		return field.Text(&c.rule(n).Agent, "an agent's name", chela.ValidName)
	}},
	{"policy[].channel", nil, func(c *Config, n string) field.Field {
		return field.Text(&c.rule(n).Channel, "a channel's name", chela.ValidName)
	}},
	{"policy[].group", nil, func(c *Config, n string) field.Field {
		return field.Text(&c.rule(n).Group, "a group's id", field.OneLine)
	}},
	{"policy[].sender", nil, func(c *Config, n string) field.Field {
		return field.Text(&c.rule(n).Sender, "a sender's id", field.OneLine)
	}},
	{"policy[].verdict", nil, func(c *Config, n string) field.Field { return field.Choice(&c.rule(n).Verdict, verdicts) }},
	{"tools.http_allow", nil, func(c *Config, _ string) field.Field {
		return field.List(&c.Tools.HTTPAllow, `a list of hosts, addresses or prefixes such as "10.1.0.0/16"`, address.IsHostOrPrefix)
	}},
	{"log.level", nil, func(c *Config, _ string) field.Field {
		return field.Choice(&c.Log.Level, []string{"debug", "info", "warn", "error"})
	}},
	{"log.format", nil, func(c *Config, _ string) field.Field { return field.Choice(&c.Log.Format, []string{"text", "json"}) }},
}

// later are keys and sections of the documentation that this version does not
// act on. They are refused, because a limit that is accepted and not kept is
// worse than none.
var later = []string{
	"channels", "agents.*.subagents",
}

// maxSpent bounds what a limit of money can be.
const maxSpent = 100_000_000 * chela.USD

// debounce is a time in milliseconds. Written as 0 it is none, which is -1 where
// 0 leaves it open.
func debounce(at *int) field.Field {
	ms := max(*at, 0)
	f := field.Number(&ms, 0, int(chela.MaxDebounce/time.Millisecond))
	put := f.Put
	f.Put = func(v any) error {
		if err := put(v); err != nil {
			return err
		}
		*at = ms
		if ms == 0 {
			*at = -1
		}
		return nil
	}
	return f
}

func toolNames(at *[]string) field.Field {
	return field.List(at, "a list of tool names", field.AnyText)
}

func model(at *string) field.Field {
	return field.Text(at, `provider/model, such as "offline/rules"`, isModel)
}

func identityLink(c *Config, peer string) field.Field {
	person := c.Session.IdentityLinks[peer]
	f := field.Text(&person, "the name of a person", field.OneLine)
	put := f.Put
	f.Put = func(v any) error {
		if err := put(v); err != nil {
			return err
		}
		c.Session.IdentityLinks[peer] = person
		return nil
	}
	f.Show = func() string { return c.Session.IdentityLinks[peer] }
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
