package storetest

import (
	"testing"

	"chela"
	"chela/internal/store"
)

func checkSessionRows(t *testing.T, s *store.Store) {
	ctx := t.Context()
	whole := full[chela.Session]()
	bare := chela.Session{Key: "k", Agent: "a"}
	empty := chela.Session{Key: "l", Agent: "a", Settings: chela.Settings{Label: "", Skills: nil}, CreatedAt: at(0), UpdatedAt: at(0)}
	for _, want := range []chela.Session{whole, bare, empty} {
		write(t, s, func(w *store.Write) error { return w.CreateSession(ctx, want, chela.ClassMain) })
		same(t, want, read(t, s, func(r *store.Read) (chela.Session, error) { return r.Session(ctx, want.Key) }))
	}
	miss(t, s, func(r *store.Read) (chela.Session, error) { return r.Session(ctx, "nobody") })
	miss(t, s, func(r *store.Read) (chela.Session, error) { return r.Session(ctx, "") })
}

func checkSessionPages(t *testing.T, s *store.Store) {
	ctx := t.Context()
	write(t, s, func(w *store.Write) error {
		for _, key := range []chela.SessionKey{"c", "a", "e", "b", "d"} {
			if err := w.CreateSession(ctx, chela.Session{Key: key, Agent: "main"}, chela.ClassMain); err != nil {
				return err
			}
		}
		return nil
	})
	for _, page := range []struct {
		after chela.SessionKey
		limit int
		want  []chela.SessionKey
	}{
		{"", 2, []chela.SessionKey{"a", "b"}},
		{"b", 2, []chela.SessionKey{"c", "d"}},
		{"d", 2, []chela.SessionKey{"e"}},
		{"e", 2, nil},
		{"bb", 1, []chela.SessionKey{"c"}},
		{"", 0, nil},
	} {
		got := read(t, s, func(r *store.Read) ([]chela.Session, error) { return r.Sessions(ctx, page.after, page.limit) })
		same(t, page.want, ids(got, func(s chela.Session) chela.SessionKey { return s.Key }))
	}
}

func checkCreateSession(t *testing.T, s *store.Store) {
	ctx := t.Context()
	old := chela.Session{Key: "k", Agent: "old", CreatedAt: at(0), UpdatedAt: at(0)}
	write(t, s, func(w *store.Write) error { return w.CreateSession(ctx, old, chela.ClassJob) })
	write(t, s, func(w *store.Write) error {
		return w.CreateSession(ctx, chela.Session{Key: "k", Agent: "new"}, chela.ClassCron)
	})
	same(t, old, read(t, s, func(r *store.Read) (chela.Session, error) { return r.Session(ctx, "k") }))

	lane := store.Lane{Lease: chela.Lease{Session: "k"}, Class: chela.ClassJob}
	same(t, lane, read(t, s, func(r *store.Read) (store.Lane, error) { return r.Lane(ctx, "k") }))
}

func checkSaveSession(t *testing.T, s *store.Store) {
	ctx := t.Context()
	before := chela.Session{Key: "k", Agent: "main", CreatedAt: at(0), UpdatedAt: at(0)}
	other := chela.Session{Key: "other", Agent: "main"}
	after := full[chela.Session]()
	after.Key = "k"
	write(t, s, func(w *store.Write) error {
		if err := w.CreateSession(ctx, before, chela.ClassMain); err != nil {
			return err
		}
		if err := w.CreateSession(ctx, other, chela.ClassMain); err != nil {
			return err
		}
		return w.SaveSession(ctx, after)
	})
	want := after
	want.Agent, want.CreatedAt = before.Agent, before.CreatedAt
	same(t, want, read(t, s, func(r *store.Read) (chela.Session, error) { return r.Session(ctx, "k") }))
	same(t, other, read(t, s, func(r *store.Read) (chela.Session, error) { return r.Session(ctx, "other") }))

	refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.SaveSession(ctx, chela.Session{Key: "nobody"}) })
}
