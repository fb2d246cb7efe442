package api

import "chela"

// A Session is a session with its total usage and cost.
type Session struct {
	chela.Session
	Usage chela.TokenUsage `json:"usage"`
	Cost  chela.MicroUSD   `json:"cost"`
}

// A SettingsPatch changes settings of a session; a missing field stays, and the
// empty text leaves a setting to the agent and the home.
type SettingsPatch struct {
	Label         *string              `json:"label,omitempty" check:"is=label max=200"`
	Model         *string              `json:"model,omitempty" check:"is=anymodel max=256"` // provider/model
	Thinking      *chela.ThinkingLevel `json:"thinking,omitempty"`
	Verbose       *string              `json:"verbose,omitempty" check:"words=off|on|full|"`            // "off", "on" or "full"
	Reasoning     *string              `json:"reasoning,omitempty" check:"words=off|on|stream|"`        // "off", "on" or "stream"
	ResponseUsage *string              `json:"response_usage,omitempty" check:"words=off|tokens|full|"` // "off", "tokens" or "full"
	Elevated      *string              `json:"elevated,omitempty" check:"words=off|ask|on|full|"`       // "off", "ask", "on" or "full"
	Profile       *chela.Profile       `json:"profile,omitempty"`                                       // which calls need an approval
	Thread        *chela.ThreadID      `json:"thread,omitempty"`                                        // the current thread from now on
	Archived      *bool                `json:"archived,omitempty"`

	// How messages of the session wait; nothing, or 0, leaves it to the channel
	// and the home.
	QueueMode       *chela.QueueMode `json:"queue_mode,omitempty"`
	QueueDebounceMS *int             `json:"queue_debounce_ms,omitempty" check:"min=-1 max=60000"` // -1 for none
	QueueCap        *int             `json:"queue_cap,omitempty" check:"min=0 max=256"`
	QueueDrop       *chela.QueueDrop `json:"queue_drop,omitempty"`
}

// ApplyQueue changes queue settings as far as the patch says. It is Invalid if
// they are none then.
func (p SettingsPatch) ApplyQueue(q *chela.QueueSettings) error {
	set(&q.Mode, p.QueueMode)
	set(&q.DebounceMS, p.QueueDebounceMS)
	set(&q.Cap, p.QueueCap)
	set(&q.Drop, p.QueueDrop)
	return q.Check()
}

func set[T any](at, to *T) {
	if to != nil {
		*at = *to
	}
}

// A SessionRef names a session.
type SessionRef struct {
	Key chela.SessionKey `path:"key"`
}

// A SessionFilter selects sessions.
type SessionFilter struct {
	After    chela.SessionKey `query:"after" check:"is=session max=512" help:"the key of a session"`
	Limit    int              `query:"limit"` // 1 to MaxPage; UsualPage when 0
	Archived bool             `query:"archived" help:"also archived sessions"`
}

// A SessionChange changes settings of a session.
type SessionChange struct {
	SessionRef
	Settings SettingsPatch `body:"required"`
}

// The operations on sessions. A session that does not exist is NotFound.
var (
	SessionsList = Define[SessionFilter, Page[chela.Session]]("sessions.list", "GET /api/sessions", chela.ScopeRead,
		"List sessions, by key")
	SessionsShow = Define[SessionRef, Session]("sessions.show", "GET /api/sessions/{key}", chela.ScopeRead,
		"Show a session with its usage and cost")
	SessionsChange = Define[SessionChange, chela.Session]("sessions.change", "PATCH /api/sessions/{key}", chela.ScopeChat,
		"Change settings of a session")
	SessionsArchive = Define[SessionRef, chela.Session]("sessions.archive", "DELETE /api/sessions/{key}", chela.ScopeChat,
		"Archive a session")
	SessionsReset = Define[SessionRef, chela.Thread]("sessions.reset", "POST /api/sessions/{key}/reset", chela.ScopeTalk,
		"Start a new thread in a session; the old one stays")
)
