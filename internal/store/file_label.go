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
	for _, l := range labels {
		if _, err := fileLabelTable.addNew(ctx, w.tx, l, "workspace, path"); err != nil {
			return err
		}
	}
	return nil
}

// RemoveFileLabel removes a label, and reports whether there was one.
func (w *Write) RemoveFileLabel(ctx context.Context, workspace, path string) (bool, error) {
	return w.tx.Did(ctx, `delete from file_labels where workspace = $1 and path = $2`, workspace, path)
}
