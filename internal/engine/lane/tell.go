package lane

import (
	"context"
	"fmt"

	"chela"
	"chela/internal/safety"
	"chela/internal/store"
)

// tellNotes returns the notes at the start of a turn as entries (kind and body): a
// summary of the thread's dropped messages, and pending notes to the session.
// Each is delivered once.
func tellNotes(ctx context.Context, w *store.Write, t chela.Turn) (notes []chela.Entry, err error) {
	newest, err := w.Untold(ctx, chela.Thread{ID: t.Thread, Session: t.Session}, maxNoteLines)
	if err != nil {
		return nil, err
	}
	if len(newest) > 0 {
		all, err := w.Tell(ctx, t)
		if err != nil {
			return nil, err
		}
		var from chela.Provenance
		for _, m := range newest {
			from = from.With(safety.ProvenanceOfMessage(m.Inbound))
		}
		notes = append(notes, noteEntry(droppedNote(newest, all), from))
	}
	left, err := w.Notes(ctx, t.Session, MaxNotes)
	if err != nil || len(left) == 0 {
		return notes, err
	}
	all, err := w.TellNotes(ctx, t.Session, t.ID)
	if err != nil {
		return nil, err
	}
	text := "Since the last turn:\n"
	if more := int(all) - len(left); more > 0 {
		text += fmt.Sprintf("- (%d older ones are left out)\n", more)
	}
	var from chela.Provenance
	for _, n := range left {
		from = from.With(n.Provenance)
	}
	return append(notes, noteEntry(text+FormatNotes(left), from)), nil
}

func noteEntry(text string, from chela.Provenance) chela.Entry {
	return chela.Entry{Body: chela.NoteBody{Text: text, Provenance: safety.Label("note", from)}}
}
