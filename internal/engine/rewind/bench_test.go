package rewind_test

import (
	"context"
	"fmt"
	"testing"

	"chela"
	"chela/internal/api"
	"chela/internal/store"
)

// BenchmarkUndo undoes the last turn of a thread, with what it wrote; redo is not
// counted. In a thread of 100,000 entries an undo must stay below 10 ms. Most of
// it is waiting for the disk: two commits, and a file.
func BenchmarkUndo(b *testing.B) {
	for _, entries := range []int{4, 100_000} {
		w := newWorld(b)
		w.grow(b, entries)
		for name, acts := range map[string][]act{"words": nil, "a file": {writes(file("a", "new"))}} {
			w.say(b, "last", acts...)
			b.Run(fmt.Sprintf("%s, %d entries", name, entries), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := w.Undo(b.Context(), w.thread, 1, api.RewindOptions{}); err != nil {
						b.Fatal(err)
					}
					b.StopTimer()
					if _, err := w.Redo(b.Context(), w.thread, api.RewindOptions{}); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
			})
		}
	}
}

// grow makes a thread longer by turns of four entries.
func (w *world) grow(b *testing.B, entries int) {
	b.Helper()
	const each = 4
	for done := 0; done < entries; {
		w.write(b, func(ctx context.Context, tx *store.Write) error {
			before, err := tx.Thread(ctx, w.thread)
			if err != nil {
				return err
			}
			after := before
			for range 1000 {
				turn := chela.Turn{ID: w.ids.Turn(), Session: w.session, Thread: w.thread, State: chela.TurnCompleted, Base: after.Head, CreatedAt: now()}
				if err := tx.OpenTurn(ctx, turn); err != nil {
					return err
				}
				bodies := make([]chela.Body, each)
				for i := range bodies {
					bodies[i] = chela.UserBody{Text: fmt.Sprint("said ", done)}
				}
				if err := w.append(ctx, tx, &after, turn.ID, bodies...); err != nil {
					return err
				}
				done += each
			}
			return tx.MoveThread(ctx, before, after)
		})
	}
}
