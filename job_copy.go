package chela

import "time"

// A JobCopy is the copy of a trusted folder in which a job works, with its parts and
// subagents. The folder stays as it is until the changes of the copy are applied.
type JobCopy struct {
	Job     JobID      `json:"job"`
	Agent   string     `json:"agent"`  // of the source
	Source  SessionKey `json:"source"` // session whose workspace was copied
	State   CopyState  `json:"state"`
	Files   int        `json:"files"` // that were copied
	Bytes   int64      `json:"bytes"`
	LeftOut string     `json:"left_out,omitempty"` // files that were not copied, and why
	Changes []Preimage `json:"changes,omitempty"`  // of the folder, by the last apply

	ChangedBy string    `json:"changed_by,omitempty"` // who applied, undid or discarded it
	ChangedAt time.Time `json:"changed_at"`           // when its state changed
}

// Workspace returns the name of the copy among workspaces.
func (c JobCopy) Workspace() string { return c.Agent + ".jobs/" + string(c.Job) }

// CopyState is the state of the copy of a folder.
type CopyState string

// The states of a copy.
const (
	CopyWanted    CopyState = "wanted"    // it is made before the job begins
	CopyMade      CopyState = "made"      // the job works or worked in it
	CopyApplying  CopyState = "applying"  // the folder is being changed; it completes even after a crash
	CopyApplied   CopyState = "applied"   // the folder has the changes; the copy is removed
	CopyUndoing   CopyState = "undoing"   // the folder is being restored; it completes even after a crash
	CopyUndone    CopyState = "undone"    // the folder is as it was; the changes can be applied again
	CopyDiscarded CopyState = "discarded" // the copy is removed with its changes
)

// A job that begins again after its changes were applied works in a new copy.
var copyMoves = map[CopyState][]CopyState{
	CopyWanted:    {CopyMade, CopyDiscarded},
	CopyMade:      {CopyApplying, CopyDiscarded},
	CopyApplying:  {CopyApplied, CopyMade, CopyUndone},
	CopyApplied:   {CopyUndoing, CopyWanted},
	CopyUndoing:   {CopyUndone, CopyApplied},
	CopyUndone:    {CopyApplying, CopyWanted},
	CopyDiscarded: {CopyWanted},
}

// CanMove reports whether the transition from s to to is legal.
func (s CopyState) CanMove(to CopyState) bool { return canMove(copyMoves, s, to) }
