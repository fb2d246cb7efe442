package storetest

import (
	"testing"

	"chela"
	"chela/internal/store"
)

func checkCheckpoints(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f, other := found(t, s, "f"), found(t, s, "other")
	whole := full[chela.Checkpoint]()
	whole.Session, whole.Thread = f.key, f.thread
	add := func(c chela.Checkpoint) func(*store.Write) error {
		return func(w *store.Write) error { return w.AddCheckpoint(ctx, c) }
	}
	bare := chela.Checkpoint{Session: f.key, Thread: f.thread, Name: "b", CreatedAt: at(1)}
	again := bare
	again.Name = "a"
	elsewhere := bare
	elsewhere.Session, elsewhere.Thread, elsewhere.Key = other.key, other.thread, whole.Key
	for _, c := range []chela.Checkpoint{whole, bare, again, elsewhere} {
		write(t, s, add(c))
		same(t, c, read(t, s, func(r *store.Read) (chela.Checkpoint, error) { return r.Checkpoint(ctx, c.Thread, c.Name) }))
		refuse(t, s, chela.Conflict, add(c))
	}
	again.Name, again.Key = "c", whole.Key
	refuse(t, s, chela.Conflict, add(again))
	miss(t, s, func(r *store.Read) (chela.Checkpoint, error) { return r.Checkpoint(ctx, f.thread, "nothing") })
	list := read(t, s, func(r *store.Read) ([]chela.Checkpoint, error) { return r.Checkpoints(ctx, f.thread) })
	same(t, []string{"a", "b", whole.Name}, ids(list, func(c chela.Checkpoint) string { return c.Name }))
	for key, want := range map[string]string{whole.Key: whole.Name, "": "", "other": ""} {
		got := read(t, s, func(r *store.Read) (chela.Checkpoint, error) {
			c, ok, err := r.CheckpointByKey(ctx, f.key, key)
			if ok != (want != "") {
				t.Errorf("key %q is known: %v", key, ok)
			}
			return c, err
		})
		same(t, want, got.Name)
	}
}

func checkBranches(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f, other := found(t, s, "f"), found(t, s, "other")
	fork := func(id, origin chela.ThreadID, n int, key string) chela.Branch {
		write(t, s, func(w *store.Write) error { return w.CreateThread(ctx, f.newThread(id)) })
		return chela.Branch{Session: f.key, Thread: id, Origin: origin, Key: key, CreatedAt: at(n)}
	}
	add := func(b chela.Branch) func(*store.Write) error {
		return func(w *store.Write) error { return w.AddBranch(ctx, b) }
	}
	whole := full[chela.Branch]()
	whole.Session, whole.Thread, whole.Origin, whole.CreatedAt = f.key, "thr_b", f.thread, at(2)
	fork(whole.Thread, "", 0, "")
	for _, b := range []chela.Branch{whole, fork("thr_a", f.thread, 2, ""), fork("thr_c", f.thread, 1, ""), fork("thr_d", "thr_a", 0, "")} {
		write(t, s, add(b))
		refuse(t, s, chela.Conflict, add(b))
	}
	refuse(t, s, chela.Conflict, add(fork("thr_e", f.thread, 3, whole.Key)))
	of := func(thread chela.ThreadID) []chela.ThreadID {
		list := read(t, s, func(r *store.Read) ([]chela.Branch, error) { return r.Branches(ctx, thread) })
		return ids(list, func(b chela.Branch) chela.ThreadID { return b.Thread })
	}
	same(t, []chela.ThreadID{"thr_c", "thr_a", "thr_b"}, of(f.thread))
	same(t, []chela.ThreadID{"thr_d", "thr_a"}, of("thr_a"))
	same(t, nil, of(other.thread))
	for thread, origin := range map[chela.ThreadID]chela.ThreadID{"thr_d": "thr_a", "thr_a": f.thread, f.thread: ""} {
		got := read(t, s, func(r *store.Read) (chela.Branch, error) {
			b, ok, err := r.BranchOf(ctx, thread)
			if ok != (origin != "") {
				t.Errorf("%s branched off: %v", thread, ok)
			}
			return b, err
		})
		same(t, origin, got.Origin)
	}
	for key, ok := range map[string]bool{whole.Key: true, "": false, "other": false} {
		got := read(t, s, func(r *store.Read) (chela.Branch, error) {
			b, found, err := r.BranchByKey(ctx, f.key, key)
			if found != ok {
				t.Errorf("key %q is known: %v", key, found)
			}
			return b, err
		})
		if ok {
			same(t, whole, got)
		}
	}
}
