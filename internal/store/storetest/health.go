package storetest

import (
	"testing"

	"chela/internal/store"
)

func checkToolHealth(t *testing.T, s *store.Store) {
	ctx := t.Context()
	health := func(tool string) store.ToolHealth {
		return read(t, s, func(r *store.Read) (store.ToolHealth, error) { return r.ToolHealth(ctx, tool) })
	}
	same(t, store.ToolHealth{Tool: "shell"}, health("shell"))
	whole := full[store.ToolHealth]()
	for _, want := range []store.ToolHealth{whole, {Tool: whole.Tool, Failures: 9}, {Tool: "well"}, {Tool: "a", Failures: 1}} {
		write(t, s, func(w *store.Write) error { return w.SaveToolHealth(ctx, want) })
		same(t, want, health(want.Tool))
	}
	ill := read(t, s, func(r *store.Read) ([]store.ToolHealth, error) { return r.IllTools(ctx) })
	same(t, []string{whole.Tool, "a"}, ids(ill, func(h store.ToolHealth) string { return h.Tool }))
	var locked store.ToolHealth
	write(t, s, func(w *store.Write) (err error) {
		locked, err = w.LockToolHealth(ctx, "new")
		return err
	})
	same(t, store.ToolHealth{Tool: "new"}, locked)
	write(t, s, func(w *store.Write) (err error) {
		locked, err = w.LockToolHealth(ctx, "a")
		return err
	})
	same(t, store.ToolHealth{Tool: "a", Failures: 1}, locked)
	won := winners(t, race(8, func(int) error { // nobody's count is lost
		return s.Write(ctx, "test", func(w *store.Write) error {
			h, err := w.LockToolHealth(ctx, "raced")
			h.Failures++
			if err != nil {
				return err
			}
			return w.SaveToolHealth(ctx, h)
		})
	}))
	same(t, len(won), health("raced").Failures)
}
