package self

// This part of the package holds the tools that connect sessions:
// sessions_spawn, sessions_list, sessions_history, sessions_send and
// agents_list. Access to the sessions is injected.

import (
	"context"
	"fmt"

	"chela"
)

// A Spawn is the request of sessions_spawn. It is keyed by the call: a repeated
// request creates no second subagent.
type Spawn struct {
	Call    chela.ToolCall
	Agent   string // empty for the caller's own
	Text    string
	Label   string
	Options chela.JobOptions
}

// A SpawnResult is the outcome of a Spawn.
type SpawnResult struct {
	Job     chela.Job
	Applied bool   // the requested model is in use
	Warning string // requested options that were not applied
}

// sessions are the sessions of a home. They are safe for concurrent use.
type sessions interface {
	// Spawn starts a subagent. It is Denied if subagents are not allowed.
	Spawn(ctx context.Context, s Spawn) (SpawnResult, error)

	// Agents returns the agents that may be used for subagents.
	Agents(agent string) []string

	// Sessions returns the sessions of an agent, most recently used first: of a
	// kind, or of all kinds if it is empty.
	Sessions(ctx context.Context, agent string, kind chela.KeyKind, limit int) ([]chela.Session, error)

	// History returns the newest entries of the current thread of an agent's
	// session, oldest first. A session of another agent is NotFound.
	History(ctx context.Context, agent string, key chela.SessionKey, limit int) ([]chela.Entry, error)

	// Send puts a message into the lane of an existing session of the caller's
	// agent; any other is NotFound. The message is keyed by the call: a
	// repeated one is accepted once.
	Send(ctx context.Context, to chela.SessionKey, text string, call chela.ToolCall) error
}

// sessionTools makes the tools.
type sessionTools struct{ sessions }

// SessionTools returns the tools.
func SessionTools(of sessions) []chela.Tool {
	d := sessionTools{of}
	return []chela.Tool{
		define("sessions_spawn", d.spawn, spawnInput.judge), define("sessions_list", d.list, nil),
		define("sessions_history", d.history, nil), define("sessions_send", d.send, sendInput.judge), define("agents_list", d.agents, nil),
	}
}

// isPrivate reports whether the owner is the only person in a session, so that
// the contents of the agent's other sessions may be revealed there.
func isPrivate(session chela.SessionKey) bool {
	key, err := chela.ParseSessionKey(session)
	if err != nil {
		return false
	}
	switch key.Kind {
	case chela.KeyMain, chela.KeyJob, chela.KeySubagent, chela.KeyCron, chela.KeyHook:
		return true
	default:
		return false
	}
}

// findSession returns the key of a session that the session of a call may see: its own
// and, in a private session, all of its agent. Others are NotFound, as if they
// did not exist.
func findSession(c chela.ToolCall, named string) (chela.SessionKey, error) {
	unknown := chela.E(chela.NotFound, fmt.Sprintf("there is no session %.80q", named)).WithHint("sessions_list lists those that there are")
	key, err := chela.ParseSessionKey(chela.SessionKey(named))
	switch {
	case err != nil:
		return "", unknown
	case chela.SessionKey(named) == c.Session:
		return c.Session, nil
	case !isPrivate(c.Session) || key.Agent != "" && key.Agent != c.Agent:
		return "", unknown
	}
	return chela.SessionKey(named), nil
}
