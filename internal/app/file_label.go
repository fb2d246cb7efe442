package app

import (
	"context"

	"chela"
	"chela/internal/store"
)

// fileLabels are the labels of files in the store.
type fileLabels struct{ store *store.Store }

// FileLabels returns the labels of an agent's files.
func (f fileLabels) FileLabels(ctx context.Context, agent string) ([]chela.FileLabel, error) {
	return store.Find(ctx, f.store, func(r *store.Read) ([]chela.FileLabel, error) { return r.FileLabels(ctx, agent) })
}

// AddFileLabels adds labels. A file that has one keeps it.
func (f fileLabels) AddFileLabels(ctx context.Context, labels ...chela.FileLabel) error {
	return f.store.Write(ctx, "file_label.add", func(w *store.Write) error { return w.AddFileLabels(ctx, labels...) })
}

// RemoveFileLabel removes a label, if there is one.
func (f fileLabels) RemoveFileLabel(ctx context.Context, agent, path string) error {
	return f.store.Write(ctx, "file_label.remove", func(w *store.Write) error {
		_, err := w.RemoveFileLabel(ctx, agent, path)
		return err
	})
}
