package agents

import (
	"slices"
	"strings"

	"chela"
)

// kindOf returns what sessions share their frames by: the kind of those in which
// nobody talks to the agent, and the main one for all others.
func kindOf(session chela.SessionKey) chela.KeyKind {
	key, err := chela.ParseSessionKey(session)
	switch {
	case err != nil:
		return chela.KeyMain
	case key.Kind == chela.KeyHook:
		return chela.KeyCron
	case key.IsGroup():
		return chela.KeyGroup
	case key.Kind == chela.KeyJob || key.Kind == chela.KeySubagent || key.Kind == chela.KeyCron:
		return key.Kind
	default:
		return chela.KeyMain
	}
}

// only names the tools that are for sessions of one kind.
var only = map[string]chela.KeyKind{
	"job_plan":  chela.KeyJob,
	"job_step":  chela.KeyJob,
	"job_parts": chela.KeyJob,
	"report":    chela.KeyCron,
}

// withheld names, by kind of session, the tools that are not for it; a name that
// ends in "*" stands for all that begin so. What works by itself begins nothing
// that outlives it, and talks to nobody that it was not told to talk to.
var withheld = map[chela.KeyKind][]string{
	chela.KeyJob:      {"create_job", "routine_*", "message"},
	chela.KeySubagent: {"create_job", "routine_*", "message", "sessions_send"},
	chela.KeyCron: {
		"create_job", "sessions_spawn", // its run would have ended before they do
		"routine_create", "routine_update", "routine_delete", "routine_fire",
	},
	// What works by itself sees what is the owner's alone, and nobody knows who in a
	// group asked for it.
	chela.KeyGroup: {
		"create_job", "list_jobs", "job_*", "cancel_job", "routine_*", "schedule_run_output", "sessions_*", "agents_list", "message",
	},
}

// offered reports whether sessions of a kind are offered a tool. Nests says that
// subagents may spawn some themselves.
func offered(tool string, kind chela.KeyKind, nests bool) bool {
	if its, ok := only[tool]; ok {
		return its == kind
	}
	if kind == chela.KeySubagent && tool == "sessions_spawn" {
		return nests
	}
	return !slices.ContainsFunc(withheld[kind], func(name string) bool {
		family, ok := strings.CutSuffix(name, "*")
		return name == tool || ok && strings.HasPrefix(tool, family)
	})
}

// single reports whether a turn is one call of the model, which has no use for
// tools: that of a lightweight routine.
func single(t chela.Turn) bool {
	return t.Origin.Followed() && t.Origin.Channel == chela.ChannelRoutine && t.Overrides.Steps == 1
}
