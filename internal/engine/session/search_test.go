package session_test

import (
	"context"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/store"
)

// TestSearchIsLimited searches from each kind of session.
func TestSearchIsLimited(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s *store.Store) {
		r := newRoom(t, s)
		outside := chela.Provenance{Integrity: chela.IntegrityOutside, Source: "a page", Privacy: chela.PrivacyPrivate}
		ids := map[chela.SessionKey]chela.EntryID{}
		for _, key := range []chela.SessionKey{"agent:main:main", "agent:main:slack:group:7", "agent:main:dm:al"} {
			thread := r.make(t, key, noon)
			r.write(t, func(ctx context.Context, w *store.Write) error {
				turn := chela.Turn{ID: r.ids.Turn(), Session: key, Thread: thread.ID, State: chela.TurnCompleted}
				if err := w.OpenTurn(ctx, turn); err != nil {
					return err
				}
				e := chela.Entry{
					ID: r.ids.Entry(), Thread: thread.ID, Turn: turn.ID, Seq: 1, CreatedAt: noon,
					Body: chela.UserBody{Text: "needle", Provenance: outside},
				}
				ids[key] = e.ID
				if err := w.AppendEntry(ctx, e); err != nil {
					return err
				}
				moved := thread
				moved.Seq, moved.Head = 1, e.ID
				return w.MoveThread(ctx, thread, moved)
			})
		}
		for _, c := range []struct {
			name   string
			caller api.Caller
			want   int
		}{
			{"the owner", api.Caller{}, 3},
			{"a model with the owner", api.Caller{Session: "agent:main:main", Agent: "main"}, 3},
			{"a model in a job", api.Caller{Session: "agent:main:job:j", Agent: "main"}, 3},
			{"a model in a group", api.Caller{Session: "agent:main:slack:group:7", Agent: "main"}, 1},
			{"a model in a direct chat", api.Caller{Session: "agent:main:dm:al", Agent: "main"}, 1},
			{"a command in a group", api.Caller{Session: "agent:main:slack:group:7"}, 1},
			{"a command in the main session", api.Caller{Session: "agent:main:main"}, 3},
			{"a model of another agent", api.Caller{Session: "agent:other:main", Agent: "other"}, 0},
		} {
			found, err := r.Search(t.Context(), c.caller, api.SearchQuery{Query: "needle"})
			if err != nil || len(found.Items) != c.want {
				t.Errorf("%s finds %d entries, want %d: %v", c.name, len(found.Items), c.want, err)
			}
			if c.want > 0 && (found.Provenance.Integrity != outside.Integrity || !found.Provenance.IsPrivate() || !found.Items[0].Provenance.IsPrivate()) {
				t.Errorf("%s: label %+v", c.name, found.Provenance)
			}
			recent, err := r.Search(t.Context(), c.caller, api.SearchQuery{})
			if err != nil || len(recent.Threads) != c.want {
				t.Errorf("%s finds %d threads, want %d: %v", c.name, len(recent.Threads), c.want, err)
			}
			_, err = r.Search(t.Context(), c.caller, api.SearchQuery{Around: ids["agent:main:main"]})
			if shown := err == nil; shown != (c.want == 3) || !shown && chela.KindOf(err) != chela.NotFound {
				t.Errorf("%s, an entry of the main session: %v", c.name, err)
			}
			page, err := r.Search(t.Context(), c.caller, api.SearchQuery{Query: "needle", Session: "agent:main:main"})
			if want := min(1, c.want/3); len(page.Items) != want || err != nil && chela.KindOf(err) != chela.NotFound {
				t.Errorf("%s, in the main session: %d entries: %v", c.name, len(page.Items), err)
			}
		}
		since := noon.Add(24 * time.Hour).Format(time.DateOnly)
		found, err := r.Search(t.Context(), api.Caller{}, api.SearchQuery{Query: "needle", Since: since})
		if err != nil || len(found.Items) != 0 {
			t.Errorf("%d entries since a later day: %v", len(found.Items), err)
		}
	})
}
