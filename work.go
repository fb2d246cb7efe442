package chela

import (
	"encoding/json"
	"time"
)

// A Work is something that waits for a time or a retry.
type Work struct {
	ID        WorkID          `json:"id"`
	Kind      string          `json:"kind"`
	Key       string          `json:"key"` // unique among unfinished work of its kind
	Args      json.RawMessage `json:"args"`
	State     WorkState       `json:"state"`
	Attempts  int             `json:"attempts"`
	Error     string          `json:"error,omitempty"` // of the last attempt
	DueAt     time.Time       `json:"due_at"`
	Owner     NodeID          `json:"owner,omitempty"` // who performs it now
	CreatedAt time.Time       `json:"created_at"`
}

// WorkState says how far a piece of work is.
type WorkState string

// The states of work.
const (
	WorkDue     WorkState = "due"     // waits for its time
	WorkRunning WorkState = "running" // claimed by Owner until DueAt
	WorkDone    WorkState = "done"
	WorkFailed  WorkState = "failed" // attempts used up
)

var workMoves = map[WorkState][]WorkState{
	WorkDue:     {WorkRunning, WorkDone},
	WorkRunning: {WorkDue, WorkRunning, WorkDone, WorkFailed},
}

// CanMove reports whether work may go from s to to.
func (s WorkState) CanMove(to WorkState) bool { return canMove(workMoves, s, to) }

// WorkFollow is the kind of work that looks what became of a followed turn. Its
// key is the turn's id and the state that it moved to.
const WorkFollow = "follow"
