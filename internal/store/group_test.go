package store_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/store"
)

// create returns a function that adds a session.
func create(key chela.SessionKey) func(*store.Write) error {
	return func(w *store.Write) error {
		return w.CreateSession(context.Background(), chela.Session{Key: key, Agent: "main"}, chela.ClassMain)
	}
}

// keys lists the sessions in a store.
func keys(t testing.TB, s *store.Store) []chela.SessionKey {
	t.Helper()
	var found []chela.SessionKey
	err := s.Read(t.Context(), func(r *store.Read) error {
		sessions, err := r.Sessions(t.Context(), "", 10_000)
		for _, session := range sessions {
			found = append(found, session.Key)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// kinds returns the kinds of errors.
func kinds(errs []error) []chela.Kind {
	var all []chela.Kind
	for _, err := range errs {
		all = append(all, chela.KindOf(err))
	}
	return all
}

func wantKinds(t testing.TB, errs []error, want ...chela.Kind) {
	t.Helper()
	if diff := cmp.Diff(want, kinds(errs)); diff != "" {
		t.Errorf("kinds of errors (-want +got)\n%s%v", diff, errs)
	}
}

func wantKeys(t testing.TB, s *store.Store, want ...chela.SessionKey) {
	t.Helper()
	if diff := cmp.Diff(want, keys(t, s)); diff != "" {
		t.Errorf("sessions (-want +got)\n%s", diff)
	}
}

// together writes with functions that share one commit, and returns their
// errors: they wait, in order, for a function that holds the only writer. It
// is called in a synctest bubble.
func together(t testing.TB, s *store.Store, fns ...func(*store.Write) error) []error {
	t.Helper()
	errs := make([]error, len(fns))
	free := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		if err := s.Write(t.Context(), "hold", func(*store.Write) error { <-free; return nil }); err != nil {
			t.Error(err)
		}
	})
	for i, fn := range fns {
		synctest.Wait()
		all.Go(func() { errs[i] = s.Write(t.Context(), "together", fn) })
	}
	synctest.Wait()
	close(free)
	all.Wait()
	return errs
}

func TestGroupRollsBackFailuresAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, sqlite.place(t))
		cause := errors.New("changed my mind")
		errs := together(t, s,
			create("a"),
			func(w *store.Write) error { return errors.Join(create("b")(w), cause) },
			create("c"),
			func(w *store.Write) error { _ = create("d")(w); panic("a defect") },
			func(w *store.Write) error {
				return errors.Join(create("e")(w), w.SaveSession(t.Context(), chela.Session{Key: "x"}))
			},
			func(w *store.Write) error {
				if _, err := w.Session(t.Context(), "c"); err != nil {
					return err // those before it in the group are there
				}
				return create("f")(w)
			},
		)
		wantKinds(t, errs, "", chela.Internal, "", chela.Internal, chela.Conflict, "")
		if !errors.Is(errs[1], cause) {
			t.Errorf("a function failed with %v, its caller was told %v", cause, errs[1])
		}
		wantKeys(t, s, "a", "c", "f")
	})
}

func TestGroupOfFailuresLeavesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, sqlite.place(t))
		failing := func(w *store.Write) error { return errors.Join(create("a")(w), chela.E(chela.Denied, "no")) }
		wantKinds(t, together(t, s, failing, failing), chela.Denied, chela.Denied)
		wantKeys(t, s)
		wantKinds(t, together(t, s, create("b"), create("c")), "", "")
		wantKeys(t, s, "b", "c")
	})
}

// TestGroupHearsOfAFailedCommit breaks a reference in a way that SQLite looks
// at only when the transaction is committed.
func TestGroupHearsOfAFailedCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, sqlite.place(t))
		breaking := func(w *store.Write) error {
			if err := w.Exec(t.Context(), "pragma defer_foreign_keys = 1"); err != nil {
				return err
			}
			return w.Exec(t.Context(), insert("lanes", columns{"session": "'lost'"}))
		}
		failing := func(*store.Write) error { return chela.E(chela.Denied, "no") }
		errs := together(t, s, create("a"), breaking, failing, create("b"))
		wantKinds(t, errs, chela.Conflict, chela.Conflict, chela.Denied, chela.Conflict)
		wantKeys(t, s)

		wantKinds(t, together(t, s, breaking), chela.Conflict) // alone
		wantKinds(t, together(t, s, create("a"), create("b")), "", "")
		wantKeys(t, s, "a", "b")
	})
}

// TestGroupSurvivesTheEndOfItsTransaction makes SQLite end the transaction by
// itself, as it does when the disk is full. Those who do not fit are told; the
// others are written.
func TestGroupSurvivesTheEndOfItsTransaction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, sqlite.place(t))
		limit := func(pages string) {
			err := s.Write(t.Context(), "limit", func(w *store.Write) error {
				return w.Exec(t.Context(), "pragma max_page_count = "+pages)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		large := func(w *store.Write) error {
			session := chela.Session{Key: "large", Agent: strings.Repeat("x", 1<<20)}
			return w.CreateSession(t.Context(), session, chela.ClassMain)
		}
		hiding := func(w *store.Write) error { _ = large(w); return nil } // a defect
		limit("100")
		errs := together(t, s, create("a"), large, create("b"), hiding, create("c"))
		wantKinds(t, errs, "", chela.Unavailable, "", chela.Internal, "")
		wantKeys(t, s, "a", "b", "c")
		limit("1000")
		wantKinds(t, together(t, s, large), "")
	})
}

// TestGroupsAreBounded lets more functions wait than share one commit.
func TestGroupsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, sqlite.place(t))
		var fns []func(*store.Write) error
		for range 600 {
			fns = append(fns, func(w *store.Write) error {
				if err := create("a")(w); err != nil {
					return err
				}
				_, _, err := w.Arrive(t.Context(), "a")
				return err
			})
		}
		if err := errors.Join(together(t, s, fns...)...); err != nil {
			t.Fatal(err)
		}
		var lane store.Lane
		err := s.Read(t.Context(), func(r *store.Read) (err error) {
			lane, err = r.Lane(t.Context(), "a")
			return err
		})
		if err != nil || lane.Arrivals != 600 {
			t.Errorf("%d arrivals, error %v", lane.Arrivals, err)
		}
	})
}
