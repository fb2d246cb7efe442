package chela

import "time"

// A TextKind is the kind of a stored text that enters prompts and has a label.
type TextKind string

// The kinds of texts.
const (
	TextDocument TextKind = "document" // of an agent's memory
	TextRoutine  TextKind = "routine"
	TextFile     TextKind = "file" // of an agent's workspace, or a folder of files
)

// A Vouch records that the owner read a text below folder (see [Provenance]) and
// trusts it: one version of it counts as the owner's. The next change has the label
// of who makes it.
type Vouch struct {
	ID         VouchID    `json:"id"`
	Kind       TextKind   `json:"kind"`
	Agent      string     `json:"agent"`
	Name       string     `json:"name"`       // path of a document or file, name of a routine
	Version    string     `json:"version"`    // that was read; of a file or a folder, of its content
	Provenance Provenance `json:"provenance"` // that the text had
	By         string     `json:"by"`         // the surface or the token of the owner
	At         time.Time  `json:"at"`
}
