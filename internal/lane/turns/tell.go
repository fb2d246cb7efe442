package turns

import (
	"context"
	"fmt"
	"strings"

	"chela"
	"chela/internal/excerpt"
	"chela/internal/queue"
	"chela/internal/store"
)

const (
	maxNotes     = 50    // that a turn is told of, the newest; the others are counted
	maxNoteBytes = 2_000 // of one
)

// tell returns the notes with which a turn begins, as entries by kind and body: if
// messages of its thread were dropped to be summarized, and what chela has to tell
// its session. Each is told once.
func tell(ctx context.Context, w *store.Write, t chela.Turn) (notes []chela.Entry, err error) {
	newest, err := w.Untold(ctx, chela.Thread{ID: t.Thread, Session: t.Session}, queue.MaxLines)
	if err != nil {
		return nil, err
	}
	if len(newest) > 0 {
		all, err := w.Tell(ctx, t)
		if err != nil {
			return nil, err
		}
		notes = append(notes, note(queue.Note(newest, all)))
	}
	left, err := w.Notes(ctx, t.Session, maxNotes)
	if err != nil || len(left) == 0 {
		return notes, err
	}
	all, err := w.TellNotes(ctx, t.Session, t.ID)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	text.WriteString("Since the last turn:")
	if more := int(all) - len(left); more > 0 {
		fmt.Fprintf(&text, "\n- (%d older ones are left out)", more)
	}
	for _, n := range left {
		text.WriteString("\n- [" + n.From + "] " + excerpt.Marked(n.Text, maxNoteBytes))
	}
	return append(notes, note(text.String())), nil
}

func note(text string) chela.Entry {
	return chela.Entry{Kind: chela.EntryNote, Body: chela.Body{Text: text}}
}
