package store_test

import (
	"database/sql"
	"testing"

	"chela"
	"chela/internal/platform/pgtest"
	"chela/internal/store"
)

// backend returns the number of the server's process that runs the
// transaction.
func backend(t *testing.T, db *sql.DB) (pid int) {
	t.Helper()
	const query = `select pid from pg_stat_activity
		where datname = current_database() and pid <> pg_backend_pid() and state = 'idle in transaction'`
	return count(t, db, query)
}

func TestPostgresTellsOfLostConnections(t *testing.T) {
	t.Parallel()
	place := postgres.place(t)
	s, db := open(t, place), postgres.raw(t, place)
	terminate := func() {
		if _, err := db.ExecContext(t.Context(), "select pg_terminate_backend($1, 5000)", backend(t, db)); err != nil {
			t.Error(err)
		}
	}
	for name, fn := range map[string]func(*store.Write) error{
		"in a statement": func(w *store.Write) error {
			if err := create("a")(w); err != nil {
				return err
			}
			return w.Exec(t.Context(), "select pg_terminate_backend(pg_backend_pid())")
		},
		"between statements": func(w *store.Write) error {
			if err := create("b")(w); err != nil {
				return err
			}
			terminate()
			return create("c")(w)
		},
		"before the commit": func(w *store.Write) error {
			err := create("d")(w)
			terminate()
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := s.Write(t.Context(), "test", fn)
			wantKinds(t, []error{err}, chela.Unavailable)
			if chela.HintOf(err) == "" {
				t.Errorf("no hint: %v", err)
			}
			wantKeys(t, s)
		})
	}
	wantKinds(t, []error{s.Write(t.Context(), "test", create("e"))}, "")
	wantKeys(t, s, "e")
}

// TestPostgresTellsOfFailedCommits has a reference that is looked at only when
// the transaction is committed.
func TestPostgresTellsOfFailedCommits(t *testing.T) {
	t.Parallel()
	place := postgres.place(t)
	s := open(t, place)
	must(t, postgres.raw(t, place), "alter table lanes alter constraint lanes_session_fkey deferrable initially deferred")
	err := s.Write(t.Context(), "test", func(w *store.Write) error {
		if err := create("a")(w); err != nil {
			return err
		}
		return w.Exec(t.Context(), insert("lanes", columns{"session": "'lost'"}))
	})
	wantKinds(t, []error{err, s.Write(t.Context(), "test", create("b"))}, chela.Conflict, "")
	wantKeys(t, s, "b")
}

// TestPostgresRepeatsTransactions lets two transactions wait for each other's
// rows. The server ends one of them, which is run again.
func TestPostgresRepeatsTransactions(t *testing.T) {
	t.Parallel()
	s := open(t, postgres.place(t))
	for _, key := range []chela.SessionKey{"a", "b"} {
		if err := s.Write(t.Context(), "test", create(key)); err != nil {
			t.Fatal(err)
		}
	}
	met := make(chan struct{})
	runs := make([]int, 2)
	cross := func(i int, first, second chela.SessionKey) error {
		return s.Write(t.Context(), "test", func(w *store.Write) error {
			if _, _, err := w.Arrive(t.Context(), first); err != nil {
				return err
			}
			if runs[i]++; runs[i] == 1 {
				select { // both hold one row now
				case met <- struct{}{}:
				case <-met:
				}
			}
			_, _, err := w.Arrive(t.Context(), second)
			return err
		})
	}
	other := make(chan error)
	go func() { other <- cross(1, "b", "a") }() // awaited below
	wantKinds(t, []error{cross(0, "a", "b"), <-other}, "", "")
	if runs[0]+runs[1] < 3 {
		t.Errorf("the functions ran %v times: nothing was repeated", runs)
	}
	for _, key := range []chela.SessionKey{"a", "b"} {
		err := s.Read(t.Context(), func(r *store.Read) error {
			lane, err := r.Lane(t.Context(), key)
			if lane.Arrivals != 2 {
				t.Errorf("lane %s counts %d arrivals, want 2", key, lane.Arrivals)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestPostgresRestart restarts the server under a store that holds several
// connections.
func TestPostgresRestart(t *testing.T) {
	t.Parallel()
	cluster := pgtest.New(t)
	place := store.Config{URL: cluster.URL(t)}
	s := open(t, place)
	err := s.Write(t.Context(), "test", func(w *store.Write) error {
		if err := create("a")(w); err != nil {
			return err
		}
		cluster.Restart(t)
		return create("b")(w)
	})
	wantKinds(t, []error{err}, chela.Unavailable)

	wantKeys(t, s)
	wantKinds(t, []error{s.Write(t.Context(), "test", create("c"))}, "")
	cluster.Restart(t)
	lost := 0
	for err := s.Write(t.Context(), "test", create("d")); err != nil; err = s.Write(t.Context(), "test", create("d")) {
		lost++
		if chela.KindOf(err) != chela.Unavailable || lost > 1 {
			t.Fatalf("attempt %d after the restart: %v", lost, err)
		}
	}
	wantKeys(t, s, "c", "d")
}

func TestPostgresRefusals(t *testing.T) {
	t.Parallel()
	place := postgres.place(t)
	if err := open(t, place).Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		add  string
		kind chela.Kind
	}{
		"no such database": {"&dbname=nothing_here", chela.Unavailable},
		"no such user":     {"&user=nobody_here", chela.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			if err := refuseToOpen(t, store.Config{URL: place.URL + c.add}, c.kind); chela.HintOf(err) == "" {
				t.Errorf("no hint: %v", err)
			}
		})
	}
	readOnly := store.Config{URL: place.URL + "&default_transaction_read_only=on"}
	s := open(t, readOnly)
	wantKinds(t, []error{s.Write(t.Context(), "test", create("a"))}, chela.Unavailable)
	wantKeys(t, s)
}

// TestPostgresReplacesLostConnections ends every connection of a store that
// nobody uses. Nobody hears of it.
func TestPostgresReplacesLostConnections(t *testing.T) {
	t.Parallel()
	place := postgres.place(t)
	s, db := open(t, place), postgres.raw(t, place)
	lose := func() {
		const others = `select count(pg_terminate_backend(pid, 5000)) from pg_stat_activity
			where datname = current_database() and pid <> pg_backend_pid()`
		if n := count(t, db, others); n == 0 {
			t.Error("there was no connection to lose")
		}
	}
	lose()
	wantKinds(t, []error{s.Write(t.Context(), "test", create("a"))}, "")
	lose()
	wantKeys(t, s, "a")
}

// TestPostgresKeepsNothingAfterQueuedFailures breaks transactions by a
// statement whose outcome their functions never look at.
func TestPostgresKeepsNothingAfterQueuedFailures(t *testing.T) {
	t.Parallel()
	s := open(t, postgres.place(t))
	for name, broken := range map[string]struct {
		fn   func(*store.Write) error
		kind chela.Kind
	}{
		"a move": {func(w *store.Write) error {
			return w.SaveSession(t.Context(), chela.Session{Key: "nobody"})
		}, chela.Conflict},
		"a row": {func(w *store.Write) error {
			return w.CreateThread(t.Context(), chela.Thread{ID: "thr_a", Session: "nobody"})
		}, chela.Conflict},
		"a lease": {func(w *store.Write) error {
			return w.HoldLane(t.Context(), store.Lease{Session: "a", Owner: "somebody"})
		}, chela.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			last := func(w *store.Write) error {
				_ = create("a")(w)
				_ = broken.fn(w)
				return nil
			}
			between := func(w *store.Write) error {
				_ = create("a")(w)
				_ = broken.fn(w)
				_, err := w.Counts(t.Context())
				_ = create("b")(w)
				if chela.KindOf(err) != broken.kind {
					t.Errorf("the next statement met %v", err)
				}
				return nil
			}
			errs := []error{s.Write(t.Context(), "test", last), s.Write(t.Context(), "test", between)}
			wantKinds(t, errs, broken.kind, broken.kind)
			wantKeys(t, s)
		})
	}
}
