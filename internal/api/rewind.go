package api

import "chela"

// A Thread is a thread with where it can go from where it is.
type Thread struct {
	chela.Thread
	Places
}

// Places are where a thread can go.
type Places struct {
	Checkpoints []chela.Checkpoint `json:"checkpoints,omitempty"` // the oldest first
	Branches    []chela.Branch     `json:"branches,omitempty"`    // that begin in it, and the one that made it
	Redo        *chela.Rewind      `json:"redo,omitempty"`        // what redo takes back
}

// A Rewinding says how the head of a thread is to move.
type Rewinding struct {
	Turns     int    `json:"turns,omitempty"` // undo: how many; 1 without it
	To        string `json:"to,omitempty"`    // restore: a checkpoint, an entry or a turn
	KeepFiles bool   `json:"keep_files,omitempty"`
	Key       string `json:"key,omitempty"` // the same one is carried out once
}

// A NewCheckpoint names the place where a thread is.
type NewCheckpoint struct {
	Name string `json:"name,omitempty"` // the next free number without it
	Key  string `json:"key,omitempty"`  // the same one is carried out once
}

// A NewBranch begins a thread at a place in another one.
type NewBranch struct {
	From string `json:"from,omitempty"` // a checkpoint, an entry or a turn; the head without it
	Key  string `json:"key,omitempty"`  // the same one is carried out once
}
