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
	Attempts  int             `json:"attempts"`        // with the one that runs
	Error     string          `json:"error,omitempty"` // of the last attempt
	DueAt     time.Time       `json:"due_at"`          // when the next attempt may begin, or this one might; of failed work, when it failed
	Owner     NodeID          `json:"owner,omitempty"` // who performs it now
	Token     int64           `json:"token,omitempty"` // grows with each claim; who has an older one lost the work
	Until     time.Time       `json:"until,omitzero"`  // how long Owner has it, unless that is renewed
	CreatedAt time.Time       `json:"created_at"`
}

// WorkState says how far a piece of work is.
type WorkState string

// The states of work.
const (
	WorkDue     WorkState = "due"     // waits for its time
	WorkRunning WorkState = "running" // claimed by Owner
	WorkDone    WorkState = "done"    // and forgotten
	WorkFailed  WorkState = "failed"  // not tried any more
)

var workMoves = map[WorkState][]WorkState{
	WorkDue:     {WorkRunning, WorkDone},
	WorkRunning: {WorkDue, WorkDone, WorkFailed},
}

// CanMove reports whether work may go from s to to.
func (s WorkState) CanMove(to WorkState) bool { return canMove(workMoves, s, to) }

// WorkFollow is the kind of work that looks what became of a followed turn. Its
// key is the turn's id and the state that it moved to.
const WorkFollow = "follow"
