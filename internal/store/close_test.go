package store_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/store"
)

// TestCloseTellsEveryWriter closes a store while many write. Who was told nil
// finds its row after opening again, and nobody else does.
func TestCloseTellsEveryWriter(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		place := d.place(t)
		s := open(t, place)
		const writers = 32
		var begun, all sync.WaitGroup
		begun.Add(writers)
		written := make([][]chela.SessionKey, writers)
		for i := range writers {
			all.Go(func() {
				for n := 0; ; n++ {
					key := chela.SessionKey(fmt.Sprintf("%d_%d", i, n))
					err := s.Write(t.Context(), "test", create(key))
					if n == 0 {
						begun.Done()
					}
					if err != nil {
						if chela.KindOf(err) != chela.Unavailable {
							t.Errorf("writer %d: %v", i, err)
						}
						return
					}
					written[i] = append(written[i], key)
				}
			})
		}
		begun.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()

		want := slices.Sorted(slices.Values(slices.Concat(written...)))
		if diff := cmp.Diff(want, keys(t, open(t, place))); diff != "" {
			t.Errorf("sessions (-told +there)\n%s", diff)
		}
		if len(want) < writers {
			t.Errorf("only %d rows were written", len(want))
		}
	})
}

// TestCloseLetsWaitingWritersFinish closes while a group waits for the writer.
func TestCloseLetsWaitingWritersFinish(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		place := sqlite.place(t)
		s := open(t, place)
		var closing sync.WaitGroup
		late := func(w *store.Write) error {
			closing.Go(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			return create("b")(w)
		}
		wantKinds(t, together(t, s, create("a"), late, create("c")), "", "", "")
		closing.Wait()
		wantKinds(t, []error{s.Write(t.Context(), "test", create("d"))}, chela.Unavailable)
		wantKeys(t, open(t, place), "a", "b", "c")
	})
}

// TestCloseWaitsForTransactions closes while one function reads and one
// writes.
func TestCloseWaitsForTransactions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		place := d.place(t)
		s := open(t, place)
		free, begun, closed := make(chan struct{}), make(chan struct{}, 2), make(chan struct{})
		errs := make([]error, 2)
		var all sync.WaitGroup
		all.Go(func() {
			errs[0] = s.Write(t.Context(), "test", func(w *store.Write) error {
				begun <- struct{}{}
				<-free
				return create("a")(w)
			})
		})
		all.Go(func() {
			errs[1] = s.Read(t.Context(), func(r *store.Read) error {
				begun <- struct{}{}
				<-free
				_, err := r.Counts(t.Context())
				return err
			})
		})
		<-begun
		<-begun
		all.Go(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			close(closed)
		})
		for s.Read(t.Context(), func(*store.Read) error { return nil }) == nil {
		} // until it is closing
		select {
		case <-closed:
			t.Error("closed under transactions that had begun")
		default:
		}
		close(free)
		all.Wait()
		wantKinds(t, errs, "", "")
		wantKeys(t, open(t, place), "a")
	})
}
