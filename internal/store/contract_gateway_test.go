package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/store"
)

// noon is a moment that both databases keep exactly.
var noon = time.Date(2026, 5, 4, 12, 0, 0, 123_000, time.UTC)

func write(t testing.TB, s *store.Store, fn func(ctx context.Context, w *store.Write) error) error {
	t.Helper()
	return s.Write(t.Context(), "test", func(w *store.Write) error { return fn(t.Context(), w) })
}

func read[T any](t testing.TB, s *store.Store, fn func(ctx context.Context, r *store.Read) (T, error)) (T, error) {
	t.Helper()
	return store.Find(t.Context(), s, func(r *store.Read) (T, error) { return fn(t.Context(), r) })
}

// announce commits events of one session and returns them with their cursors.
func announce(t testing.TB, s *store.Store, key chela.SessionKey, at time.Time, texts ...string) []chela.Event {
	t.Helper()
	var told []chela.Event
	err := s.Tell(t.Context(), "test", func(e chela.Event) { told = append(told, e) }, func(w *store.Write) error {
		var events []chela.Event
		for _, text := range texts {
			events = append(events, chela.Event{Kind: chela.EventEntryAppended, Session: key, Thread: "thr_a", Turn: "turn_a", Text: text, Step: 3})
		}
		return w.Announce(t.Context(), at, events)
	})
	if err != nil {
		t.Fatal(err)
	}
	return told
}

func eventsAfter(t testing.TB, s *store.Store, after chela.Cursor, key chela.SessionKey, limit int) []chela.Event {
	t.Helper()
	events, err := s.Events(t.Context(), after, key, limit)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func lastEvent(t testing.TB, s *store.Store) chela.Cursor {
	t.Helper()
	last, err := s.LastEvent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return last
}

func TestEventsComeBackWhole(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		s := open(t, d.place(t))
		begin := lastEvent(t, s)
		if got := eventsAfter(t, s, begin, "", 10); len(got) != 0 {
			t.Fatalf("a new store has events: %v", got)
		}
		one := announce(t, s, "agent:main:main", noon, "a", "b")
		two := announce(t, s, "agent:other:main", noon.Add(time.Second), "c")
		all := slices.Concat(one, two)
		for i, e := range all {
			if diff := cmp.Diff(all[i+1:], eventsAfter(t, s, e.Cursor, "", 10), cmp.Transformer("none", func(l []chela.Event) []chela.Event {
				return append([]chela.Event{}, l...)
			})); diff != "" {
				t.Errorf("after %s (-want +got)\n%s", e.Text, diff)
			}
		}
		if diff := cmp.Diff(all, eventsAfter(t, s, begin, "", 10)); diff != "" {
			t.Errorf("from the beginning (-want +got)\n%s", diff)
		}
		if diff := cmp.Diff(two, eventsAfter(t, s, begin, "agent:other:main", 1)); diff != "" {
			t.Errorf("of one session (-want +got)\n%s", diff)
		}
		if got := eventsAfter(t, s, one[0].Cursor, "agent:other:main", 10); len(got) != 1 {
			t.Errorf("from the middle of another session's: %v", got)
		}
		if diff := cmp.Diff(one, eventsAfter(t, s, begin, "", 1)); diff != "" {
			t.Errorf("one transaction (-want +got)\n%s", diff)
		}
		if got := lastEvent(t, s); got != two[0].Cursor {
			t.Errorf("the last is %s, want %s", got, two[0].Cursor)
		}
	})
}

func TestHintsAreToldAndNotStored(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		s := open(t, d.place(t))
		begin := lastEvent(t, s)
		for _, wrong := range []error{nil, errors.New("undone")} {
			var told []chela.Event
			hint := chela.Event{Kind: chela.EventElevated, Session: "agent:main:main"}
			err := s.Tell(t.Context(), "test", func(e chela.Event) { told = append(told, e) }, func(w *store.Write) error {
				w.Hint(hint)
				return wrong
			})
			if !errors.Is(err, wrong) || wrong == nil && !slices.Equal(told, []chela.Event{hint}) || wrong != nil && len(told) > 0 {
				t.Errorf("told %+v with error %v", told, err)
			}
		}
		if got := eventsAfter(t, s, begin, "", 10); len(got) > 0 {
			t.Errorf("stored: %+v", got)
		}
	})
}

func TestUnknownCursorsAreRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		s := open(t, d.place(t))
		made := announce(t, s, "agent:main:main", noon, "a")
		tx, row, place, err := made[0].Cursor.Parts()
		if err != nil {
			t.Fatal(err)
		}
		for cursor, want := range map[chela.Cursor]chela.Kind{
			"":                                 chela.Invalid,
			"yesterday":                        chela.Invalid,
			chela.NewCursor(tx, row+1, 0):      chela.NotFound,
			chela.NewCursor(tx+1, row, 0):      chela.NotFound,
			chela.NewCursor(tx, row, place+1):  chela.NotFound,
			chela.NewCursor(1<<62, 1<<62, 1e9): chela.NotFound,
		} {
			_, err := s.Events(t.Context(), cursor, "", 10)
			if chela.KindOf(err) != want {
				t.Errorf("after %q: %v, want %s", cursor, err, want)
			}
		}
	})
}

func TestOldEventsAreForgotten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		s := open(t, d.place(t))
		var made []chela.Event
		for i := range 6 {
			made = append(made, announce(t, s, "agent:main:main", noon.Add(time.Duration(i)*time.Hour), fmt.Sprint(i))...)
		}
		forget := func(before time.Time, keep, want int64) {
			t.Helper()
			var n int64
			err := write(t, s, func(ctx context.Context, w *store.Write) (err error) {
				n, err = w.ForgetEvents(ctx, before, keep)
				return err
			})
			if n != want || err != nil {
				t.Errorf("forgot %d (%v), want %d", n, err, want)
			}
		}
		forget(noon.Add(-time.Hour), 1000, 1) // the mark that a new store begins with
		forget(noon.Add(90*time.Minute), 1000, 2)
		forget(noon, 2, 1)
		if got := eventsAfter(t, s, made[3].Cursor, "", 10); len(got) != 2 {
			t.Errorf("%d events are left after the fourth, want 2", len(got))
		}
		forget(noon.Add(24*time.Hour), 0, 2)
		if got := lastEvent(t, s); got != made[5].Cursor {
			t.Errorf("the last is %s, want %s", got, made[5].Cursor)
		}
	})
}

// TestReadersMissNothing reads on by cursor while many transactions announce
// that end in another order than they began.
func TestReadersMissNothing(t *testing.T) {
	t.Parallel()
	const writers, each1 = 8, 25
	each(t, func(t *testing.T, d database) {
		s := open(t, d.place(t))
		at := lastEvent(t, s)
		var wg sync.WaitGroup
		for i := range writers {
			wg.Go(func() {
				for n := range each1 {
					announce(t, s, chela.SessionKey(fmt.Sprint(i)), noon, fmt.Sprint(i, n), "second")
				}
			})
		}
		seen := map[string]int{}
		for got := 0; got < 2*writers*each1; {
			for _, e := range eventsAfter(t, s, at, "", 7) {
				if e.Cursor.Compare(at) <= 0 {
					t.Fatalf("cursor %s came after %s", e.Cursor, at)
				}
				at = e.Cursor
				got++
				if e.Text != "second" {
					seen[e.Text]++
				}
			}
			if t.Context().Err() != nil {
				t.Fatal(t.Context().Err())
			}
		}
		wg.Wait()
		if len(seen) != writers*each1 {
			t.Errorf("%d events were seen, want %d", len(seen), writers*each1)
		}
	})
}

func TestTokens(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		s := open(t, d.place(t))
		token := chela.Token{ID: "tok_a", Name: "phone", Scope: chela.ScopeChat, CreatedAt: noon}
		add := func(hash string) error {
			return write(t, s, func(ctx context.Context, w *store.Write) error { return w.AddToken(ctx, token, hash) })
		}
		if err := add("h1"); err != nil {
			t.Fatal(err)
		}
		if err := add("h2"); chela.KindOf(err) != chela.Conflict {
			t.Errorf("the same id again: %v", err)
		}
		byHash := func(hash string) (chela.Token, error) {
			return read(t, s, func(ctx context.Context, r *store.Read) (chela.Token, error) { return r.TokenByHash(ctx, hash) })
		}
		if got, err := byHash("h1"); got != token || err != nil {
			t.Errorf("got %v, %v", got, err)
		}
		if _, err := byHash("h3"); chela.KindOf(err) != chela.NotFound {
			t.Errorf("an unknown hash: %v", err)
		}
		revoke := func(id chela.TokenID) error {
			return write(t, s, func(ctx context.Context, w *store.Write) error { return w.RevokeToken(ctx, id, noon.Add(time.Hour)) })
		}
		if err := revoke("tok_b"); chela.KindOf(err) != chela.Conflict {
			t.Errorf("revoking no token: %v", err)
		}
		if err := revoke("tok_a"); err != nil {
			t.Fatal(err)
		}
		if err := revoke("tok_a"); chela.KindOf(err) != chela.Conflict {
			t.Errorf("revoking twice: %v", err)
		}
		token.RevokedAt = noon.Add(time.Hour)
		all, err := read(t, s, func(ctx context.Context, r *store.Read) ([]chela.Token, error) { return r.Tokens(ctx) })
		if diff := cmp.Diff([]chela.Token{token}, all); diff != "" || err != nil {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
	})
}

func TestLogins(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		s := open(t, d.place(t))
		token := chela.Token{ID: "tok_a", Name: "page", Scope: chela.ScopeAdmin, CreatedAt: noon}
		login := func(hash string, at time.Time) {
			t.Helper()
			err := write(t, s, func(ctx context.Context, w *store.Write) error {
				return w.AddLogin(ctx, store.Login{Token: token, ExpiresAt: at.Add(time.Hour)}, hash, at)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		known := func(hash string) (store.Login, error) {
			return read(t, s, func(ctx context.Context, r *store.Read) (store.Login, error) { return r.LoginByHash(ctx, hash) })
		}
		if err := write(t, s, func(ctx context.Context, w *store.Write) error { return w.AddToken(ctx, token, "h") }); err != nil {
			t.Fatal(err)
		}
		login("one", noon)
		login("two", noon.Add(30*time.Minute))
		got, err := known("one")
		if diff := cmp.Diff(store.Login{Token: token, ExpiresAt: noon.Add(time.Hour)}, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
		login("three", noon.Add(80*time.Minute)) // clears away what has expired
		if _, err := known("one"); chela.KindOf(err) != chela.NotFound {
			t.Errorf("an expired login is still there: %v", err)
		}
		if err := write(t, s, func(ctx context.Context, w *store.Write) error { return w.RemoveLogin(ctx, "two") }); err != nil {
			t.Fatal(err)
		}
		if _, err := known("two"); chela.KindOf(err) != chela.NotFound {
			t.Errorf("a login that was ended is still there: %v", err)
		}
		if err := write(t, s, func(ctx context.Context, w *store.Write) error { return w.RevokeToken(ctx, token.ID, noon) }); err != nil {
			t.Fatal(err)
		}
		if _, err := known("three"); chela.KindOf(err) != chela.NotFound {
			t.Errorf("a login outlived its token: %v", err)
		}
	})
}

func TestWaitingMessagesAreCounted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		s := open(t, d.place(t))
		key := chela.MainKey("main")
		err := write(t, s, func(ctx context.Context, w *store.Write) error {
			if err := fillTurn(ctx, w); err != nil {
				return err
			}
			for i := range 3 {
				m := chela.InboxMessage{ID: chela.InboxID(fmt.Sprint("in_", i)), State: chela.InboxWaiting, CreatedAt: noon}
				m.Session, m.Thread, m.MessageID, m.Origin.Channel = key, "thr_a", fmt.Sprint(i), "test"
				if _, err := w.AddMessage(ctx, m, int64(i+1)); err != nil {
					return err
				}
			}
			return w.MoveMessage(ctx, chela.InboxMessage{ID: "in_1", State: chela.InboxTaken, Turn: "turn_a"})
		})
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range map[chela.SessionKey]int{key: 2, "agent:other:main": 0} {
			n, err := read(t, s, func(ctx context.Context, r *store.Read) (int, error) { return r.CountWaiting(ctx, key) })
			if n != want || err != nil {
				t.Errorf("%s: %d (%v), want %d", key, n, err, want)
			}
			more, err := read(t, s, func(ctx context.Context, r *store.Read) (store.PendingWork, error) { return r.HasMore(ctx, key) })
			if more.Turns != (want > 0) || more.Rewind || err != nil {
				t.Errorf("%s has more: %v (%v)", key, more, err)
			}
		}
		hasMore := func() bool {
			t.Helper()
			more, err := read(t, s, func(ctx context.Context, r *store.Read) (store.PendingWork, error) { return r.HasMore(ctx, key) })
			if err != nil {
				t.Fatal(err)
			}
			return more.Turns
		}
		move := func(fn func(ctx context.Context, w *store.Write) error) {
			t.Helper()
			if err := write(t, s, fn); err != nil {
				t.Fatal(err)
			}
		}
		move(func(ctx context.Context, w *store.Write) error {
			err := w.MoveTurn(ctx, chela.Turn{ID: "turn_a", State: chela.TurnAwaiting}, chela.TurnProcessing)
			return errors.Join(err, w.MoveMessage(ctx, chela.InboxMessage{ID: "in_0", State: chela.InboxTaken, Turn: "turn_a"}))
		})
		if !hasMore() {
			t.Error("a message that waits is nothing")
		}
		move(func(ctx context.Context, w *store.Write) error {
			return w.MoveMessage(ctx, chela.InboxMessage{ID: "in_2", State: chela.InboxDropped})
		})
		if hasMore() {
			t.Error("there is more, and nothing is ready or waits")
		}
		move(func(ctx context.Context, w *store.Write) error {
			return w.MoveTurn(ctx, chela.Turn{ID: "turn_a", State: chela.TurnProcessing}, chela.TurnAwaiting)
		})
		if !hasMore() {
			t.Error("a turn that may run is nothing")
		}
	})
}

func TestArrivalTellsWhatIsThere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		s := open(t, d.place(t))
		key := chela.MainKey("main")
		if err := write(t, s, fillTurn); err != nil {
			t.Fatal(err)
		}
		arrive := func(key chela.SessionKey) (a store.Arrival, ok bool) {
			t.Helper()
			err := write(t, s, func(ctx context.Context, w *store.Write) (err error) {
				a, ok, err = w.ArriveAt(ctx, key)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return a, ok
		}
		if _, ok := arrive("agent:none:main"); ok {
			t.Error("a session that is not there was found")
		}
		for n := range 2 {
			got, ok := arrive(key)
			if !ok {
				t.Fatal("the session was not found")
			}
			err := s.Read(t.Context(), func(r *store.Read) error {
				lane, err := r.Lane(t.Context(), key)
				if err != nil {
					return err
				}
				session, err := r.Session(t.Context(), key)
				if err != nil {
					return err
				}
				thread, err := r.Thread(t.Context(), session.Thread)
				want := store.Arrival{Lane: lane, Session: session, Thread: thread, Waits: n == 1}
				if diff := cmp.Diff(want, got); diff != "" || lane.Arrivals != int64(n+1) {
					t.Errorf("arrival %d of %d (-want +got)\n%s", n+1, lane.Arrivals, diff)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			err = write(t, s, func(ctx context.Context, w *store.Write) error {
				m := chela.InboxMessage{ID: "in_a", State: chela.InboxWaiting, CreatedAt: noon}
				m.Session, m.Thread, m.MessageID, m.Origin.Channel = key, "thr_a", "1", "test"
				_, err := w.AddMessage(ctx, m, int64(n+1))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}
