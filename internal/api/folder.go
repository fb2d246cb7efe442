package api

import "chela"

// A FolderFilter selects folders.
type FolderFilter struct {
	Agent string `query:"agent" check:"is=name" flag:"agent" help:"only folders of this agent"`
	Path  string `query:"path" check:"max=4096" help:"only the folder at this absolute path"`
	After string `query:"after" check:"min=3 max=200" help:"the agent and the name of a folder, such as main/site"`
	Limit int    `query:"limit"`

	Forgotten bool `query:"forgotten" flag:"all" help:"also folders that the owner does not trust, or no longer"`
}

// A NewFolder trusts a folder, or records that the owner does not trust it.
type NewFolder struct {
	Path  string `json:"path" check:"min=1 max=4096" arg:"DIR" help:"the folder"` // absolute
	Agent string `json:"agent,omitempty" check:"is=name" flag:"agent" help:"the agent that works in it; main without it"`

	Decline bool `json:"decline,omitempty"` // it is recorded as forgotten, so that the owner is not asked again
}

// A FolderRef names a folder.
type FolderRef struct {
	Name  string `path:"name" arg:"NAME" help:"the name of a folder"`
	Agent string `query:"agent" check:"is=name" flag:"agent" help:"the agent that works in it; main without it"`
}

// A NewFolderRoot lets the session of a folder read another folder.
type NewFolderRoot struct {
	FolderRef
	Body FolderRootBody `body:"required"`
}

// A FolderRootBody is the folder that the session of another one is to read.
type FolderRootBody struct {
	Path string `json:"path" check:"min=1 max=4096" arg:"DIR" help:"the folder to read"` // absolute
}

// A FolderRootRef names a folder that the session of another one may read.
type FolderRootRef struct {
	FolderRef
	Root string `path:"root" arg:"ROOT" help:"the name of a folder below /roots"`
}

// The operations on folders. A folder that cannot be a workspace, such as the one of
// the user, is Denied; one that does not exist is NotFound.
var (
	FoldersList = Define[FolderFilter, Page[chela.Folder]]("folders.list", "GET /api/folders", chela.ScopeRead,
		"List the folders that agents work in")
	FoldersTrust = Define[NewFolder, chela.Folder]("folders.trust", "POST /api/folders", chela.ScopeAdmin,
		"Let an agent work in a folder: it may read and change all files there")
	FoldersForget = Define[FolderRef, chela.Folder]("folders.forget", "DELETE /api/folders/{name}", chela.ScopeAdmin,
		"Let no agent work in a folder any more; its session keeps its threads")
	FoldersAttach = Define[NewFolderRoot, chela.Folder]("folders.attach", "POST /api/folders/{name}/roots", chela.ScopeAdmin,
		"Let the session of a folder read another folder, and not change it")
	FoldersDetach = Define[FolderRootRef, chela.Folder]("folders.detach", "DELETE /api/folders/{name}/roots/{root}", chela.ScopeAdmin,
		"Let the session of a folder no longer read another folder")
)
