package storetest

import (
	"testing"
	"time"

	"chela"
	"chela/internal/store"
)

// checkFileLabels: the first label of a file stays until it is removed, and workspaces have
// their own.
func checkFileLabels(t *testing.T, s *store.Store) {
	ctx := t.Context()
	label := func(workspace, path, source string) chela.FileLabel {
		return chela.FileLabel{
			Workspace: workspace, Path: path, Provenance: chela.Provenance{Integrity: chela.IntegrityOutside, Source: source},
			CreatedAt: time.UnixMicro(1_700_000_000_000_001).UTC(),
		}
	}
	a, b, others := label("main", "in/a", "page"), label("main", "b", "page"), label("other", "in/a", "mail")
	all := func(agent string) func(*store.Read) ([]chela.FileLabel, error) {
		return func(r *store.Read) ([]chela.FileLabel, error) { return r.FileLabels(ctx, agent) }
	}
	write(t, s, func(w *store.Write) error { return w.AddFileLabels(ctx) })
	same(t, nil, read(t, s, all("main")))
	write(t, s, func(w *store.Write) error { return w.AddFileLabels(ctx, a, b, others) })
	write(t, s, func(w *store.Write) error { return w.AddFileLabels(ctx, label("main", "b", "another page")) })
	same(t, []chela.FileLabel{b, a}, read(t, s, all("main")))
	for _, want := range []bool{true, false} {
		write(t, s, func(w *store.Write) error {
			did, err := w.RemoveFileLabel(ctx, "main", "b")
			if did != want {
				t.Errorf("removed %v, want %v", did, want)
			}
			return err
		})
	}
	same(t, []chela.FileLabel{a}, read(t, s, all("main")))
	same(t, []chela.FileLabel{others}, read(t, s, all("other")))
}
