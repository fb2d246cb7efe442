// Package sessions holds the tools by which sessions know of each other:
// sessions_spawn, sessions_list, sessions_history, sessions_send and agents_list.
// Who keeps sessions is handed in.
package sessions

import (
	"context"
	"fmt"

	"chela"
)

// A Spawn is what sessions_spawn asks for. The call names the request: the same one
// makes no second subagent.
type Spawn struct {
	Call    chela.ToolCall
	Agent   string // empty for the caller's own
	Text    string
	Label   string
	Options chela.JobOptions
}

// A Spawned is what became of it.
type Spawned struct {
	Job     chela.Job
	Applied bool   // the model that was asked for is the one that works
	Warning string // what was not done as asked
}

// Desk keeps sessions. All fields are required; the functions may be called by
// several goroutines at once.
type Desk struct {
	// Spawn begins a subagent. It is Denied where that is not allowed.
	Spawn func(ctx context.Context, s Spawn) (Spawned, error)

	// Agents returns the agents that one may spawn subagents with.
	Agents func(agent string) []string

	// Sessions returns sessions of an agent, the last used first: of a kind, or of
	// all kinds if it is empty.
	Sessions func(ctx context.Context, agent string, kind chela.KeyKind, limit int) ([]chela.Session, error)

	// History returns the newest entries of the current thread of a session of an
	// agent, oldest first. A session of another one is NotFound.
	History func(ctx context.Context, agent string, key chela.SessionKey, limit int) ([]chela.Entry, error)

	// Send puts a message into the lane of a session that exists and is of the
	// caller's agent; another is NotFound. The call names it: the same one is taken
	// once.
	Send func(ctx context.Context, to chela.SessionKey, text string, call chela.ToolCall) error
}

// Tools returns the tools.
func Tools(d Desk) []chela.Tool {
	return []chela.Tool{d.spawn(), d.list(), d.history(), d.send(), d.agents()}
}

// private reports whether only the owner, or nobody, talks in a session: what the
// agent's other sessions hold may be told there.
func private(session chela.SessionKey) bool {
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

// find returns the key of a session that the session of a call may know of: its
// own, and where it is private all of its agent. Others look as if they did not
// exist.
func find(c chela.ToolCall, named string) (chela.SessionKey, error) {
	unknown := chela.E(chela.NotFound, fmt.Sprintf("there is no session %.80q", named)).WithHint("sessions_list lists those that there are")
	key, err := chela.ParseSessionKey(chela.SessionKey(named))
	switch {
	case err != nil:
		return "", unknown
	case chela.SessionKey(named) == c.Session:
		return c.Session, nil
	case !private(c.Session) || key.Agent != "" && key.Agent != c.Agent:
		return "", unknown
	}
	return chela.SessionKey(named), nil
}
