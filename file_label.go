package chela

import "time"

// A FileLabel is the label of a file in a workspace, or of several: a turn with a text below folder wrote it. Files without a label are those of the
// owner's folder.
type FileLabel struct {
	Workspace  string     `json:"workspace"` // an agent, or one of its folders, such as "main/site"
	Path       string     `json:"path"`      // relative to the workspace, with "/"; "*" and anything after it stands for every file
	Provenance Provenance `json:"provenance,omitzero"`
	CreatedAt  time.Time  `json:"created_at"`
}

// EveryFile is the first character of the path of a label of all files.
const EveryFile = "*"
