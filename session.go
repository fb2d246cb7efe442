package chela

import "time"

// A Session is a standing relation with an agent, named by its key. It holds a
// lane, settings, the address for answers, and threads.
type Session struct {
	Key       SessionKey `json:"key"`
	Agent     string     `json:"agent"`
	Thread    ThreadID   `json:"thread"` // the current one
	Settings  Settings   `json:"settings"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
}

// SwitchTo makes t the current thread. Elevated rights belong to the previous
// conversation and end with it; a session with elevation "off" keeps it, as a
// new thread must not have more rights than the owner allowed.
func (s *Session) SwitchTo(t ThreadID) {
	if s.Thread == t {
		return
	}
	s.Thread = t
	if s.Settings.Elevated != "off" {
		s.Settings.Elevated = ""
	}
}

// Settings are the overrides and persistent facts of a session, stored as one
// JSON value. The zero value overrides nothing. Token counts are not here: they
// are sums over the ledger, which cannot drift.
type Settings struct {
	// Display names.
	Label       string `json:"label,omitempty"`
	DisplayName string `json:"display_name,omitempty"`
	ChatType    string `json:"chat_type,omitempty"` // "direct", "group" or "room"
	Subject     string `json:"subject,omitempty"`   // of a group
	Space       string `json:"space,omitempty"`     // team or server that contains the group

	// Model and output.
	Model         string        `json:"model,omitempty"` // provider/model
	AuthProfile   string        `json:"auth_profile,omitempty"`
	Thinking      ThinkingLevel `json:"thinking,omitempty"`
	Verbose       string        `json:"verbose,omitempty"`        // "off", "on" or "full"
	Reasoning     string        `json:"reasoning,omitempty"`      // "off", "on" or "stream"
	ResponseUsage string        `json:"response_usage,omitempty"` // "off", "tokens" or "full"

	// Permissions.
	Profile      Profile `json:"profile,omitempty"`
	Elevated     string  `json:"elevated,omitempty"`      // "off", "ask", "on" or "full"
	ExecHost     string  `json:"exec_host,omitempty"`     // sandbox for commands
	ExecSecurity string  `json:"exec_security,omitempty"` // "deny", "allowlist" or "full"
	ExecAsk      string  `json:"exec_ask,omitempty"`      // "off", "on-miss" or "always"
	SendPolicy   string  `json:"send_policy,omitempty"`   // "allow" or "deny"

	// Queueing.
	Queue           QueueSettings `json:"queue,omitzero"`
	GroupActivation string        `json:"group_activation,omitempty"` // "mention" or "always"

	// History.
	Compactions     int        `json:"compactions,omitempty"`
	MemoryFlushes   int        `json:"memory_flushes,omitempty"`
	MemoryFlushedAt time.Time  `json:"memory_flushed_at,omitzero"`
	SpawnedBy       SessionKey `json:"spawned_by,omitempty"`
	ArchivedAt      time.Time  `json:"archived_at,omitzero"` // hidden from lists until its next message

	// Address of answers, and the last heartbeat message sent there.
	Last            Origin    `json:"last,omitzero"`
	HeartbeatText   string    `json:"heartbeat_text,omitempty"`
	HeartbeatSentAt time.Time `json:"heartbeat_sent_at,omitzero"`

	// Skills active since the session's start.
	Skills []string `json:"skills,omitempty"`
}
