package chela

import "time"

// A Session is a standing relation with an agent, named by its key. It holds a
// lane, settings, where answers go, and threads.
type Session struct {
	Key       SessionKey `json:"key"`
	Agent     string     `json:"agent"`
	Thread    ThreadID   `json:"thread"` // the current one
	Settings  Settings   `json:"settings"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
}

// SwitchTo makes t the current thread. Elevated rights were given for the
// conversation before and end with it.
func (s *Session) SwitchTo(t ThreadID) {
	if s.Thread != t {
		s.Thread, s.Settings.Elevated = t, ""
	}
}

// Settings are what a session overrides or remembers, stored as one JSON
// value. The zero value overrides nothing. Token counts are not here: they are
// sums over the ledger, which cannot drift.
type Settings struct {
	// What names the session to people.
	Label       string `json:"label,omitempty"`
	DisplayName string `json:"display_name,omitempty"`
	ChatType    string `json:"chat_type,omitempty"` // "direct", "group" or "room"
	Subject     string `json:"subject,omitempty"`   // of a group
	Space       string `json:"space,omitempty"`     // team or server the group is in

	// Which model, and how it speaks.
	Model         string        `json:"model,omitempty"` // provider/model
	AuthProfile   string        `json:"auth_profile,omitempty"`
	Thinking      ThinkingLevel `json:"thinking,omitempty"`
	Verbose       string        `json:"verbose,omitempty"`        // "off", "on" or "full"
	Reasoning     string        `json:"reasoning,omitempty"`      // "off", "on" or "stream"
	ResponseUsage string        `json:"response_usage,omitempty"` // "off", "tokens" or "full"

	// What it may do.
	Elevated     string `json:"elevated,omitempty"`      // "off", "ask", "on" or "full"
	ExecHost     string `json:"exec_host,omitempty"`     // sandbox that runs commands
	ExecSecurity string `json:"exec_security,omitempty"` // "deny", "allowlist" or "full"
	ExecAsk      string `json:"exec_ask,omitempty"`      // "off", "on-miss" or "always"
	SendPolicy   string `json:"send_policy,omitempty"`   // "allow" or "deny"

	// How messages wait.
	Queue           QueueSettings `json:"queue,omitzero"`
	GroupActivation string        `json:"group_activation,omitempty"` // "mention" or "always"

	// What happened to it.
	Compactions     int        `json:"compactions,omitempty"`
	MemoryFlushes   int        `json:"memory_flushes,omitempty"`
	MemoryFlushedAt time.Time  `json:"memory_flushed_at,omitzero"`
	SpawnedBy       SessionKey `json:"spawned_by,omitempty"`
	ArchivedAt      time.Time  `json:"archived_at,omitzero"` // left out of lists until somebody speaks in it

	// Where its answers go, and what the heartbeat last said there.
	Last            Origin    `json:"last,omitzero"`
	HeartbeatText   string    `json:"heartbeat_text,omitempty"`
	HeartbeatSentAt time.Time `json:"heartbeat_sent_at,omitzero"`

	// The skills that the session was begun with.
	Skills []string `json:"skills,omitempty"`
}
