package api

import (
	"fmt"

	"chela"
)

// A JobDiff holds the changes of a job in its copy of a folder.
type JobDiff struct {
	Job       chela.JobID     `json:"job"` // whose copy it is
	State     chela.CopyState `json:"state"`
	Files     []JobChange     `json:"files,omitempty"`
	Text      string          `json:"text,omitempty"`       // unified differences as Git writes them
	Cut       bool            `json:"cut,omitempty"`        // the text lacks files, as it would be too long
	LeftOut   []string        `json:"left_out,omitempty"`   // changes that are not applied, and why
	NotCopied string          `json:"not_copied,omitempty"` // files of the folder that the job does not see

	Provenance chela.Provenance `json:"provenance,omitzero"` // who could have written it
}

// A JobChange is the change of one file by a job.
type JobChange struct {
	Path       string        `json:"path"`
	From       string        `json:"from,omitempty"` // its former path
	Kind       JobChangeKind `json:"kind"`
	Added      int           `json:"added,omitempty"` // lines
	Removed    int           `json:"removed,omitempty"`
	Binary     bool          `json:"binary,omitempty"`
	Executable bool          `json:"executable,omitempty"` // it can be executed now
}

// JobChangeKind is the kind of the change of a file.
type JobChangeKind string

// The kinds of changes.
const (
	ChangeAdded   JobChangeKind = "added"
	ChangeChanged JobChangeKind = "changed"
	ChangeDeleted JobChangeKind = "deleted"
	ChangeRenamed JobChangeKind = "renamed"
	ChangeMode    JobChangeKind = "mode" // its permissions alone
)

// Line describes the change in one line.
func (c JobChange) Line() string {
	line := string(c.Kind) + " " + c.Path
	switch {
	case c.From != "":
		line = string(c.Kind) + " " + c.From + " to " + c.Path
	case c.Binary:
		line += " (binary)"
	case c.Kind != ChangeMode:
		line += fmt.Sprintf(" (+%d -%d)", c.Added, c.Removed)
	}
	if c.Executable && c.Kind != ChangeChanged {
		line += ", executable"
	}
	return line
}
