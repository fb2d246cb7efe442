package chela

import "time"

// A Folder is a folder of the owner's machine that an agent works in, after the owner
// trusted it. It has a session of its own, whose workspace it is. Names are unique for
// an agent.
type Folder struct {
	Agent       string     `json:"agent"`
	Name        string     `json:"name"` // as in ValidName
	Path        string     `json:"path"` // absolute, without symbolic links
	Session     SessionKey `json:"session"`
	TrustedBy   string     `json:"trusted_by"`
	TrustedAt   time.Time  `json:"trusted_at"`
	ForgottenAt time.Time  `json:"forgotten_at,omitzero"` // its session has no files since then

	Roots []FolderRoot `json:"roots,omitempty"` // further folders that its session may read
}

// A FolderRoot is a folder that the session of another one may read and not change.
type FolderRoot struct {
	Name    string    `json:"name"` // as in ValidName; models see it as /roots/NAME
	Path    string    `json:"path"` // absolute, without symbolic links
	AddedBy string    `json:"added_by"`
	AddedAt time.Time `json:"added_at"`
}

// Workspace returns the name of the folder among workspaces.
func (f Folder) Workspace() string { return f.Agent + "/" + f.Name }

// FolderKey returns the key of the session of an agent's folder.
func FolderKey(agent, name string) SessionKey {
	return Key{Kind: KeyMain, Agent: agent, Thread: name}.Session()
}
