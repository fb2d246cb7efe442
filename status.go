package chela

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
}
