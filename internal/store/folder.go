package store

import (
	"context"

	"chela"
)

var folderTable = tableOf[chela.Folder]("folder", "folders", `agent name path session trusted_by trusted_at forgotten_at roots?`)

// Folders returns all folders, forgotten ones included, by agent and name.
func (r *Read) Folders(ctx context.Context) ([]chela.Folder, error) {
	return folderTable.all(ctx, r.tx, `order by agent, name`)
}

// FolderOf returns the folder that is the workspace of a session, or false if there is
// none.
func (r *Read) FolderOf(ctx context.Context, key chela.SessionKey) (chela.Folder, bool, error) {
	return folderTable.first(ctx, r.tx, `where session = $1`, key)
}

// AddFolder adds a folder. It is a Conflict if the agent has one of that name or path.
func (w *Write) AddFolder(ctx context.Context, f chela.Folder) error {
	return folderTable.add(ctx, w.tx, f)
}

var saveFolder = folderTable.update("trusted_by trusted_at forgotten_at roots", "session = $1")

// SaveFolder stores who trusts a folder, and since when, or that it was forgotten, and its
// roots.
func (w *Write) SaveFolder(ctx context.Context, f chela.Folder) error {
	return saveFolder.move(ctx, w.tx, f, f.Session)
}
