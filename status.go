package chela

import "time"

// A Status says what is in a home and who holds it.
type Status struct {
	Home             string `json:"home"`
	Database         string `json:"database"` // "sqlite" or "postgres"
	Model            string `json:"model"`
	Sandbox          string `json:"sandbox"`          // the mode
	Daemon           bool   `json:"daemon"`           // a daemon runs on the home
	Listen           string `json:"listen,omitempty"` // address of the daemon
	Version          string `json:"version,omitempty"`
	Sessions         int    `json:"sessions"`
	TurnsOpen        int    `json:"turns_open"`
	ApprovalsPending int    `json:"approvals_pending"`
	InboxWaiting     int    `json:"inbox_waiting"`
	OutboxPending    int    `json:"outbox_pending"`

	Jobs     map[JobState]int `json:"jobs"` // that are to come to something yet, with parts and subagents
	Routines RoutineStatus    `json:"routines"`
}

// A RoutineStatus says how the routines of a home fare.
type RoutineStatus struct {
	Off     bool `json:"off"`     // the configuration lets none fire by itself
	Enabled int  `json:"enabled"` // those that come with chela are not counted
	Idle    int  `json:"idle"`    // that are not enabled

	RunsWaiting int `json:"runs_waiting"` // for a place
	RunsRunning int `json:"runs_running"`

	Next   string    `json:"next,omitempty"` // the name of the one that is due next
	NextAt time.Time `json:"next_at,omitzero"`

	Heartbeat   bool      `json:"heartbeat"`             // an agent looks around unasked
	HeartbeatAt time.Time `json:"heartbeat_at,omitzero"` // when one did last
}
