package store

import (
	"context"

	"chela"
)

var fileLabelTable = tableOf[chela.FileLabel]("label of a file", "file_labels", `workspace path provenance? created_at`)

// FileLabels returns the labels of the files of a workspace, by path.
func (r *Read) FileLabels(ctx context.Context, workspace string) ([]chela.FileLabel, error) {
	return fileLabelTable.all(ctx, r.tx, `where workspace = $1 order by path`, workspace)
}

// AddFileLabels adds labels. A file that has one keeps it.
func (w *Write) AddFileLabels(ctx context.Context, labels ...chela.FileLabel) error {
	changed := false
	for _, l := range labels {
		added, err := fileLabelTable.addNew(ctx, w.tx, l, "workspace, path")
		if err != nil {
			return err
		}
		changed = changed || added
	}
	if !changed {
		return nil
	}
	return w.tx.Changed(ctx, TopicFileLabels)
}

// RemoveFileLabel removes a label, and reports whether there was one.
func (w *Write) RemoveFileLabel(ctx context.Context, workspace, path string) (bool, error) {
	removed, err := w.tx.Did(ctx, `delete from file_labels where workspace = $1 and path = $2`, workspace, path)
	if err != nil || !removed {
		return removed, err
	}
	return true, w.tx.Changed(ctx, TopicFileLabels)
}

// RemoveFileLabels removes all labels of a workspace.
func (w *Write) RemoveFileLabels(ctx context.Context, workspace string) error {
	removed, err := w.tx.Did(ctx, `delete from file_labels where workspace = $1`, workspace)
	if err != nil || !removed {
		return err
	}
	return w.tx.Changed(ctx, TopicFileLabels)
}
