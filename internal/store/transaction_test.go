package store_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"chela"
	"chela/internal/store"
)

func TestFailedFunctionsLeaveNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		s := open(t, d.place(t))
		cause := errors.New("changed my mind")
		err := s.Write(t.Context(), "session.create", func(w *store.Write) error {
			if err := create("a")(w); err != nil {
				return err
			}
			if _, err := w.Session(t.Context(), "a"); err != nil {
				return err // a transaction sees what it wrote
			}
			return cause
		})
		if !errors.Is(err, cause) || err.Error() != "session.create: changed my mind" {
			t.Errorf("the transaction failed with %v", err)
		}
		wantKeys(t, s)
		if err := s.Read(t.Context(), func(*store.Read) error { return cause }); !errors.Is(err, cause) {
			t.Errorf("the reading transaction failed with %v", err)
		}
	})
}

func TestPanickingFunctionsLeaveNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		s := open(t, d.place(t))
		err := s.Write(t.Context(), "test", func(w *store.Write) error {
			if err := create("a")(w); err != nil {
				return err
			}
			panic("a defect")
		})
		wantKinds(t, []error{err, s.Write(t.Context(), "test", create("b"))}, chela.Internal, "")
		wantKeys(t, s, "b")
	})
}

func TestEndedContextsChangeNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		s := open(t, d.place(t))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		errs := []error{
			s.Write(ctx, "test", func(w *store.Write) error { t.Error("wrote"); return create("a")(w) }),
			s.Read(ctx, func(*store.Read) error { t.Error("read"); return nil }),
		}
		wantKinds(t, errs, chela.Unavailable, chela.Unavailable)
		wantKeys(t, s)
	})
}

// TestEndingContextsLeaveEverythingOrNothing ends a context between two
// statements.
func TestEndingContextsLeaveEverythingOrNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		s := open(t, d.place(t))
		ctx, cancel := context.WithCancel(t.Context())
		err := s.Write(ctx, "test", func(w *store.Write) error {
			if err := create("a")(w); err != nil {
				return err
			}
			cancel()
			_, _, err := w.Arrive(ctx, "a")
			return err
		})
		if err != nil {
			wantKinds(t, []error{err}, chela.Unavailable)
			wantKeys(t, s)
			return
		}
		wantKeys(t, s, "a")
	})
}

func TestReadsSeeOneMoment(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		s := open(t, d.place(t))
		err := s.Read(t.Context(), func(r *store.Read) error {
			before, err := r.Counts(t.Context())
			if err != nil {
				return err
			}
			if err := s.Write(t.Context(), "test", create("a")); err != nil {
				return err
			}
			after, err := r.Counts(t.Context())
			if before != after {
				t.Errorf("counted %v, then %v", before, after)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		wantKeys(t, s, "a")
	})
}

// TestReadsRunBesideEachOther has four transactions open at once, each of which
// then asks something that nobody has asked before.
func TestReadsRunBesideEachOther(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		s := open(t, d.place(t))
		questions := []func(r *store.Read) error{
			func(r *store.Read) error { _, err := r.HeldLanes(t.Context()); return err },
			func(r *store.Read) error { _, err := r.Approvals(t.Context(), 1); return err },
			func(r *store.Read) error { _, err := r.LiveTurns(t.Context(), ""); return err },
			func(r *store.Read) error { _, err := r.NextWork(t.Context()); return err },
		}
		var begun, all sync.WaitGroup
		begun.Add(len(questions))
		for _, ask := range questions {
			all.Go(func() {
				err := s.Read(t.Context(), func(r *store.Read) error {
					begun.Done()
					begun.Wait()
					return ask(r)
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
}

func TestClosedStoresRefuse(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		s := open(t, d.place(t))
		errs := []error{
			s.Close(),
			s.Close(),
			s.Write(t.Context(), "test", create("a")),
			s.Read(t.Context(), func(*store.Read) error { return nil }),
		}
		wantKinds(t, errs, "", "", chela.Unavailable, chela.Unavailable)
	})
}

// TestStoresAgreeOnTheTime opens one database from two machines, one of which has
// a clock that is ten minutes ahead. With SQLite there is one machine only.
func TestStoresAgreeOnTheTime(t *testing.T) {
	t.Parallel()
	local := func() time.Time { return time.Now().Add(10 * time.Minute) }
	cfg := postgres.place(t)
	cfg.Now = time.Now
	right := open(t, cfg)
	cfg.Now = local
	fast := open(t, cfg)
	for _, s := range []*store.Store{right, fast} { // Each transaction measures if need be.
		if err := s.Probe(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if off := fast.Now().Sub(right.Now()); off.Abs() > time.Second {
		t.Errorf("the stores are %v apart", off)
	}
	cfg = sqlite.place(t)
	noon := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	cfg.Now = func() time.Time { return noon }
	if s := open(t, cfg); !s.Now().Equal(noon) {
		t.Errorf("SQLite has %v, want the machine's %v", s.Now(), noon)
	}
}
