package rewind_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/rewind"
	"chela/internal/store"
)

// TestMovesAreAnnounced: whoever follows the session hears of each move, and of no
// move that was refused.
func TestMovesAreAnnounced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "1", writes(file("a", "1")))
	heard := func(events ...chela.Event) {
		t.Helper()
		if diff := cmp.Diff(events, w.told, cmpopts.IgnoreFields(chela.Event{}, "Cursor", "At")); diff != "" {
			t.Errorf("events (-want +got)\n%s", diff)
		}
		w.told = nil
	}
	changed := chela.Event{Kind: chela.EventSessionChanged, Session: w.session, Thread: w.thread}
	w.undo(t, 1)
	heard(changed)
	w.redo(t)
	heard(changed)
	w.put(t, "a", "mine")
	if _, err := w.Undo(t.Context(), w.thread, 1, api.RewindOptions{}); chela.KindOf(err) != chela.Conflict {
		t.Errorf("undone what was changed since: %v", err)
	}
	heard()
}

// TestTurnThatCannotBeStopped: a turn that ended by itself is undone, and one that
// cannot be asked to stop goes on.
func TestTurnThatCannotBeStopped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stop   error
		want   chela.Kind
		thread chela.ThreadState
		files  map[string]string
	}{
		"it is stopped":      {nil, "", chela.ThreadIdle, map[string]string{}},
		"it has ended":       {chela.E(chela.Conflict, "the turn has ended"), "", chela.ThreadIdle, map[string]string{}},
		"it cannot be asked": {chela.E(chela.Unavailable, "the database is busy"), chela.Unavailable, chela.ThreadProcessing, map[string]string{"a": "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.begin(t, "1", writes(file("a", "1")))
			cfg := w.config(t)
			cfg.Lanes = lanesOf{w, c.stop, nil}
			_, err := world{Rewinds: rewind.New(w.store, cfg)}.Undo(t.Context(), w.thread, 1, api.RewindOptions{})
			want(t, "error", c.want, chela.KindOf(err))
			want(t, "thread", c.thread, w.state(t).State)
			want(t, "files", c.files, w.files(t))
		})
	}
}

// TestAwaitingTurnIsStopped: a turn that waits for a person is the last one too.
func TestAwaitingTurnIsStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "1", writes(file("a", "1")))
	waits := w.begin(t, "2", writes(file("a", "2")))
	w.write(t, func(ctx context.Context, tx *store.Write) error {
		turn, err := tx.Turn(ctx, waits)
		if err != nil {
			return err
		}
		thread, err := tx.Thread(ctx, w.thread)
		if err != nil {
			return err
		}
		after := thread
		after.State = chela.ThreadAwaiting
		if err := tx.MoveThread(ctx, thread, after); err != nil {
			return err
		}
		from := turn.State
		turn.State = chela.TurnAwaiting
		return tx.MoveTurn(ctx, turn, from)
	})
	w.undo(t, 1)
	want(t, "stopped", []chela.TurnID{waits}, w.stopped)
	want(t, "files", map[string]string{"a": "1"}, w.files(t))
	want(t, "conversation", []string{"1"}, w.said(t))
}

// TestGapsAreShown: what somebody else made of a file between two turns is shown
// against what the first of them left.
func TestGapsAreShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meddle func(t *testing.T, w *world)
		diff   []string // lines of the difference
	}{
		"changed": {func(t *testing.T, w *world) { w.put(t, "a", "mine\n") }, []string{"-1", "+mine"}},
		"removed": {func(t *testing.T, w *world) { remove(t, w, "a") }, []string{"-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.say(t, "1", writes(file("a", "1\n")))
			c.meddle(t, w)
			w.say(t, "2", writes(file("a", "2\n")))
			_, err := w.Undo(t.Context(), w.thread, 2, api.RewindOptions{})
			want(t, "error", chela.Conflict, chela.KindOf(err))
			var lines []string
			for line := range strings.Lines(chela.DetailOf(err)) {
				if line[0] == '-' && !strings.HasPrefix(line, "---") || line[0] == '+' && !strings.HasPrefix(line, "+++") {
					lines = append(lines, strings.TrimSuffix(line, "\n"))
				}
			}
			want(t, "difference", c.diff, lines)
			want(t, "files", map[string]string{"a": "2\n"}, w.files(t))
		})
	}
}

// TestCallWithoutAResult: a turn that is undone as a whole takes back what each of its
// calls wrote, also one whose result never came into the journal.
func TestCallWithoutAResult(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	turn := w.say(t, "1", writes(file("a", "1")))
	call := chela.ToolCall{
		ID: w.ids.Call(), Turn: turn, Thread: w.thread, Session: w.session, Step: 2, Tool: "write_file", Args: []byte(`{}`),
		Effect: chela.EffectWrite, State: chela.CallUnknown, CreatedAt: now(), StartedAt: now(),
		Changes: []chela.Preimage{w.change(t, file("b", "1"), false)},
	}
	w.write(t, func(ctx context.Context, tx *store.Write) error { return tx.AddCall(ctx, call) })
	w.undo(t, 1)
	want(t, "files", map[string]string{}, w.files(t))
}
