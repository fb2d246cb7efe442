package storetest

import (
	"fmt"
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

// checkIdleSessions has sessions whose threads were used later than themselves.
func checkIdleSessions(t *testing.T, s *store.Store) {
	ctx := t.Context()
	for i, used := range []int{5, 30, 10, 20} { // sessions f0 to f3, all of time 0
		f := found(t, s, fmt.Sprint("f", i))
		other := f.newThread(chela.ThreadID(fmt.Sprint("thr_other", i)))
		other.UpdatedAt = at(used)
		write(t, s, func(w *store.Write) error { return w.CreateThread(ctx, other) })
	}
	write(t, s, func(w *store.Write) error {
		return w.CreateSession(ctx, chela.Session{Key: "agent:main:job:f9", Agent: "main", CreatedAt: at(0), UpdatedAt: at(15)}, chela.ClassJob)
	})
	for _, c := range []struct {
		before, limit int
		after         chela.SessionKey
		want          []chela.SessionKey
	}{
		{5, 10, "", nil},
		{6, 10, "", []chela.SessionKey{"agent:main:job:f0"}},
		{20, 10, "", []chela.SessionKey{"agent:main:job:f0", "agent:main:job:f2", "agent:main:job:f9"}},
		{20, 1, "agent:main:job:f0", []chela.SessionKey{"agent:main:job:f2"}},
		{40, 2, "agent:main:job:f2", []chela.SessionKey{"agent:main:job:f3", "agent:main:job:f9"}},
	} {
		got := read(t, s, func(r *store.Read) ([]chela.Session, error) {
			return r.IdleSessions(ctx, at(c.before), c.after, c.limit)
		})
		same(t, c.want, ids(got, func(s chela.Session) chela.SessionKey { return s.Key }))
	}
	for before, want := range map[int]bool{5: false, 6: true} {
		same(t, want, read(t, s, func(r *store.Read) (bool, error) { return r.IsIdle(ctx, "agent:main:job:f0", at(before)) }))
	}
	same(t, false, read(t, s, func(r *store.Read) (bool, error) { return r.IsIdle(ctx, "nobody", at(40)) }))
}

func checkCreateSession(t *testing.T, s *store.Store) {
	ctx := t.Context()
	old := chela.Session{Key: "k", Agent: "old", CreatedAt: at(0), UpdatedAt: at(0)}
	write(t, s, func(w *store.Write) error { return w.CreateSession(ctx, old, chela.ClassJob) })
	write(t, s, func(w *store.Write) error {
		return w.CreateSession(ctx, chela.Session{Key: "k", Agent: "new"}, chela.ClassCron)
	})
	same(t, old, read(t, s, func(r *store.Read) (chela.Session, error) { return r.Session(ctx, "k") }))

	lane := store.Lane{Lease: store.Lease{Session: "k"}, Class: chela.ClassJob}
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
