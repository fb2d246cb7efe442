package folder

import (
	"context"
	"slices"
	"sync"

	"chela"
	"chela/internal/store"
)

// Labels are the labels of files in a store. They are read for every call that
// works on files and seldom written, so those of each workspace are kept until they change.
// They are safe for concurrent use.
type Labels struct {
	store *store.Store

	mu   sync.Mutex
	kept map[string]keptLabels // guarded by mu; by workspace
}

// keptLabels are the labels of the files of a workspace after a number of changes.
type keptLabels struct {
	changes int64
	labels  []chela.FileLabel
}

// maxKept bounds the labels that are kept of a workspace, and the workspaces.
const maxKept = 1000

// FileLabels returns the labels of the files of a workspace.
func (ls *Labels) FileLabels(ctx context.Context, workspace string) ([]chela.FileLabel, error) {
	changes, current := ls.store.Changes(ctx, store.TopicFileLabels) // before they are read
	ls.mu.Lock()
	kept, ok := ls.kept[workspace]
	ls.mu.Unlock()
	if ok && current && kept.changes == changes {
		return slices.Clone(kept.labels), nil
	}
	labels, err := store.Find(ctx, ls.store, func(r *store.Read) ([]chela.FileLabel, error) { return r.FileLabels(ctx, workspace) })
	if err != nil || !current || len(labels) > maxKept {
		return labels, err
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.kept == nil || len(ls.kept) >= maxKept {
		ls.kept = map[string]keptLabels{}
	}
	ls.kept[workspace] = keptLabels{changes, labels}
	return slices.Clone(labels), nil
}

// AddFileLabels adds labels. A file that has one keeps it.
func (ls *Labels) AddFileLabels(ctx context.Context, labels ...chela.FileLabel) error {
	return ls.store.Write(ctx, "file_label.add", func(w *store.Write) error { return w.AddFileLabels(ctx, labels...) })
}

// RemoveFileLabel removes a label, if there is one.
func (ls *Labels) RemoveFileLabel(ctx context.Context, workspace, path string) error {
	return ls.store.Write(ctx, "file_label.remove", func(w *store.Write) error {
		_, err := w.RemoveFileLabel(ctx, workspace, path)
		return err
	})
}
