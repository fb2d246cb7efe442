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

// A RewindOptions says how the head of a thread is to move.
type RewindOptions struct {
	Turns     int    `json:"turns,omitempty" check:"min=0 max=1000"` // undo: how many; 1 without it
	To        string `json:"to,omitempty" check:"is=line max=256"`   // restore: a checkpoint, an entry or a turn
	KeepFiles bool   `json:"keep_files,omitempty"`
	Key       string `json:"key,omitempty" check:"is=line max=200"` // the same one is carried out once
}

// A NewCheckpoint names the place where a thread is.
type NewCheckpoint struct {
	Name string `json:"name,omitempty" check:"is=mark max=64"` // the next free number without it
	Key  string `json:"key,omitempty" check:"is=line max=200"` // the same one is carried out once
}

// A NewBranch begins a thread at a place in another one.
type NewBranch struct {
	From string `json:"from,omitempty" check:"is=line max=256"` // a checkpoint, an entry or a turn; the head without it
	Key  string `json:"key,omitempty" check:"is=line max=200"`  // the same one is carried out once
}

// A ThreadRef names a thread.
type ThreadRef struct {
	ID chela.ThreadID `path:"id" handle:"thr_"`
}

// A ThreadMove moves the head of a thread.
type ThreadMove struct {
	ThreadRef
	To RewindOptions `body:"required"`
}

// A CheckpointRequest creates a checkpoint in a thread.
type CheckpointRequest struct {
	ThreadRef
	Checkpoint NewCheckpoint `body:"required"`
}

// A BranchRequest creates a branch of a thread.
type BranchRequest struct {
	ThreadRef
	Branch NewBranch `body:"required"`
}

// The operations on the tree of a thread. A thread or a position that does not exist
// is NotFound. A move stops a running turn first and waits for its end; files that
// changed since are a Conflict whose detail shows the difference.
var (
	ThreadsShow = Define[ThreadRef, Thread]("threads.show", "GET /api/threads/{id}", chela.ScopeRead,
		"Show a thread and the positions to which it can move")
	ThreadsUndo = Define[ThreadMove, chela.Rewind]("threads.undo", "POST /api/threads/{id}/undo", chela.ScopeChat,
		"Undo the last turns of a thread").With(long, joined)
	ThreadsRedo = Define[ThreadMove, chela.Rewind]("threads.redo", "POST /api/threads/{id}/redo", chela.ScopeChat,
		"Revert the last undo or restore of a thread").With(long, joined)
	ThreadsRestore = Define[ThreadMove, chela.Rewind]("threads.restore", "POST /api/threads/{id}/restore", chela.ScopeChat,
		"Move a thread to a checkpoint, an entry or the end of a turn").With(long, joined)
	ThreadsCheckpoint = Define[CheckpointRequest, chela.Checkpoint]("threads.checkpoint", "POST /api/threads/{id}/checkpoint", chela.ScopeChat,
		"Name the current position of a thread").With(created, joined)
	ThreadsBranch = Define[BranchRequest, chela.Thread]("threads.branch", "POST /api/threads/{id}/branch", chela.ScopeChat,
		"Create a thread that branches off another one").With(created, joined)
)
