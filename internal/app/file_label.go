package app

import (
	"context"

	"chela"
	"chela/internal/store"
)

// fileLabels are the labels of files in the store.
type fileLabels struct{ store *store.Store }

// FileLabels returns the labels of the files of a workspace.
func (f fileLabels) FileLabels(ctx context.Context, workspace string) ([]chela.FileLabel, error) {
	return store.Find(ctx, f.store, func(r *store.Read) ([]chela.FileLabel, error) { return r.FileLabels(ctx, workspace) })
}

// AddFileLabels adds labels. A file that has one keeps it.
func (f fileLabels) AddFileLabels(ctx context.Context, labels ...chela.FileLabel) error {
	return f.store.Write(ctx, "file_label.add", func(w *store.Write) error { return w.AddFileLabels(ctx, labels...) })
}

// RemoveFileLabel removes a label, if there is one.
func (f fileLabels) RemoveFileLabel(ctx context.Context, workspace, path string) error {
	return f.store.Write(ctx, "file_label.remove", func(w *store.Write) error {
		_, err := w.RemoveFileLabel(ctx, workspace, path)
		return err
	})
}
